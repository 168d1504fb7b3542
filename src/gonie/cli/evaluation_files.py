"""Where an evaluation goes beside the terminal: the files that `gonie evaluate` was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from gonie.system.files import atomic_write
from gonie.training.folder import RunFolder


class JsonEvaluation(Protocol):
    """What was measured, of a tagger or of a classifier."""

    def to_json(self) -> dict[str, object]:
        """As fractions and counts."""


T = TypeVar("T", bound=JsonEvaluation)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationFiles:
    """The model and the file it was scored on, and where the results are to lie, where asked for."""

    model: Path
    file: Path
    json: Path | None
    html: Path | None
    errors: Path | None

    def write(self, evaluation: T, render: Callable[..., str]) -> None:
        """Write the scores as JSON and, by ``render``, as a page."""
        if self.json:
            atomic_write(self.json, json.dumps(evaluation.to_json(), ensure_ascii=False, indent=1))
        if self.html:
            title, curve = f"{self.model.name} on {self.file.name}", RunFolder(self.model).history()
            shown = render(evaluation, title=title, curve=curve, details={"file": str(self.file)})
            atomic_write(self.html, shown)
