"""Ensembles: several models of one task, whose probabilities are averaged.

Deep ensembles are models that were trained with other seeds (Lakshminarayanan et al. 2017, arXiv:1612.01474).
MC dropout takes several passes of one network with dropout (Gal & Ghahramani 2016, arXiv:1506.02142).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gonie.errors import InputError
from gonie.tasks.bundled import BundledModel
from gonie.tasks.members import Advance, name_of, refuse_ensemble
from gonie.tasks.table import TASKS


def combine(models: Sequence[Any], advance: Advance | None = None) -> Any:
    """Return the ensemble of models of the same task and labels, or raise an error that says what differs.

    ``advance`` receives the progress of predictions.
    """
    if not models:
        raise InputError("no models to combine", fix="Pass at least one")
    for model in models:
        if not isinstance(model, BundledModel):
            raise InputError(
                f"only models on this machine can be combined: {model!r}"[:200],
                fix="Pass run folders or bundles",
            )
        refuse_ensemble(model)
        if not model.has_probabilities:
            raise InputError(
                f"a model without probabilities cannot be combined: {model!r}"[:200],
                fix="Pass run folders or bundles",
            )
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
