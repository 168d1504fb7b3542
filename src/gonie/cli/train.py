"""`gonie train`: train a model from a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from gonie.cli.options import (
    Changes,
    DataFiles,
    Device,
    LabelName,
    RecipeName,
    Resume,
    RunOut,
    Seed,
    TextColumns,
    column_settings,
    file_settings,
    with_seed_and_device,
)
from gonie.system.outputs import check_output_folder


def train(
    recipe: RecipeName,
    files: DataFiles = None,
    *,
    text: TextColumns = None,
    label: LabelName = None,
    changes: Changes = None,
    out: RunOut = None,
    resume: Resume = False,
    seed: Seed = None,
    device: Device = None,
) -> None:
    """Train a model from a recipe.

    Shows progress and writes a run folder with the best model, its scores and a report.

    Examples:

      gonie train ner mine.conll

      gonie train ner train.conll dev.conll test.conll --set model.encoder.hidden=300

      gonie train classify tickets.csv --text question --label intent --out runs/tickets

      gonie train ner --out runs/ner --resume
    """
    settings = with_seed_and_device(changes, seed=seed, device=device)
    settings += file_settings(files or (), settings)
    settings += column_settings(recipe, files or (), text=text, label=label)
    run_training(recipe, settings, out=out, resume=resume, command="train")


def run_training(
    recipe: str, settings: Sequence[str], *, out: Path | None, resume: bool, command: str
) -> None:
    """Start or resume a run, with its progress on the terminal. ``command`` is the command to resume with."""
    from gonie.cli.process_settings import keep_freed_memory, limit_spinning
    from gonie.cli.views.training_display import TrainingDisplay

    check_output_folder(out)
    limit_spinning()
    keep_freed_memory()
    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import default_folder, resume_run, start_run

    with TrainingDisplay(command=command) as display:
        if resume:
            folder = out or default_folder(recipe, resume=True)
            result = resume_run(folder, display, settings, name=recipe, command=command)
        else:
            checked = load_recipe(recipe, settings, command=command)
            result = start_run(checked, out or default_folder(recipe), display, name=recipe)
    if result is None:
        raise typer.Exit(130)
