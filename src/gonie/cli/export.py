"""`gonie export`: the model of a run as a bundle that needs no PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder that `gonie train` left.")],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the bundle.")],
    int8: Annotated[
        bool,
        typer.Option(
            "--int8", help="Multiply in bytes where the model can; refused if answers on dev change by it."
        ),
    ] = False,
    onnx: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the whole model to FILE as well, as one ONNX graph from ids to tags or labels.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Try the export on this file instead of the run's own dev data."),
    ] = None,
) -> None:
    """Write the best model of a finished run as a bundle: all that tagging and classifying need.

    Every run has one already, in its folder `bundle`. An export is tried before it is written: in floats its
    scores must be those of the trained model, in bytes (--int8) at least 99.8% of its answers on the dev data
    must stay, and the score may fall by 0.3 points at most.

    Examples:

      gonie export runs/ner --out ner-bundle

      gonie export runs/ner --int8 --out ner-int8

      gonie export runs/ner --out ner-bundle --onnx ner.onnx

      gonie tag ner-int8 "Anna lives in Seoul."
    """
    from gonie.cli.threads import calm_threads
    from gonie.cli.views.waiting import Waiting

    calm_threads()
    from gonie.export.cost import measure_cost
    from gonie.tasks.table import TASKS
    from gonie.training.export_run import export_run

    with Waiting("reading the run and its dev data") as waiting:
        exported = export_run(run, out, int8=int8, onnx=onnx, data=data, note=waiting.say)
        waiting.say("measuring what it costs to load")
        cost = measure_cost(out, *TASKS[exported.task].sample)
    if exported.int8 is not None:
        typer.echo(f"in bytes, on the dev data: {exported.int8}")
    else:
        value, tokens = exported.difference.value, exported.difference.tokens
        typer.echo(f"its scores are the trained model's within {value:.1g}, on {tokens:,} tokens")
    typer.echo(f"{out}: {exported.size / 1e6:.1f} MB; {cost}")
    if onnx:
        typer.echo(f"{onnx}: {onnx.stat().st_size / 1e6:.1f} MB")
