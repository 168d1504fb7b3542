"""What training asks of a task: the role that its jobs play, so that all else is written once.

A job is a recipe with its data read. ``Job`` is what ``fit`` and ``run`` train and finish, whatever is
learned. ``ExampleJob`` is a job over labelled examples, which can also be scored, exported, reported and
compared with others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from gonie.export.exportable import Exportable
from gonie.features.corpus import Examples
from gonie.metrics.counts import Counts
from gonie.metrics.intervals import Interval
from gonie.metrics.significance import Tally
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.tasks.torch.training_setup import Rows, TrainingSetup

Note = Callable[[str], None]
Split = Literal["dev", "test", "sample"]
"""Examples to be scored: ``sample`` are some of the training examples, where their score is asked for."""


class Evaluated(Protocol):
    """Everything measured on one split."""

    @property
    def headline(self) -> tuple[str, float]:
        """The one score, with its name."""
        ...

    @property
    def by_type(self) -> Sequence[tuple[str, Counts]]:
        """What was right of each type or label, where that says more than the headline."""
        ...

    def interval(self, score: str) -> Interval | None:
        """Where a score lies with 95% confidence."""
        ...

    def to_json(self) -> dict[str, object]:
        """As plain values, fractions for scores."""
        ...


class BaselineScores(NamedTuple):
    """The scores of another model on the same data: a baseline or a variant."""

    name: str
    evaluations: Mapping[str, Evaluated]
    """By split, as those of the run."""


class TrainedRun(NamedTuple):
    """A run whose training is done."""

    folder: Path
    model: Any
    """What was trained, with the weights of its best epoch."""
    history: Sequence[Mapping[str, Any]]
    """The records of ``metrics.jsonl``."""
    best_epoch: int
    """Counted from 1."""


@dataclass(frozen=True, kw_only=True)
class RunOutput:
    """What a complete run leaves, as it is told at the end."""

    results: Rows
    """Names and values: scores, files, sizes."""
    evaluations: Mapping[str, Evaluated]
    """By split: dev, and test where there is one; none of a language model."""
    baselines: Mapping[str, str]
    """Baselines and variants by name, with a line of scores each."""
    commands: Sequence[str] = ()
    """Commands to try next. A job gives only those that do not follow from its task."""


class Job(Protocol):
    """A recipe and what its files hold, none of which training changes."""

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        ...

    def rates(self, model: Any) -> Mapping[str, float]:
        """Multiples of the learning rate, for parameters of ``model`` whose name begins so."""
        ...

    def fingerprint(self) -> str:
        """A digest of what is learned from, so that a run is resumed over the same."""
        ...

    def files(self) -> Mapping[str, str]:
        """What the run folder keeps beside the weights: the content of each file by its name."""
        ...

    def build(self) -> Any:
        """The model before its first step, from torch's generator as it is."""
        ...

    def setup(self, model: Any, note: Note) -> TrainingSetup:
        """How ``model`` is trained where it lies; ``note`` is told what takes long."""
        ...

    def finish(self, run: TrainedRun, note: Note) -> RunOutput:
        """Write what a complete run leaves: the model as it ships, its scores, a report."""
        ...

    def add_comparisons(
        self, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
    ) -> RunOutput:
        """Write the scores of the baselines and variants, and return the output with them."""
        ...


class ExampleJob(Job, Protocol):
    """A job over labelled examples; ``finish`` and ``setup`` of such a job follow from the rest."""

    noun: str
    """What examples are called: sentences, or texts."""

    @property
    def recipe(self) -> CorpusRecipe:
        """The recipe."""
        ...

    @property
    def train(self) -> Examples:
        """What is learned from, encoded."""
        ...

    @property
    def labels(self) -> Counter[str]:
        """How often each tag or label comes."""
        ...

    def again(self, recipe: Any) -> ExampleJob:
        """The same data under another recipe that reads the same (``prepare.data_key``)."""
        ...

    def size(self, split: Split) -> int:
        """How many examples there are to be scored."""
        ...

    def compute_once(self, model: Any, note: Note) -> None:
        """Give the training examples what parts of the model that are not trained make of them."""
        ...

    def predictor(self, model: Any) -> Any:
        """The task's torch-free predictor over ``model`` as it is now, with a torch scorer."""
        ...

    def encode(self, model: Any, split: Split, note: Note) -> Any:
        """The examples of a split as the predictor encodes them, with what fixed parts of ``model`` give."""
        ...

    def answers(self, predictor: Any, encoded: Any) -> Sequence[Any]:
        """What a predictor says of each encoded example."""
        ...

    def metric(self, split: Split) -> str:
        """The name of the score that ``measure`` gives."""
        ...

    def measure(self, split: Split, answers: Sequence[Any]) -> float:
        """The score of the answers to a split."""
        ...

    def tally(self, split: Split, answers: Sequence[Any]) -> Tally:
        """Gold and predicted counts of each example of a split."""
        ...

    def exportable(self, model: Any) -> Exportable:
        """The model with what its bundle is to hold, and dev examples to prove the export on."""
        ...

    def evaluate(self, bundle: Path, split: Split) -> Evaluated:
        """Measure an exported model on a split from every side."""
        ...

    def report(
        self,
        evaluation: Any,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
    ) -> str:
        """The evaluation as a page."""
        ...

    def baselines(self) -> Iterator[BaselineScores]:
        """Models that learn next to nothing, scored on the same splits."""
        ...
