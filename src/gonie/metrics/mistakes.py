"""Sentences that were tagged wrongly, kept so that someone can read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gonie.text.schemes import TokenSpan
from gonie.text.types import Sentence


@dataclass(frozen=True, slots=True)
class Mistake:
    """One sentence whose predicted spans are not its gold spans.

    ``errors`` is the number of token ranges that are gold on one side only or labelled differently;
    ``weight`` is the same with each range counted by how sure the tagger was of it (the mean confidence of
    its tokens), where that is known: an error made with confidence says more than a close call.
    ``spaces[i]`` says whether a blank follows word i in the running text. ``confidences`` are those of the
    tokens and ``chances`` those of the predicted spans, in their order; 1 where nothing is known.
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    gold: tuple[TokenSpan, ...]
    predicted: tuple[TokenSpan, ...]
    errors: int
    weight: float
    confidences: tuple[float, ...]
    chances: tuple[float, ...]
    path: str = ""
    line: int = 0

    @property
    def correct(self) -> frozenset[TokenSpan]:
        """The spans that both sides have."""
        return frozenset(self.gold) & frozenset(self.predicted)

    def text(self, start: int, end: int) -> str:
        """Words [start, end) as they stand in the running text."""
        words = zip(self.words[start:end], self.spaces[start:end], strict=True)
        return "".join(word + " " * space for word, space in words).rstrip(" ")


def find_mistake(
    sentence: Sentence,
    gold: Iterable[TokenSpan],
    predicted: Iterable[TokenSpan],
    confidences: Sequence[float] | None = None,
    chances: Mapping[TokenSpan, float] | None = None,
) -> Mistake | None:
    """What is wrong with one tagged sentence; None when nothing is.

    ``chances`` are the probabilities of predicted spans; one that is not there gets its tokens' mean.
    """
    truth, guess = set(gold), sorted(set(predicted))
    ranges = {(start, end) for start, end, _ in truth ^ set(guess)}
    if not ranges:
        return None
    sure = (1.0,) * len(sentence) if confidences is None else tuple(confidences)
    known = chances or {}
    return Mistake(
        words=sentence.words,
        spaces=_spaces(sentence),
        gold=tuple(sorted(truth)),
        predicted=tuple(guess),
        errors=len(ranges),
        weight=sum(mean(sure, start, end) for start, end in sorted(ranges)),
        confidences=sure,
        chances=tuple(known.get(span, mean(sure, span[0], span[1])) for span in guess),
        path=sentence.path,
        line=sentence.line,
    )


def worst(mistakes: Iterable[Mistake], count: int) -> list[Mistake]:
    """The ``count`` sentences with the greatest weight, the earlier first among equals."""
    return sorted(mistakes, key=lambda mistake: -mistake.weight)[:count]


def mean(confidences: Sequence[float], start: int, end: int) -> float:
    """The mean confidence of tokens [start, end)."""
    return sum(confidences[start:end]) / (end - start)


def _spaces(sentence: Sentence) -> tuple[bool, ...]:
    places = sentence.offsets()
    gaps = [start > end for (_, end), (start, _) in pairwise(places)]
    return (*gaps, False)
