"""A list of misclassified texts, the most confident errors first.

A confident error is a wrong gold label or something the model has learned wrongly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Protocol

from gonie.metrics.bootstrap import Floats
from gonie.metrics.errors import Kind


class Labelled(Protocol):
    """A text with its gold labels and its source position."""

    @property
    def text(self) -> str:
        """The text."""

    @property
    def labels(self) -> tuple[str, ...]:
        """One label, or any number of labels for multi-label texts."""

    @property
    def path(self) -> str:
        """The source file."""

    @property
    def line(self) -> int:
        """The line in the source file."""


@dataclass(frozen=True, slots=True)
class ClassError:
    """A text with a wrong label or, for multi-label texts, one missing or extra label.

    ``gold`` or ``predicted`` is None on the side that does not have the label. ``confidence`` is the
    probability of the wrong decision: of the predicted label, or that a missed label does not hold.
    Without probabilities, it is 1. ``gold_probability`` is the predicted probability of the gold label. It is
    None if there is no gold label, the model does not have it, or there are no probabilities.
    """

    confidence: float
    kind: Kind
    gold: str | None
    predicted: str | None
    gold_probability: float | None
    text: str
    file: str
    line: int


Labels = Sequence[str]
"""The labels of one text."""

Pair = tuple[str | None, str | None]
"""A gold label and a predicted label that differ. None means no label."""


def list_class_errors(
    gold: Sequence[Labelled],
    predicted: Sequence[Labels],
    probabilities: Floats | None,
    columns: Mapping[str, int],
) -> list[ClassError]:
    """Return the errors of all texts, the most confident first, ties in file order.

    ``probabilities`` is (N, K), or None if they are not known. ``columns`` maps each label of the model to
    its column.
    """

    def errors() -> Iterator[ClassError]:
        rows = repeat(None, len(gold)) if probabilities is None else probabilities
        for text, given, chances in zip(gold, predicted, rows, strict=True):
            for pair in wrong_pairs(text.labels, given):
                one, other = (
                    None
                    if chances is None or label is None or label not in columns
                    else float(chances[columns[label]])
                    for label in pair
                )
                yield ClassError(
                    confidence=1 - (one or 0.0) if other is None else other,
                    kind=_kind(pair),
                    gold=pair[0],
                    predicted=pair[1],
                    gold_probability=one,
                    text=text.text,
                    file=text.path,
                    line=text.line,
                )

    return sorted(errors(), key=lambda error: -error.confidence)


def wrong_pairs(gold: Labels, predicted: Labels) -> list[Pair]:
    """Return the wrong (gold, predicted) pairs of one text.

    If each side has exactly one wrong label, the result is one pair of both (always so for single-label
    texts). Otherwise each missing or extra label is a pair with None.
    """
    missing, extra = sorted(set(gold) - set(predicted)), sorted(set(predicted) - set(gold))
    if len(missing) == len(extra) == 1:
        return [(missing[0], extra[0])]
    return [*((label, None) for label in missing), *((None, label) for label in extra)]


def _kind(pair: Pair) -> Kind:
    if None not in pair:
        return Kind.WRONG_LABEL
    return Kind.FALSE_POSITIVE if pair[0] is None else Kind.FALSE_NEGATIVE
