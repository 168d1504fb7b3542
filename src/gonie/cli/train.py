"""`gonie train`: learn a model from a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from gonie.cli.options.recipe import Changes, Device, RecipeName, Resume, RunOut, Seed, with_choices


def train(
    recipe: RecipeName,
    *,
    changes: Changes = None,
    out: RunOut = None,
    resume: Resume = False,
    seed: Seed = None,
    device: Device = None,
) -> None:
    """Train a model: reads the recipe's files, shows progress, writes a run folder with the best model.

    Examples:

      gonie train ner

      gonie train ner --set data.train=mine.conll --set model.encoder.hidden=300

      gonie train ner --out runs/ner --resume
    """
    settings = with_choices(changes, seed=seed, device=device)
    run_training(recipe, settings, out=out, resume=resume, command="train")


def run_training(
    recipe: str, settings: Sequence[str], *, out: Path | None, resume: bool, command: str
) -> None:
    """Start or resume a run on the terminal, by the command that trains recipes of its task."""
    from gonie.cli.heap import keep_heap
    from gonie.cli.threads import calm_threads
    from gonie.cli.views.training_display import TrainingDisplay

    calm_threads()
    keep_heap()
    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import default_folder, resume_run, start_run

    with TrainingDisplay(command=command) as display:
        if resume:
            folder = out or default_folder(recipe, resume=True)
            result = resume_run(folder, display, settings, command=command)
        else:
            checked = load_recipe(recipe, settings, command=command)
            result = start_run(checked, out or default_folder(recipe), display)
    if result is None:
        raise typer.Exit(130)
