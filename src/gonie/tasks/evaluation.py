"""The interface of a task for scoring a model on a file with gold labels, used by `gonie evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gonie.reports.class_report import ErrorExplainer

if TYPE_CHECKING:  # needed only to show scores on a terminal
    from rich.console import Console

    from gonie.reports.error_list import Cells

FORMAT = "format"
"""The option of every task for the format of the file."""


class JsonEvaluation(Protocol):
    """Evaluation results that can be written as JSON."""

    def to_json(self) -> dict[str, object]:
        """Return the results as fractions and counts."""
        ...


class FileScores(Protocol):
    """The scores of a model on one file."""

    @property
    def evaluation(self) -> JsonEvaluation:
        """All results."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What was detected in the file, and what was skipped."""
        ...

    @property
    def examples(self) -> Sequence[Any]:
        """The scored examples, if the page can explain their errors."""
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
        """Return the scores as an HTML page. ``curve`` holds the epochs of the run, if there is one."""
        ...

    def errors(self) -> Sequence[Any]:
        """Return every error, the most confident first."""
        ...


class Evaluator(Protocol):
    """Scores the models of a task on files."""

    @property
    def options(self) -> frozenset[str]:
        """The options of `gonie evaluate` that apply to this task, besides those of all tasks."""
        ...

    @property
    def error(self) -> type[Any]:
        """The dataclass of an error. Its fields are the columns of an error list."""
        ...

    @property
    def error_heading(self) -> str:
        """The heading of the last column of the error list on the terminal."""
        ...

    def error_cells(self) -> Callable[[Any], Cells]:
        """Return the function that formats an error for the terminal."""
        ...

    def score(self, model: Any, file: Path, *, folder: Path, options: Mapping[str, Any]) -> FileScores:
        """Score ``model``, loaded from ``folder``, on ``file`` with the given ``options``."""
        ...
