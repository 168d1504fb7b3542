"""A loaded model together with its task, for whoever is written against tasks as values."""

from __future__ import annotations

from os import PathLike
from typing import Any, NamedTuple

from gonie.errors import BundleError
from gonie.tasks.load import load
from gonie.tasks.records import Records
from gonie.tasks.table import TASKS
from gonie.tasks.task import Task


class LoadedModel(NamedTuple):
    """A model and its task."""

    task: Task
    model: Any
    folder: str

    def records(self, command: str) -> Records:
        """The facet that answers rows; a model that another command runs is refused."""
        found = self.task.records
        if found is None or self.task.predict != command:
            raise BundleError(
                f"{self.folder} is a {self.task.model}; use gonie {self.task.predict} {self.folder}"
            )
        return found


def load_model(folder: str | PathLike[str], *, threads: int | None = None) -> LoadedModel:
    """The model in a bundle or a run folder with one, and its task."""
    model = load(folder, threads=threads)
    return LoadedModel(TASKS[model.task], model, str(folder))
