"""The job of all workers of a bulk run, in a form that can be sent to other processes and machines."""

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
from gonie.tasks.records import TEXTS, Answering, Records, ReturnedFields
from gonie.tasks.table import TASKS

Output = Literal["jsonl", "parquet"]
PLACE = ("file", "row")
"""The fields that a bulk run adds to an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkJob:
    """What to predict: the model (a bundle or run folder), the format of the parts and the task's options.

    ``columns`` are the Parquet columns or JSON keys of the texts of a row. ``options`` are passed to the
    task's ``records`` and must be JSON values.
    """

    task: str
    model: Path
    output: Output = "jsonl"
    columns: tuple[str, ...] = ("text",)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def records(self) -> Records:
        """The records of the task, which predict rows."""
        task = TASKS.get(self.task)
        if task is None or task.records is None:
            known = (each.name for each in TASKS.values() if each.records is not None)
            raise InputError(
                f"bulk runs do not support the task {self.task!r}", fix=f"Use {', '.join(known)}"
            )
        return task.records()

    def returned_fields(self) -> ReturnedFields:
        """Return the writer of the fields of the input. Parquet parts always have columns for the texts."""
        texts = TEXTS[: len(self.columns)] if self.output == "parquet" else ()
        return ReturnedFields((*PLACE, *texts, *self.records.fields), self.columns)

    def settings(self) -> dict[str, Any]:
        """Return everything that the parts depend on except the input, as JSON. The model is a digest."""
        return {
            "task": self.task,
            "model": _digest(self.model),
            "output": self.output,
            "columns": list(self.columns),
            **self.options,
        }

    def answering(self) -> Answering:
        """Load the model with one thread, and check its task."""
        loaded = load_model(self.model, threads=1)
        if loaded.task.name != self.task:
            raise BundleError(
                f"{self.model} is a {loaded.task.model}, not a {TASKS[self.task].model}; "
                f"{loaded.task.describe_use(self.model)}"
            )
        return self.records.answering(loaded.model, self.options)

    def absolute(self) -> BulkJob:
        """Return the same job with an absolute path of the model."""
        return replace(self, model=self.model.absolute())


def _digest(model: Path) -> str:
    """Return a digest of the bundle's index, which contains digests of its other files."""
    place = find_bundle(model) / INDEX
    try:
        return hashlib.sha256(place.read_bytes()).hexdigest()
    except OSError as error:
        raise BundleError(f"{place}: cannot be read: {error.strerror}.") from error
