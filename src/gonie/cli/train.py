"""`gonie train`: learn a model from a recipe."""

from __future__ import annotations

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
    """Train a model: reads the recipe's files, shows how it goes, leaves a run folder with the best model.

    Examples:

      gonie train ner

      gonie train ner --set data.train=mine.conll --set model.encoder.hidden=300

      gonie train ner --out runs/ner --resume
    """
    from gonie.cli.heap import keep_heap
    from gonie.cli.threads import calm_threads
    from gonie.cli.views.training_display import TrainingDisplay

    calm_threads()
    keep_heap()
    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import default_folder, resume_run, start_run

    settings = with_choices(changes, seed=seed, device=device)
    with TrainingDisplay() as display:
        if resume:
            result = resume_run(out or default_folder(recipe, resume=True), display, settings)
        else:
            result = start_run(load_recipe(recipe, settings), out or default_folder(recipe), display)
    if result is None:
        raise typer.Exit(130)
