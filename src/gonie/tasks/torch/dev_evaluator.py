"""The score of a network in training on one split, by the very predictor that a bundle runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gonie.metrics.significance import Tally
from gonie.tasks.torch.job import ExampleJob, Split
from gonie.tasks.torch.training_setup import DevScore


class DevEvaluator:
    """Scores ``model`` as it is at each call on one split of a job's examples, which are encoded once.

    The answers come from the task's own predictor with a torch scorer in the place of the ONNX one. So long
    texts, limits and decoding are those of the bundle, and the dev score is the score that ships. ``metric``
    is the name of the score; ``note`` is told what takes long.
    """

    def __init__(
        self, job: ExampleJob, model: Any, split: Split, note: Callable[[str], None] | None = None
    ) -> None:
        self._job = job
        self._model = model
        self._split = split
        self._encoded = job.encode(model, split, note or (lambda text: None))
        self.metric = job.metric(split)

    def score(self) -> float:
        """The score, by which the best epoch is chosen."""
        return self._job.measure(self._split, self.answers())

    def evaluate(self) -> DevScore:
        """The score, as training notes and shows it."""
        value = self.score()
        return DevScore(value, self.metric, f"{self._split} {self.metric} {100 * value:6.2f}")

    def tally(self) -> Tally:
        """Gold and predicted counts of each example, by which two models are compared."""
        return self._job.tally(self._split, self.answers())

    def answers(self) -> Sequence[Any]:
        """What the model says of each example."""
        return self._job.answers(self._job.predictor(self._model), self._encoded)
