"""Sentences that were tagged wrongly, kept so that someone can read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gonie.data.schemes import TokenSpan
from gonie.data.types import Sentence


@dataclass(frozen=True, slots=True)
class Mistake:
    """One sentence whose predicted spans are not its gold spans.

    ``errors`` is the number of token ranges that are gold on one side only or labelled differently;
    ``weight`` is the same with each range counted by how sure the tagger was of it (the mean confidence of
    its tokens), where that is known: an error made with confidence says more than a close call.
    ``spaces[i]`` says whether a blank follows word i in the running text.
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    gold: tuple[TokenSpan, ...]
    predicted: tuple[TokenSpan, ...]
    errors: int
    weight: float
    path: str = ""
    line: int = 0

    @property
    def correct(self) -> frozenset[TokenSpan]:
        """The spans that both sides have."""
        return frozenset(self.gold) & frozenset(self.predicted)


def find_mistake(
    sentence: Sentence,
    gold: Iterable[TokenSpan],
    predicted: Iterable[TokenSpan],
    confidences: Sequence[float] | None = None,
) -> Mistake | None:
    """What is wrong with one tagged sentence; None when nothing is."""
    truth, guess = set(gold), set(predicted)
    ranges = {(start, end) for start, end, _ in truth ^ guess}
    if not ranges:
        return None
    weights = [_mean(confidences, start, end) for start, end in sorted(ranges)]
    return Mistake(
        words=sentence.words,
        spaces=_spaces(sentence),
        gold=tuple(sorted(truth)),
        predicted=tuple(sorted(guess)),
        errors=len(ranges),
        weight=sum(weights),
        path=sentence.path,
        line=sentence.line,
    )


def worst(mistakes: Iterable[Mistake], count: int) -> list[Mistake]:
    """The ``count`` sentences with the greatest weight, the earlier first among equals."""
    return sorted(mistakes, key=lambda mistake: -mistake.weight)[:count]


def _spaces(sentence: Sentence) -> tuple[bool, ...]:
    places = sentence.offsets()
    gaps = [start > end for (_, end), (start, _) in pairwise(places)]
    return (*gaps, False)


def _mean(confidences: Sequence[float] | None, start: int, end: int) -> float:
    return 1.0 if confidences is None else sum(confidences[start:end]) / (end - start)
