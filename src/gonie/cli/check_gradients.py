"""`gonie check-gradients`: whether a recipe's model learns by the gradients of its loss."""

from __future__ import annotations

from typing import Annotated

import typer

from gonie.cli.options.recipe import Changes, RecipeName

SMALLEST_STEP, LARGEST_STEP = 1e-10, 0.1
NO_FILE = "made-up.conll"  # for recipes that leave data.train to the user; never opened


def check_gradients(
    recipe: RecipeName,
    *,
    changes: Changes = None,
    seed: Annotated[
        int | None, typer.Option(help="Another text and other weights; same as --set train.seed=N.")
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Step of the differences; 1e-4, or 1e-6 for a model with kinks, if not given."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="Largest norm of a difference, or relative error of gradients above 1.")
    ] = 1e-7,
) -> None:
    """Compare the gradients that a model is trained by with central differences of its loss.

    Needs none of the recipe's files: a small model of the same parts is made over a made-up text. Exits 1 if
    a block of parameters fails.

    Examples:

      gonie check-gradients ner

      gonie check-gradients bilstm-crf --set model.encoder.layers=2 --seed 7
    """
    from gonie.cli.threads import calm_threads

    calm_threads()
    import torch

    from gonie.cli.views.gradient_table import GradientTable
    from gonie.tasks.recipe import load_recipe
    from gonie.tasks.torch.prepare import synthetic
    from gonie.training import gradient_check
    from gonie.training.loss_terms.table import build_terms, total_loss

    _refuse_nonsense(epsilon, tolerance)
    settings = [*(changes or []), *([f"train.seed={seed}"] if seed is not None else [])]
    loaded = load_recipe(recipe, settings, absent={"data.train": NO_FILE})
    torch.set_num_threads(loaded.train.threads or 1)  # so small a model only waits for further ones
    specimen = synthetic(loaded)
    terms = build_terms(loaded, examples=specimen.examples)
    table = GradientTable()
    table.begin(specimen, epsilon)
    found = table.watch(
        gradient_check.check_gradients(
            specimen.model,
            specimen.batch,
            lambda model, batch: total_loss(model, batch, terms),
            epsilon=epsilon,
            tolerance=tolerance,
            seed=loaded.train.seed,
        )
    )
    table.end(found, tolerance)
    if not all(check.passed for check in found):
        raise typer.Exit(1)


def _refuse_nonsense(epsilon: float | None, tolerance: float) -> None:
    from gonie.errors import InputError

    if epsilon is not None and not SMALLEST_STEP <= epsilon <= LARGEST_STEP:
        raise InputError(f"expected --epsilon from {SMALLEST_STEP:g} to {LARGEST_STEP:g}, got {epsilon:g}")
    if not 0.0 < tolerance < float("inf"):
        raise InputError(f"expected --tolerance above 0, got {tolerance:g}")
