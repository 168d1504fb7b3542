"""A model, given as an object or by its folder, together with its task."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from gonie.errors import InputError
from gonie.tasks.bundled import BundledModel
from gonie.tasks.loaded import LoadedModel, load_model
from gonie.tasks.table import TASKS


def loaded(model: Any) -> tuple[LoadedModel, Path]:
    """Return a model with its task, and the folder that it was loaded from."""
    if isinstance(model, str | PathLike):
        return load_model(model), Path(model)
    if not isinstance(model, BundledModel) or not hasattr(model, "task"):
        raise InputError(
            f"not a model: {model!r}"[:200], fix="Pass a run folder, or a model that gonie.load returned"
        )
    folder = model.origin.path if model.origin else Path()
    return LoadedModel(TASKS[model.task], model, str(folder)), folder
