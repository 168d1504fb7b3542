"""How the model of a job is trained, as one value: ``gonie.training`` asks for nothing else.

A ``TrainingSetup`` says what an epoch is made of, what a step does, what scores the model and what is kept of
it. So the loop, the checkpoints and the display are written once, for tagging as for language models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from torch import Tensor, nn

Rows = Sequence[tuple[str, str]]
"""Names and values, for a table that a display shows."""


class StepBatch(NamedTuple):
    """What one step learns from."""

    content: Any
    """What the ``loss`` of the model takes, on its device."""
    tokens: int
    """How many tokens it has, for the speed."""
    weight: int
    """How much its mean loss counts in that of the epoch: its number of examples, or 1."""


class Batches(Protocol):
    """The training data in batches. Epochs are counted from 0.

    An epoch can be read from any of its batches on, so that a run is resumed in the middle of it.
    """

    def size(self, epoch: int) -> int:
        """How many batches an epoch has."""
        ...

    def weight(self, epoch: int) -> int:
        """The sum of the weights of an epoch's batches."""
        ...

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """The batches of an epoch, from number ``first`` on."""
        ...


class Update(Protocol):
    """What a step does. Random choices come from torch's generator, which the caller has seeded."""

    def __call__(self, batch: StepBatch, *, rate: float, epochs_done: float) -> Tensor:
        """Learn from a batch at this rate; its mean loss before the step, without loss terms. Shape: ()."""
        ...


class DevScore(NamedTuple):
    """The score by which the best epoch is chosen."""

    value: float
    """Higher is better."""
    metric: str
    """The name of the score."""
    shown: str
    """The score as a display shows it."""
    details: Mapping[str, Any] = {}
    """What ``metrics.jsonl`` has besides."""


def _nothing_rests(epochs_done: float) -> Iterable[nn.Module]:
    return ()


def _do_nothing() -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class TrainingSetup:
    """All that training needs to know of a model besides its recipe."""

    batches: Batches
    """What an epoch is made of."""
    evaluate: Callable[[], DevScore]
    """Scores the model as it is at the call."""
    weights: nn.Module
    """The part of the model whose weights are kept of the best epoch."""
    evaluate_train: Callable[[], float] | None = None
    """The same score on training examples, where the recipe asks for it."""
    patience: int | None = None
    """Epochs without a better score after which training stops; None never stops it."""
    prefer_later: bool = False
    """Whether of two epochs with equal scores the later one is the best."""
    update: Update | None = None
    """An update of the task's own, in the place of a gradient step of the recipe's optimizer."""
    examples: int = 1
    """How many examples are learned from; loss terms may need an example's share of a sum."""
    resting: Callable[[float], Iterable[nn.Module]] = _nothing_rests
    """Parts of the model that do not learn yet, when so many epochs are done."""
    end_epoch: Callable[[], None] = _do_nothing
    """Called when an epoch is done and scored."""
    summary: Rows = field(default=())
    """What is about to be trained: its data and its size."""
