"""`gonie train`: learn a model from a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.settings import Changes, RecipeName


def train(
    recipe: RecipeName,
    *,
    changes: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the run; runs/RECIPE, or the next free name, if not given."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    seed: Annotated[int | None, typer.Option(help="Same as --set train.seed=N.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; same as --set train.device=….")] = None,
) -> None:
    """Train a model: reads the recipe's files, shows how it goes, leaves a run folder with the best model.

    Examples:

      gonie train ner

      gonie train ner --set data.train=mine.conll --set model.encoder.hidden=300

      gonie train ner --out runs/ner --resume
    """
    from gonie.cli.heap import keep_heap
    from gonie.cli.threads import calm_threads
    from gonie.cli.training_display import TrainingDisplay

    calm_threads()
    keep_heap()
    from gonie.models.recipe import load_recipe
    from gonie.training.run import default_folder, resume_run, start_run

    settings = list(changes or [])
    settings += [f"train.seed={seed}"] if seed is not None else []
    settings += [f"train.device={device}"] if device is not None else []
    with TrainingDisplay() as display:
        if resume:
            result = resume_run(out or default_folder(recipe, resume=True), display, settings)
        else:
            result = start_run(load_recipe(recipe, settings), out or default_folder(recipe), display)
    if result is None:
        raise typer.Exit(130)
