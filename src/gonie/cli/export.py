"""`gonie export`: export the model of a run as a bundle that runs without PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.system.outputs import check_output_files, check_output_folder


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder of `gonie train`.")],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Bundle folder to write.")],
    int8: Annotated[
        bool,
        typer.Option(
            "--int8",
            help="Quantise to int8 where possible. Fails if more than 0.2% of the predictions on the dev "
            "data change.",
        ),
    ] = False,
    onnx: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a standalone ONNX graph of the whole model, from token ids to tags or labels.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Verify the export on this file instead of the run's dev data."),
    ] = None,
) -> None:
    """Export the best model of a run as a bundle that runs without PyTorch.

    Every finished run already has a bundle in its subfolder `bundle`. The export is verified before it is
    written: its scores must equal those of the trained model. With --int8, at least 99.8% of the predictions
    on the dev data must stay the same, and the score may drop by at most 0.3 points.

    Examples:

      gonie export runs/ner --out ner-bundle

      gonie export runs/ner --int8 --out ner-int8

      gonie export runs/ner --out ner-onnx --onnx ner.onnx

      gonie tag ner-int8 "Anna lives in Seoul."
    """
    from gonie.cli.process_settings import limit_spinning
    from gonie.cli.views.progress import StepProgress

    check_output_folder(out)
    check_output_files(onnx, inputs=[data])
    limit_spinning()
    from gonie.export.cost import measure_cost
    from gonie.messages import say
    from gonie.tasks.table import TASKS
    from gonie.training.export_run import export_run

    with StepProgress("reading the run and its dev data") as progress:
        exported = export_run(run, out, int8=int8, onnx=onnx, data=data, note=progress.describe)
        progress.describe("measuring load time and memory")
        cost = measure_cost(out, *TASKS[exported.task].sample)
    if exported.int8 is not None:
        typer.echo(say(f"int8, on the dev data: {exported.int8}"))
    else:
        value, tokens = exported.difference.value, exported.difference.tokens
        typer.echo(say(f"scores equal those of the trained model within {value:.1g}, on {tokens:,} tokens"))
    typer.echo(f"{out}: {exported.size / 1e6:.1f} MB; {say(str(cost))}")
    if onnx:
        typer.echo(f"{onnx}: {onnx.stat().st_size / 1e6:.1f} MB")
