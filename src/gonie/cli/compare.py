"""`gonie compare`: a grid of recipes and settings over the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    recipes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RECIPE…", help="Recipe files, or names of shipped ones; several are compared too."
        ),
    ] = None,
    *,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=A,B,C",
            help="Sweep a key over values, or set it to one: --set train.lr=0.1,0.01. Repeatable.",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds for each cell, from train.seed on; 1 if not given.")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2, help="Of classifiers: parts of the training file, each of them the test file once."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for it; runs/compare-RECIPE, or the next free name, if not given."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the comparison in --out.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Cells to train side by side; one a core, one on a GPU, if not given."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the weights of every cell.")] = False,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; same as --set train.device=….")] = None,
) -> None:
    """Train every combination of recipes and values: a table of means, spreads and p, and learning curves.

    Killed or stopped at any moment, it goes on with --resume from where each cell was. The exit status is 1
    if a cell failed.

    Examples:

      gonie compare ner --set train.lr=0.001,0.003,0.01 --set model.dropout.input=0.1,0.3,0.5

      gonie compare lstm bilstm bilstm-crf --set data.vectors=none,glove.6B.50d.txt.gz --seeds 3

      gonie compare subjectivity --set data.train=mine.tsv --set model.encoder.hidden=50,100 --folds 10

      gonie compare --out runs/compare-ner --resume
    """
    from gonie.cli.heap import keep_heap
    from gonie.cli.threads import calm_threads
    from gonie.cli.views.compare_display import CompareDisplay
    from gonie.errors import GonieError

    calm_threads()
    keep_heap()
    from gonie.experiments.compare import resume_comparison, start_comparison
    from gonie.experiments.plan import PLAN, Asked
    from gonie.training.folder import next_folder

    if not recipes and not resume:
        raise GonieError("expected a recipe to compare, got none. For example: gonie compare ner --seeds 3")
    if not recipes and out is None:
        raise GonieError("--resume: expected the folder of a comparison, got none. Name it with --out.")
    settings = [*(changes or []), *([f"train.device={device}"] if device is not None else [])]
    name = Path(recipes[0]).name.removesuffix(".toml") if recipes else ""
    folder = out or next_folder(f"compare-{name}", mark=PLAN, resume=resume)
    with CompareDisplay() as display:
        if resume:
            result = resume_comparison(
                folder,
                display,
                recipes=recipes or (),
                changes=settings,
                seeds=seeds,
                folds=folds,
                jobs=jobs,
                keep=keep,
            )
        else:
            asked = Asked(tuple(recipes or ()), tuple(settings), seeds or 1, folds or 0)
            result = start_comparison(asked, folder, display, jobs=jobs, keep=keep)
    if result is None:
        raise typer.Exit(130)
    if result.failures:
        raise typer.Exit(1)
