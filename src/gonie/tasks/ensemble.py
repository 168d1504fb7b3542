"""Ensembles: several models of one task, whose probabilities are averaged.

Deep ensembles are models that were trained with other seeds (Lakshminarayanan et al. 2017, arXiv:1612.01474).
MC dropout takes several passes of one network with dropout (Gal & Ghahramani 2016, arXiv:1506.02142).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gonie.errors import InputError
from gonie.tasks.bundled import SHOWN, BundledModel
from gonie.tasks.table import TASKS

Model = TypeVar("Model", bound=BundledModel)
Advance = Callable[[int, int], None]
"""Receives the number of members that have been asked, and that of all members."""


def combine(models: Sequence[Any], advance: Advance | None = None) -> Any:
    """Return the ensemble of models of the same task and labels, or raise an error that says what differs.

    ``advance`` receives the progress of predictions.
    """
    if not models:
        raise InputError("no models to combine", fix="Pass at least one")
    first, *others = models
    for model in others:
        if model.task != first.task:
            raise InputError(
                f"models of different tasks cannot be combined: {name_of(first)} is a "
                f"{TASKS[first.task].model}, {name_of(model)} a {TASKS[model.task].model}",
                fix="Combine models of one task",
            )
    task = TASKS[first.task]
    if task.ensemble is None:
        raise InputError(f"ensembles of {task.model}s are not supported: {name_of(first)}")
    return task.ensemble()(models, advance)


def check_same(models: Sequence[Model], what: str, values: Callable[[Model], Sequence[str]]) -> None:
    """Raise an error if the models differ in ``values``, which are called ``what``."""
    first, *others = models
    for model in others:
        if (own := tuple(values(model))) != (known := tuple(values(first))):
            different = sorted(set(own) ^ set(known)) or own
            more = ", …" if len(different) > SHOWN else ""
            raise InputError(
                f"models of an ensemble must have the same {what}: {name_of(first)} and {name_of(model)} "
                f"differ in {', '.join(different[:SHOWN])}{more}",
                fix="Leave one of them out",
            )


def name_of(model: BundledModel) -> str:
    """Return the folder of a model, for messages."""
    return "a model without a folder" if model.origin is None else str(model.origin.path)
