"""Scores of groups of examples: by a named value such as the year, or by the file they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from gonie.errors import InputError
from gonie.metrics.counts import ratio
from gonie.metrics.intervals import Interval
from gonie.metrics.novelty import Novelty, Recall

NO_VALUE = "(none)"
"""The group of examples without a value."""
MOST_GROUPS = 200
"""The most values of a column that can group examples."""


class MainScore(Protocol):
    """The evaluation of a tagger, a classifier or a model of pairs."""

    @property
    def headline(self) -> tuple[str, float]:
        """The name of the main score, and the score."""
        ...

    def interval(self, score: str) -> Interval | None:
        """Return the 95% interval of a score, if there is one."""
        ...

    def to_json(self) -> dict[str, object]:
        """Return the results as fractions and counts."""
        ...


@dataclass(frozen=True, slots=True)
class GroupScore:
    """The main score of some examples.

    For taggers with known training data, ``seen`` is the recall of the mentions that the training data has
    with the same type, and ``unseen`` that of all others. For plain tags, mentions are words.
    """

    examples: int
    measure: str
    score: float
    interval: Interval | None
    seen: Recall | None = None
    unseen: Recall | None = None

    @classmethod
    def of(cls, evaluation: MainScore, examples: int) -> GroupScore:
        """Return the main score of an evaluation on this number of examples."""
        measure, score = evaluation.headline
        novelty: Mapping[Novelty, Recall] | None = getattr(evaluation, "novelty", None)
        seen = unseen = None
        if novelty is not None:
            seen = novelty[Novelty.SEEN]
            others = [found for kind, found in novelty.items() if kind is not Novelty.SEEN]
            unseen = Recall(sum(each.gold for each in others), sum(each.correct for each in others))
        return cls(examples, measure, score, evaluation.interval(measure), seen, unseen)

    @property
    def lacks_mentions(self) -> bool:
        """Whether it is known that there is no gold mention, so that a score of 0 says nothing."""
        return not self.score and self.seen is not None and self.unseen_share is None

    @property
    def unseen_share(self) -> float | None:
        """The share of gold mentions that are unseen, or None if that is not known."""
        if self.seen is None or self.unseen is None or not self.seen.gold + self.unseen.gold:
            return None
        return ratio(self.unseen.gold, self.seen.gold + self.unseen.gold)

    def to_json(self) -> dict[str, Any]:
        """Return the number of examples, the score under its name, and its interval as [low, high].

        The score is None without mentions.
        """
        record: dict[str, Any] = {
            "examples": self.examples,
            self.measure: None if self.lacks_mentions else self.score,
            "interval": None if self.interval is None else list(self.interval),
        }
        if self.seen is not None and self.unseen is not None:
            record |= {
                "seen": self.seen.to_json(),
                "unseen": self.unseen.to_json(),
                "unseen_share": self.unseen_share,
            }
        return record


def group_by(metas: Sequence[Mapping[str, str]], column: str) -> dict[str, list[int]]:
    """Return the numbers of the examples with each value of a column, sorted by value.

    Numbers are sorted by size, before other values. Examples without a value come last.
    """
    found: dict[str, list[int]] = {}
    for at, meta in enumerate(metas):
        found.setdefault(meta.get(column, NO_VALUE), []).append(at)
    if len(found) > MOST_GROUPS:
        raise InputError(
            f"{column} has {len(found):,} different values, but at most {MOST_GROUPS} can be compared",
            fix="Group by another value",
        )
    return {value: found[value] for value in sorted(found, key=_order)}


def _order(value: str) -> tuple[int, float, str]:
    if value == NO_VALUE:
        return 2, 0.0, value
    try:
        number = float(value)
    except ValueError:
        return 1, 0.0, value
    return (0, number, value) if math.isfinite(number) else (1, 0.0, value)


class Gap(NamedTuple):
    """The difference of two scores of different examples, with its 95% interval if both have one."""

    score: float
    interval: Interval | None

    def to_json(self) -> dict[str, Any]:
        """Return the difference, and its interval as [low, high]."""
        return {"score": self.score, "interval": None if self.interval is None else list(self.interval)}


def gap(one: GroupScore, other: GroupScore) -> Gap:
    """Return how much higher the first score is than the second.

    The interval combines those of the two independent scores (MOVER: Zou & Donner 2008, "Construction of
    confidence limits about effect measures").
    """
    difference = one.score - other.score
    if one.interval is None or other.interval is None:
        return Gap(difference, None)
    (low, high), (other_low, other_high) = one.interval, other.interval
    below = math.hypot(one.score - low, other_high - other.score)
    above = math.hypot(high - one.score, other.score - other_low)
    return Gap(difference, (difference - below, difference + above))
