"""The interface of a task for scoring a model on a file with gold labels, used by `gonie evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from gonie.metrics.grouped import MainScore
from gonie.reports.class_report import ErrorExplainer
from gonie.reports.html.markup import Markup
from gonie.text.entropies import Entropies
from gonie.text.noise_levels import NoiseLevel

if TYPE_CHECKING:  # needed only to show scores on a terminal
    from rich.console import Console

    from gonie.reports.error_list import Cells

FORMAT = "format"
"""The option of every task for the format of the file."""
META = "meta"
"""The option of every task for the names of values to read, by which scores are grouped."""
VECTORS = "vectors"
"""The option of taggers and classifiers for the file of the external vectors of the file."""
ALL_RULES = "all_rules"
"""Whether a label map may have no rule for a label that the file does not have."""

Item = TypeVar("Item")


def evenly(items: Sequence[Item], number: int) -> list[Item]:
    """Return at most this number of the items, spread evenly."""
    if number >= len(items):
        return list(items)
    return [items[at * len(items) // number] for at in range(number)]


def entropy_scores(entropies: Entropies | None) -> dict[str, float]:
    """Return the entropies of an answer by name, none if it is not that of an ensemble."""
    return {} if entropies is None else entropies._asdict()


def by_score(examples: Iterable[Mapping[str, float]]) -> dict[str, list[float]]:
    """Return the scores of uncertainty of all examples by their names."""
    found: dict[str, list[float]] = {}
    for example in examples:
        for name, value in example.items():
            found.setdefault(name, []).append(value)
    return found


class JsonEvaluation(Protocol):
    """Evaluation results that can be written as JSON."""

    def to_json(self) -> dict[str, object]:
        """Return the results as fractions and counts."""
        ...


class PredictedExamples(Protocol):
    """Examples with their gold and their predictions, whose parts can be scored."""

    def __len__(self) -> int:
        """Return the number of examples."""
        ...

    @property
    def metas(self) -> Sequence[Mapping[str, str]]:
        """The named values of each example."""
        ...

    @property
    def texts(self) -> Sequence[str]:
        """The text of each example."""
        ...

    @property
    def unused(self) -> Sequence[str]:
        """Labels with a rule of the label map that no example has."""
        ...

    def uncertainties(self) -> Mapping[str, Sequence[float]]:
        """Return how uncertain the model is of each example, by the name of the score. There may be none."""
        ...

    def evaluate(self, *, bootstrap: int = 1000) -> MainScore:
        """Score the examples. ``bootstrap`` is the number of resamples; 0: no intervals."""
        ...

    def part(self, places: Sequence[int]) -> Self:
        """Return the examples with these numbers."""
        ...

    def sample(self, most: int) -> Self:
        """Return at most about this number of examples, spread evenly."""
        ...

    def joined(self, others: Sequence[Self]) -> Self:
        """Return these examples and others of the same model."""
        ...

    def changed(self, level: NoiseLevel, seed: int) -> Self:
        """Return the examples with noise, and the predictions for them."""
        ...


class FileScores(Protocol):
    """The scores of a model on one file, or on several."""

    @property
    def evaluation(self) -> MainScore:
        """All results."""
        ...

    @property
    def predictions(self) -> PredictedExamples:
        """The examples, with their gold and their predictions."""
        ...

    def joined(self, others: Sequence[Self]) -> Self:
        """Return the scores on the examples of this file and of others."""
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
        first: Mapping[str, Markup | None] = {},
    ) -> str:
        """Return the scores as an HTML page.

        ``curve`` holds the epochs of the run, if there is one. ``first`` are parts of the page before all
        others.
        """
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
