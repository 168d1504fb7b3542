"""The facet of a task that scores a model on a file with gold answers: what `gonie evaluate` asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gonie.reports.class_report import ErrorExplainer

if TYPE_CHECKING:  # only who shows scores on a terminal needs it
    from rich.console import Console

    from gonie.reports.error_list import Cells

FORMAT = "format"
"""The option that every task takes: how the file is read."""


class JsonEvaluation(Protocol):
    """What was measured."""

    def to_json(self) -> dict[str, object]:
        """As fractions and counts."""
        ...


class FileScores(Protocol):
    """A model scored on one file, ready to be shown."""

    @property
    def evaluation(self) -> JsonEvaluation:
        """Everything that was measured."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What was found out about the file, and what of it was not read."""
        ...

    @property
    def examples(self) -> Sequence[Any]:
        """The examples that were scored, as far as the page can explain their errors."""
        ...

    def show(self, console: Console) -> None:
        """Print the scores."""
        ...

    def page(
        self,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        explain: ErrorExplainer | None,
    ) -> str:
        """The scores as an HTML page; ``curve`` are the epochs of the run, where there is one."""
        ...

    def errors(self) -> Sequence[Any]:
        """Every error by itself, the surest first."""
        ...


class Evaluator(Protocol):
    """The facet."""

    @property
    def options(self) -> frozenset[str]:
        """The options of `gonie evaluate` that apply to the task, beside those of all tasks."""
        ...

    @property
    def error(self) -> type[Any]:
        """The dataclass of an error, whose fields are the columns of a list."""
        ...

    @property
    def error_heading(self) -> str:
        """What heads the last cell of an error on the terminal."""
        ...

    def error_cells(self) -> Callable[[Any], Cells]:
        """What shows an error on the terminal."""
        ...

    def score(self, model: Any, file: Path, *, folder: Path, options: Mapping[str, Any]) -> FileScores:
        """Score ``model``, loaded from ``folder``, on ``file``; ``options`` has those that were given."""
        ...
