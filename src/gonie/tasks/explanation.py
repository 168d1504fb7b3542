"""The facet of a task that explains its models: what the methods and the course of `gonie explain` ask.

An *item* is what is explained, a text or a sentence. A model gives *answers* about it: a label, or a span.
Explanations are weights over the tokens of an item for one of its answers. How weights are made and judged is
written once, in ``gonie.explain``; what an answer is, and what it becomes with words taken out, is the
task's.
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

if TYPE_CHECKING:  # only who shows explanations on a terminal needs it
    from gonie.reports.explanations.screen import ExplanationScreen

Keep: TypeAlias = NDArray[np.bool_]
"""(M,), true at each token that stays, over all M tokens of an item in their order."""


class Answer(Protocol):
    """Something that a model said of an item."""

    @property
    def label(self) -> str:
        """What it said."""
        ...

    @property
    def lengths(self) -> Sequence[int]:
        """The tokens of each sentence of the item."""
        ...

    @property
    def tokens(self) -> int:
        """M, those that can be taken out."""
        ...


class AskedItem(Protocol):
    """An item and what the model says of it."""

    @property
    def answers(self) -> Sequence[Any]:
        """The answers to explain, each an ``Answer``."""
        ...

    def explanation(self, weights: Sequence[tuple[TokenWeights, ...]]) -> Any:
        """What is shown: the item, the answers, and for each answer the weights of each method."""
        ...


class HeldOutFile(NamedTuple):
    """Items to measure methods on: those of ``file``.

    ``what`` tells apart figures of different things that are measured on the same file.
    """

    items: Iterable[Any]
    file: Path
    what: str


class ItemSize(NamedTuple):
    """About how large an item is: its tokens, and the answers about it."""

    tokens: int
    answers: int = 1


class ExplainedModel(Protocol):
    """A loaded model whose answers can be explained."""

    @property
    def noun(self) -> str:
        """What an answer is about: a text, or a span."""
        ...

    @property
    def warning(self) -> str:
        """What a reader should know before anything else."""
        ...

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods that its kind of model allows."""
        ...

    def items(self, text: str | None, files: Sequence[Path]) -> Iterator[Any]:
        """The items of a text, of files or of standard input."""
        ...

    def held_out(self, folder: Path, file: Path | None) -> HeldOutFile | None:
        """The items of ``file``, or those that training has left in the run's folder; None without either."""
        ...

    def size(self, item: Any) -> ItemSize:
        """How large an item is, before the model is asked."""
        ...

    def ask(self, item: Any) -> AskedItem:
        """What the model says of an item."""
        ...

    def log_odds(self, questions: Iterable[tuple[Any, Keep]]) -> Floats:
        """The log-odds of each answer where only the tokens of its ``Keep`` are left. Shape: (Q,)."""
        ...

    def rows(self, explanation: Any) -> Rows:
        """The text of an explanation as it was written, cut at its tokens."""
        ...

    def show(self, explanation: Any, screen: ExplanationScreen) -> None:
        """Show an explanation on the terminal."""
        ...

    def show_model(self, screen: ExplanationScreen) -> None:
        """Show what is the model's and no item's, after all items."""
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
        """Explanations as an HTML page."""
        ...


class AttendingModel(Protocol):
    """What a model with the method "attention" has as well."""

    def attention(self, answer: Any) -> Floats:
        """Each token's share in what the answer is made from, at least 0 and 1 in sum. Shape: (M,)."""
        ...


class Explanations(Protocol):
    """The facet."""

    @property
    def options(self) -> frozenset[str]:
        """The options of `gonie explain` that apply to the task, beside those of all tasks."""
        ...

    def explained(self, model: Any, options: Mapping[str, Any]) -> ExplainedModel:
        """The model, explained as the options say that were given."""
        ...
