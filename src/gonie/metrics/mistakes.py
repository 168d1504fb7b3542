"""Sentences with tagging errors, kept for error analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gonie.text.schemes import TokenSpan
from gonie.text.types import Sentence


@dataclass(frozen=True, slots=True)
class Mistake:
    """One sentence whose predicted spans differ from its gold spans.

    ``errors`` is the number of token ranges that only one side has or that are labelled differently.
    ``weight`` is the same sum with each range weighted by the mean confidence of its tokens, if known. A
    confident error is more informative than an uncertain one. ``spaces[i]`` says whether a space follows word
    i in the original text. ``confidences`` are those of the tokens and ``chances`` those of the predicted
    spans, in order; 1 if unknown.
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
        """Return words [start, end) as they appear in the original text."""
        words = zip(self.words[start:end], self.spaces[start:end], strict=True)
        return "".join(word + " " * space for word, space in words).rstrip(" ")


def find_mistake(
    sentence: Sentence,
    gold: Iterable[TokenSpan],
    predicted: Iterable[TokenSpan],
    confidences: Sequence[float] | None = None,
    chances: Mapping[TokenSpan, float] | None = None,
) -> Mistake | None:
    """Return the mistake in one tagged sentence, or None if it is correct.

    ``chances`` are the probabilities of predicted spans. A span without one gets the mean of its tokens.
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
        chances=tuple(span_chances(guess, sure, known)),
        path=sentence.path,
        line=sentence.line,
    )


def span_chances(
    spans: Sequence[TokenSpan], confidences: Sequence[float], known: Mapping[TokenSpan, float]
) -> list[float]:
    """Return the probability of each span. One that is not ``known`` gets the mean of its tokens."""
    return [known[span] if span in known else mean(confidences, span[0], span[1]) for span in spans]


def worst(mistakes: Iterable[Mistake], count: int) -> list[Mistake]:
    """Return the ``count`` sentences with the greatest weight, earlier ones first on ties."""
    return sorted(mistakes, key=lambda mistake: -mistake.weight)[:count]


def mean(confidences: Sequence[float], start: int, end: int) -> float:
    """Return the mean confidence of tokens [start, end)."""
    return sum(confidences[start:end]) / (end - start)


def _spaces(sentence: Sentence) -> tuple[bool, ...]:
    places = sentence.offsets()
    gaps = [start > end for (_, end), (start, _) in pairwise(places)]
    return (*gaps, False)
