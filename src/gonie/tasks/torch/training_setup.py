"""The training setup of a job as one value, which is all that ``gonie.training`` needs.

A ``TrainingSetup`` has the batches, the update, the dev score and the module to save. So the loop, the
checkpoints and the display are written once for all tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, Protocol

from torch import Tensor, nn

Rows = Sequence[tuple[str, str]]
"""Names and values of a table for display."""


class StepBatch(NamedTuple):
    """The batch of one training step."""

    content: Any
    """The argument of the model's ``loss``, on its device."""
    tokens: int
    """The number of tokens, to measure speed."""
    weight: int
    """The weight of its mean loss in that of the epoch: its number of examples, or 1."""
    more: tuple[StepBatch, ...] = ()
    """Further batches of the step, whose gradients are added (``train.accumulate``)."""

    @property
    def parts(self) -> Iterator[StepBatch]:
        """The batches of the step."""
        yield self._replace(more=())
        yield from self.more


class Batches(Protocol):
    """The training data in batches. Epochs are counted from 0.

    An epoch can start at any of its batches, so that a run can be resumed within an epoch.
    """

    def size(self, epoch: int) -> int:
        """Return the number of batches of an epoch."""
        ...

    def weight(self, epoch: int) -> int:
        """Return the sum of the weights of an epoch's batches."""
        ...

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """Yield the batches of an epoch, from number ``first`` on."""
        ...


class AccumulatedBatches:
    """``batches`` in steps of ``number`` batches, the last of an epoch perhaps of fewer."""

    def __init__(self, batches: Batches, number: int) -> None:
        self._batches = batches
        self._number = number

    def size(self, epoch: int) -> int:
        """Return the number of steps of an epoch."""
        return -(-self._batches.size(epoch) // self._number)

    def weight(self, epoch: int) -> int:
        """Return the sum of the weights of an epoch's batches."""
        return self._batches.weight(epoch)

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """Yield the steps of an epoch, from number ``first`` on."""
        batches = self._batches.batches(epoch, first * self._number)
        while step := tuple(islice(batches, self._number)):
            yield step[0]._replace(more=step[1:])


class Update(Protocol):
    """Updates the model. Random numbers come from torch's generator, which the caller seeds."""

    def __call__(self, batch: StepBatch, *, rate: float, epochs_done: float) -> Tensor:
        """Update with a batch at this rate. Return its mean loss before, without loss terms. Shape: ()."""
        ...


class DevScore(NamedTuple):
    """The score that selects the best epoch."""

    value: float
    """Higher is better."""
    metric: str
    """The name of the score."""
    shown: str
    """The score as displayed."""
    details: Mapping[str, Any] = {}
    """Additional values for ``metrics.jsonl``."""


def _nothing_rests(epochs_done: float) -> Iterable[nn.Module]:
    return ()


def _do_nothing() -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class TrainingSetup:
    """Everything that training needs to know about a model besides its recipe."""

    batches: Batches
    """The training data."""
    evaluate: Callable[[], DevScore]
    """Scores the current state of the model."""
    weights: nn.Module
    """The part of the model whose best weights are saved."""
    evaluate_train: Callable[[], float] | None = None
    """Computes the same score on training examples, if the recipe has ``train.score_train``."""
    patience: int | None = None
    """Epochs without a better score before training stops; None: no early stopping."""
    prefer_later: bool = False
    """Whether the later of two epochs with equal scores is the best."""
    update: Update | None = None
    """The task's own update, which replaces a gradient step of the recipe's optimizer."""
    examples: int = 1
    """The number of training examples. Some loss terms divide by it."""
    resting: Callable[[float], Iterable[nn.Module]] = _nothing_rests
    """Returns the parts of the model that are frozen after a number of epochs."""
    end_epoch: Callable[[], None] = _do_nothing
    """Called after an epoch is finished and scored."""
    summary: Rows = field(default=())
    """The data and the size of the model, for display before training."""
