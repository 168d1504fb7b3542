"""The interface of a task for explaining its models, used by `gonie explain`.

An *item* is a text or a sentence. A model gives *answers* about it: a label, or spans. An explanation is a
weight for each token of an item, for one of its answers. ``gonie.explaining`` computes and evaluates the
weights for all tasks. The task defines what an answer is, and how it changes when words are removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gonie.metrics.log_odds import Floats
from gonie.reports.explanation import Faithfulness, LayerShares, Method, TokenWeights
from gonie.reports.explanations.heat import Rows

if TYPE_CHECKING:  # needed only to show explanations on a terminal
    from gonie.reports.explanations.screen import ExplanationScreen

Keep: TypeAlias = NDArray[np.bool_]
"""(M,), true at each token that is kept, for all M tokens of an item in order."""


class Answer(Protocol):
    """A prediction of a model about an item."""

    @property
    def label(self) -> str:
        """The predicted label."""
        ...

    @property
    def lengths(self) -> Sequence[int]:
        """The number of tokens of each sentence of the item."""
        ...

    @property
    def tokens(self) -> int:
        """M, the number of tokens that can be removed."""
        ...


class AskedItem(Protocol):
    """An item and the model's answers about it."""

    @property
    def answers(self) -> Sequence[Any]:
        """The answers to explain, each an ``Answer``."""
        ...

    def explanation(self, weights: Sequence[tuple[TokenWeights, ...]]) -> Any:
        """Return the item, its answers, and the weights of each method for each answer, for display."""
        ...


class HeldOutFile(NamedTuple):
    """The items of ``file``, to evaluate explanation methods on.

    ``what`` distinguishes different measurements on the same file.
    """

    items: Iterable[Any]
    file: Path
    what: str


class ItemSize(NamedTuple):
    """The approximate size of an item: its tokens and its answers."""

    tokens: int
    answers: int = 1


class ExplainedModel(Protocol):
    """A loaded model with explanations."""

    @property
    def noun(self) -> str:
        """What an answer describes: a text, a pair or a span."""
        ...

    @property
    def quantity(self) -> str:
        """What removing words lowers, in messages: the probability of the prediction."""
        ...

    @property
    def warning(self) -> str:
        """A caveat that is shown with the explanations."""
        ...

    @property
    def methods(self) -> tuple[Method, ...]:
        """The explanation methods that the model supports."""
        ...

    def items(self, text: str | None, files: Sequence[Path]) -> Iterator[Any]:
        """Yield the items of a text, of files or of standard input."""
        ...

    def held_out(self, folder: Path, file: Path | None) -> HeldOutFile | None:
        """Return the items of ``file`` or, without one, of the run folder. None if there are none."""
        ...

    def size(self, item: Any) -> ItemSize:
        """Return the approximate size of an item, without running the model."""
        ...

    def ask(self, item: Any) -> AskedItem:
        """Run the model on an item."""
        ...

    def log_odds(self, questions: Iterable[tuple[Any, Keep]]) -> Floats:
        """Return the log-odds of each answer when only the tokens of its ``Keep`` are left. Shape: (Q,)."""
        ...

    def rows(self, explanation: Any) -> Rows:
        """Return the original text of an explanation, split at its tokens."""
        ...

    def show(self, explanation: Any, screen: ExplanationScreen) -> None:
        """Show an explanation on the terminal."""
        ...

    def show_model(self, screen: ExplanationScreen) -> None:
        """Show the part of the explanation that does not depend on an item, after all items."""
        ...

    def page(
        self,
        explanations: Sequence[Any],
        faithfulness: Sequence[Faithfulness],
        *,
        title: str,
        notes: Sequence[str] = (),
        layers: Sequence[LayerShares] = (),
    ) -> str:
        """Return the explanations as an HTML page."""
        ...


class AttendingModel(Protocol):
    """A model that also supports the method "attention"."""

    def attention(self, answer: Any) -> Floats:
        """Return the attention weight of each token, nonnegative and with sum 1. Shape: (M,)."""
        ...


class Explanations(Protocol):
    """Explains the models of a task."""

    @property
    def options(self) -> frozenset[str]:
        """The options of `gonie explain` that apply to this task, besides those of all tasks."""
        ...

    def explained(self, model: Any, options: Mapping[str, Any]) -> ExplainedModel:
        """Return the model with explanations, as set by the given options."""
        ...
