"""What is asked of every worker, in a form that other processes and machines can be told."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gonie.errors import BundleError, InputError
from gonie.runtime.bundle import INDEX
from gonie.tasks.load import find_bundle
from gonie.tasks.loaded import load_model
from gonie.tasks.records import Answering, Records
from gonie.tasks.table import TASKS

Output = Literal["jsonl", "parquet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkJob:
    """Answer rows with ``model``, a bundle or a run folder, and write parts of the kind ``output``.

    ``columns`` are where Parquet files and JSON objects have the texts of a row. ``options`` are those of the
    task, as its facet ``records`` takes them: plain values, which travel as JSON.
    """

    task: str
    model: Path
    output: Output = "jsonl"
    columns: tuple[str, ...] = ("text",)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def records(self) -> Records:
        """How the task answers rows."""
        task = TASKS.get(self.task)
        if task is None or task.records is None:
            known = (each.name for each in TASKS.values() if each.records is not None)
            raise InputError(f"expected a task that answers texts ({', '.join(known)}), got {self.task!r}")
        return task.records()

    def settings(self) -> dict[str, Any]:
        """All that the parts depend on beside the input, as JSON: the model by its digest."""
        return {
            "task": self.task,
            "model": _digest(self.model),
            "output": self.output,
            "columns": list(self.columns),
            **self.options,
        }

    def answering(self) -> Answering:
        """The model, which must be of the task; one thread, since there are many workers."""
        loaded = load_model(self.model, threads=1)
        if loaded.task.name != self.task:
            raise BundleError(
                f"{self.model} is a {loaded.task.model}, not a {TASKS[self.task].model}; "
                f"{loaded.task.describe_use(self.model)}"
            )
        return self.records.answering(loaded.model, self.options)

    def absolute(self) -> BulkJob:
        """The same for whoever works in another folder."""
        return replace(self, model=self.model.absolute())


def _digest(model: Path) -> str:
    """A digest of the bundle's description, which has those of its other files."""
    place = find_bundle(model) / INDEX
    try:
        return hashlib.sha256(place.read_bytes()).hexdigest()
    except OSError as error:
        raise BundleError(f"{place}: expected a readable file, got {error.strerror}.") from error
