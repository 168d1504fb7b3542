"""The interface of a task for training: jobs.

A job is a recipe with its data. ``fit`` and ``run`` train and finish any ``Job``. ``ExampleJob`` is a job
over labelled examples, which can also be scored, exported, reported and compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gonie.export.exportable import Exportable
from gonie.features.corpus import Examples
from gonie.metrics.counts import Counts
from gonie.metrics.domain_scores import DomainScores
from gonie.metrics.intervals import Interval
from gonie.metrics.significance import Tally
from gonie.reports.html.markup import Markup
from gonie.system.cost import RunCost
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.tasks.torch.training_setup import Rows, TrainingSetup

if TYPE_CHECKING:  # it loads runs, which needs jobs
    from gonie.tasks.torch.start import Start

Note = Callable[[str], None]
Split = Literal["train", "dev", "test", "sample"]
"""Examples to score. ``sample`` are some of the training examples (``train.score_train``)."""


class Evaluated(Protocol):
    """The evaluation of one split."""

    @property
    def headline(self) -> tuple[str, float]:
        """The name and value of the main score."""
        ...

    @property
    def by_type(self) -> Sequence[tuple[str, Counts]]:
        """The counts of each type or label, if they add to the headline."""
        ...

    def interval(self, score: str) -> Interval | None:
        """Return the 95% confidence interval of a score."""
        ...

    def to_json(self) -> dict[str, object]:
        """Return the results as plain values, scores as fractions."""
        ...


@dataclass(frozen=True)
class EvaluatedDomains:
    """The evaluation of each domain of a split, and how they compare."""

    evaluations: Mapping[str, Evaluated]
    scores: DomainScores

    def to_json(self) -> dict[str, object]:
        """Return the results of each domain, its gap to those trained on, and the names of the others."""
        return {
            "domains": {name: evaluation.to_json() for name, evaluation in self.evaluations.items()},
            "gap": {name: gap.to_json() for name, gap in self.scores.gaps.items()},
            "out_of_domain": self.scores.outside,
        }


class BaselineScores(NamedTuple):
    """A baseline or variant, scored on the same data."""

    name: str
    evaluations: Mapping[str, Evaluated]
    """The evaluations by split, as those of the run."""


class TrainedRun(NamedTuple):
    """A run after training."""

    folder: Path
    model: Any
    """The model with the weights of its best epoch."""
    history: Sequence[Mapping[str, Any]]
    """The records of ``metrics.jsonl``."""
    best_epoch: int
    """Counted from 1."""
    cost: Callable[[], RunCost]
    """Returns what the run cost so far."""


@dataclass(frozen=True, kw_only=True)
class RunOutput:
    """The results of a complete run, for display."""

    results: Rows
    """Names and values: scores, files, sizes."""
    evaluations: Mapping[str, Evaluated]
    """The evaluations by split: dev, and test if there is one. Empty for a language model."""
    baselines: Mapping[str, str]
    """A line of scores for each baseline and variant, by name."""
    domains: Mapping[str, EvaluatedDomains] = field(default_factory=dict)
    """The evaluations of the domains of a split, if there are several."""
    commands: Sequence[str] = ()
    """Commands to try next. A job gives only those that do not follow from its task."""


class Job(Protocol):
    """A recipe and its data, which training does not change."""

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        ...

    def rates(self, model: Any) -> Mapping[str, float]:
        """Return multiples of the learning rate, by the prefix of parameter names of ``model``."""
        ...

    def fingerprint(self) -> str:
        """Return a digest of the training data. A resumed run must have the same."""
        ...

    def files(self) -> Mapping[str, str]:
        """Return the files of the run folder besides the weights: content by file name."""
        ...

    def build(self) -> Any:
        """Build the untrained model, with torch's current random generator."""
        ...

    def setup(self, model: Any, note: Note) -> TrainingSetup:
        """Return the training setup of ``model`` on its device. ``note`` receives progress notes."""
        ...

    def finish(self, run: TrainedRun, note: Note) -> RunOutput:
        """Write the results of a complete run: the exported model, its scores, a report."""
        ...

    def add_comparisons(
        self, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
    ) -> RunOutput:
        """Write the scores of baselines and variants to the run folder, and add them to the output."""
        ...


class ExampleJob(Job, Protocol):
    """A job over labelled examples. ``example_training`` implements its ``setup`` and ``finish``."""

    noun: str
    """The name of its examples: sentences, or texts."""

    @property
    def recipe(self) -> CorpusRecipe:
        """The recipe."""
        ...

    @property
    def encoding(self) -> Any:
        """The encoding of its examples (``gonie.tasks.torch.start.TaskEncoding``)."""
        ...

    @property
    def start(self) -> Start | None:
        """The model that the recipe starts from, if it names one."""
        ...

    @property
    def labelled(self) -> int:
        """The number of labelled training examples of the recipe's files, without changed copies."""
        ...

    @property
    def domains(self) -> NDArray[np.integer] | None:
        """The number of the domain of each training example (N,), if training files are named."""
        ...

    @property
    def train(self) -> Examples:
        """The encoded training examples."""
        ...

    @property
    def labels(self) -> Counter[str]:
        """The count of each tag or label in the training examples, with replayed ones."""
        ...

    def with_recipe(self, recipe: Any) -> ExampleJob:
        """Return a job with the same data for another recipe with the same ``prepare.data_key``."""
        ...

    def examples(self, split: Split) -> Sequence[Any]:
        """Return the examples of a split, each with its named values in ``meta``."""
        ...

    def size(self, split: Split) -> int:
        """Return the number of examples of a split."""
        ...

    def compute_once(self, model: Any, note: Note) -> None:
        """Compute the outputs of frozen parts of the model for the training examples once."""
        ...

    def predictor(self, model: Any) -> Any:
        """Return the task's predictor for the current state of ``model``, with a torch scorer."""
        ...

    def encode(self, model: Any, split: Split, note: Note) -> Any:
        """Encode the examples of a split for the predictor, with the outputs of frozen parts of ``model``."""
        ...

    def encode_file(self, model: Any, name: str, note: Note) -> Examples:
        """Encode the texts of a file without their labels, with the outputs of frozen parts of ``model``.

        ``name`` is a file in a format of the task, or one text per line if a text is one example.
        """
        ...

    def answers(self, predictor: Any, encoded: Any) -> Sequence[Any]:
        """Return the prediction for each encoded example."""
        ...

    def metric(self, split: Split) -> str:
        """Return the name of the score of ``measure``."""
        ...

    def measure(self, examples: Sequence[Any], answers: Sequence[Any]) -> float:
        """Return the score of the predictions for examples of a split."""
        ...

    def tally(self, split: Split, answers: Sequence[Any]) -> Tally:
        """Return the gold and predicted counts of each example of a split."""
        ...

    def exportable(self, model: Any, note: Note) -> Exportable:
        """Return the model with the contents of its bundle, and dev examples to test the export.

        ``note`` receives how its probabilities were calibrated.
        """
        ...

    def predict(self, bundle: Path, examples: Sequence[Any]) -> Sequence[Any]:
        """Return the prediction of an exported model for each example."""
        ...

    def evaluate(self, examples: Sequence[Any], answers: Sequence[Any]) -> Evaluated:
        """Evaluate the predictions of an exported model."""
        ...

    def report(
        self,
        evaluation: Any,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        first: Mapping[str, Markup | None],
    ) -> str:
        """Return the evaluation as an HTML page. ``first`` are parts of the page before all others."""
        ...

    def baselines(self) -> Iterator[BaselineScores]:
        """Yield the scores of baselines on the same splits."""
        ...


class AnsweredExamples(Examples, Protocol):
    """Encoded unlabelled examples with the answers of a teacher, which are arrays of their batches."""

    @property
    def confidences(self) -> NDArray[np.floating]:
        """The confidence of the teacher in each answer, from 0 to 1, or -1 without one. Shape: (N,)."""
        ...

    @property
    def temperature(self) -> float:
        """The temperature of the answers."""
        ...


@runtime_checkable
class TaughtJob(Protocol):
    """What a job has whose model can learn the answers of a teacher."""

    def answered(self, model: Any, note: Note) -> AnsweredExamples | None:
        """Return the examples that a teacher has answered, with the outputs of frozen parts of ``model``.

        None if the recipe names no answers.
        """
        ...


@runtime_checkable
class RemindedJob(Protocol):
    """What a job has whose model is also scored on the held-out data of the models that it starts from."""

    def load(self, bundle: Path) -> Any:
        """Return the predictor of an exported model."""
        ...

    def read_held_out(self, recipe: Any) -> Sequence[Any]:
        """Read the test examples of another recipe of the task, or its dev examples if it has none."""
        ...

    def score_known(self, predictor: Any, examples: Sequence[Any]) -> Evaluated:
        """Score a predictor on such examples, without intervals.

        Predictions of labels that no example has are left out, unless an example must have one label.
        """
        ...
