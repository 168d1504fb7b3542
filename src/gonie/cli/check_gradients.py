"""`gonie check-gradients`: compare a model's gradients with central differences of its loss."""

from __future__ import annotations

from typing import Annotated

import typer

from gonie.cli.options import Changes, RecipeName

SMALLEST_STEP, LARGEST_STEP = 1e-10, 0.1
NO_FILE = "synthetic.conll"  # stands in for data.train if the recipe has none; never opened


def check_gradients(
    recipe: RecipeName,
    *,
    changes: Changes = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the synthetic text and weights; same as --set train.seed=N.")
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Step of the differences. Default: 1e-4, or 1e-6 if the loss has kinks."),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            help="Largest norm of the difference, or relative error if the gradient's norm is above 1."
        ),
    ] = 1e-7,
) -> None:
    """Check a model's gradients against central differences of its loss.

    Builds a small model with the parts of the recipe on synthetic text, so no data files are needed. Exits
    with 1 if a parameter fails.

    Examples:

      gonie check-gradients ner

      gonie check-gradients bilstm-crf --set model.encoder.layers=2 --seed 7
    """
    from gonie.cli.process_settings import limit_spinning

    limit_spinning()
    import torch

    from gonie.cli.views.gradient_table import GradientTable
    from gonie.tasks.recipe import load_recipe
    from gonie.tasks.torch.prepare import synthetic
    from gonie.training import gradient_check
    from gonie.training.loss_terms.table import build_terms, total_loss
    from gonie.training.loss_terms.term import TermContext

    _check_options(epsilon, tolerance)
    settings = [*(changes or []), *([f"train.seed={seed}"] if seed is not None else [])]
    loaded = load_recipe(recipe, settings, absent={"data.train": NO_FILE})
    torch.set_num_threads(loaded.train.threads or 1)  # more threads slow down such a small model
    instance = synthetic(loaded)
    context = TermContext(recipe=loaded, model=instance.model, examples=instance.examples)
    terms = build_terms(context).values()
    table = GradientTable()
    table.begin(instance, epsilon)
    found = table.watch(
        gradient_check.check_gradients(
            instance.model,
            instance.batch,
            lambda model, batch: total_loss(model, batch, terms),
            epsilon=epsilon,
            tolerance=tolerance,
            seed=loaded.train.seed,
        )
    )
    table.end(found, tolerance)
    if not all(check.passed for check in found):
        raise typer.Exit(1)


def _check_options(epsilon: float | None, tolerance: float) -> None:
    from gonie.errors import InputError

    if epsilon is not None and not SMALLEST_STEP <= epsilon <= LARGEST_STEP:
        raise InputError(f"--epsilon must be between {SMALLEST_STEP:g} and {LARGEST_STEP:g}: {epsilon:g}")
    if not 0.0 < tolerance < float("inf"):
        raise InputError(f"--tolerance must be a finite number above 0: {tolerance:g}")
