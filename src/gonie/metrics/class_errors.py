"""Wrongly classified texts by themselves, those first that the classifier was surest of.

As with taggers, what stands first is a wrong gold label or something the model has learned wrongly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gonie.metrics.bootstrap import Floats
from gonie.metrics.errors import Kind


class Labelled(Protocol):
    """A text with its gold labels, and where it stands."""

    @property
    def text(self) -> str:
        """The text itself."""

    @property
    def labels(self) -> tuple[str, ...]:
        """One, or any number where texts may have several."""

    @property
    def path(self) -> str:
        """The file it is from."""

    @property
    def line(self) -> int:
        """Its line there."""


@dataclass(frozen=True, slots=True)
class ClassError:
    """A text with a wrong label, or of a text with several labels one that it lacks or has too much.

    ``gold`` and ``predicted`` are None on the side that does not have the label. ``confidence`` is the
    probability of what was said: of the predicted label, or that a missed one does not hold.
    ``gold_probability`` is what the gold label was given, None where there is none or the model has no such
    label.
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
"""A gold label and a predicted one that do not agree; None for none."""


def list_class_errors(
    gold: Sequence[Labelled],
    predicted: Sequence[Labels],
    probabilities: Floats,
    columns: Mapping[str, int],
) -> list[ClassError]:
    """The errors of all texts, the surest first, in the order of the file among equals.

    ``probabilities`` (N, K) are in the ``columns`` of the labels that the model knows.
    """

    def errors() -> Iterator[ClassError]:
        for text, given, chances in zip(gold, predicted, probabilities, strict=True):
            for pair in wrong_pairs(text.labels, given):
                one, other = (
                    float(chances[columns[label]]) if label is not None and label in columns else None
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
    """What is wrong with one text: a label in place of another where each side has one wrong label, as always
    where texts have one; else each label that is missing or too much by itself."""
    missing, extra = sorted(set(gold) - set(predicted)), sorted(set(predicted) - set(gold))
    if len(missing) == len(extra) == 1:
        return [(missing[0], extra[0])]
    return [*((label, None) for label in missing), *((None, label) for label in extra)]


def _kind(pair: Pair) -> Kind:
    if None not in pair:
        return Kind.WRONG_LABEL
    return Kind.FALSE_POSITIVE if pair[0] is None else Kind.FALSE_NEGATIVE
