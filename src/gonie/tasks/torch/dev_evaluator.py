"""Scores a network during training on one split, with the predictor of the bundle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gonie.metrics.significance import Tally
from gonie.tasks.torch.job import ExampleJob, Split
from gonie.tasks.torch.training_setup import DevScore
from gonie.text.domains import domain_places


class DevEvaluator:
    """Scores the current state of ``model`` on one split of a job. The examples are encoded once.

    Predictions come from the task's predictor, with a torch scorer in place of the ONNX one. So long texts,
    limits and decoding are handled as in the bundle, and the dev score is that of the bundle. ``metric`` is
    the name of the score. ``note`` receives progress notes.
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
        """Return the score, which selects the best epoch."""
        return self._job.measure(self._job.examples(self._split), self.answers())

    def evaluate(self) -> DevScore:
        """Return the score with its name, its display text, and the score of each of several domains."""
        examples, answers = self._job.examples(self._split), self.answers()
        value = self._job.measure(examples, answers)
        places = domain_places(examples)
        domains = {
            name: self._job.measure([examples[at] for at in own], [answers[at] for at in own])
            for name, own in places.items()
        }
        return DevScore(
            value,
            self.metric,
            f"{self._split} {self.metric} {100 * value:6.2f}",
            {"domains": domains} if len(domains) > 1 else {},
        )

    def tally(self) -> Tally:
        """Return the gold and predicted counts of each example, to compare two models."""
        return self._job.tally(self._split, self.answers())

    def answers(self) -> Sequence[Any]:
        """Return the model's prediction for each example."""
        return self._job.answers(self._job.predictor(self._model), self._encoded)
