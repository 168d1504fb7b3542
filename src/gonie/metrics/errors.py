"""Every error by itself, with the words around it, those first that the tagger was surest of.

A score says how many errors there are; this list is what to read to learn which. An error made with great
confidence is a wrong gold tag or something the model has learned wrongly; a close call says little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from gonie.metrics.mistakes import Mistake, mean
from gonie.text.schemes import TokenSpan

AROUND, MOST = 8, 40
"""An error is shown with AROUND words to each side: what stands between blanks, but at most MOST tokens."""


class Kind(StrEnum):
    """What is wrong. A span of one side is wrong if the other has not the same one."""

    FALSE_POSITIVE = "false positive"  # a predicted span that meets no gold one
    FALSE_NEGATIVE = "false negative"  # a gold span that meets no predicted one
    WRONG_LABEL = "wrong label"  # both sides have a span just here
    WRONG_BOUNDARY = "wrong boundary"  # they overlap, whatever their labels


@dataclass(frozen=True, slots=True)
class Error:
    """One error: a wrong span (of plain tags a wrong token) or a pair of them, one on each side.

    ``gold`` and ``predicted`` are labels, None on the side that has no span here. ``before`` + ``text`` +
    ``after`` is the running text; ``text`` covers both spans. ``confidence`` is the probability of the
    predicted span; of a false negative, the mean one of the tags given in its place. ``line`` is where the
    sentence begins.
    """

    confidence: float
    kind: Kind
    gold: str | None
    predicted: str | None
    gold_text: str | None
    predicted_text: str | None
    before: str
    text: str
    after: str
    file: str
    line: int


Pair = tuple[TokenSpan | None, TokenSpan | None]
"""A gold span and a predicted one that do not agree; None for none."""


def list_errors(mistakes: Iterable[Mistake]) -> list[Error]:
    """The errors of all sentences, the surest first, in the order of the text among equals."""
    return sorted(chain.from_iterable(map(_errors, mistakes)), key=lambda error: -error.confidence)


def wrong_pairs(mistake: Mistake) -> list[Pair]:
    """Each wrong span beside the one it shares most tokens with (the first of equals), in order.

    Two that choose each other are one pair. So every wrong span of either side is in a pair, and one that is
    torn into several, or joined from several, is in a pair with each.
    """
    right = mistake.correct
    gold = [span for span in mistake.gold if span not in right]
    predicted = [span for span in mistake.predicted if span not in right]
    gold_at, predicted_at = _owners(gold), _owners(predicted)
    pairs: dict[Pair, None] = {(span, _nearest(span, predicted_at)): None for span in gold}
    pairs.update(((_nearest(span, gold_at), span), None) for span in predicted)
    return sorted(pairs, key=lambda pair: next(span for span in pair if span is not None))


def _owners(spans: Iterable[TokenSpan]) -> dict[int, TokenSpan]:
    """Which span each token is in."""
    return {at: span for span in spans for at in range(span[0], span[1])}


def _nearest(span: TokenSpan, owners: Mapping[int, TokenSpan]) -> TokenSpan | None:
    shared = Counter(owners[at] for at in range(span[0], span[1]) if at in owners)
    return max(shared, key=shared.__getitem__, default=None)


def _errors(mistake: Mistake) -> Iterator[Error]:
    chances = dict(zip(mistake.predicted, mistake.chances, strict=True))
    for gold, predicted in wrong_pairs(mistake):
        spans = [span for span in (gold, predicted) if span is not None]
        start, end = min(span[0] for span in spans), max(span[1] for span in spans)
        first, last = _around(mistake.spaces, start, end)
        yield Error(
            confidence=chances[predicted] if predicted else mean(mistake.confidences, start, end),
            kind=_kind(gold, predicted),
            gold=gold and gold[2],
            predicted=predicted and predicted[2],
            gold_text=gold and mistake.text(*gold[:2]),
            predicted_text=predicted and mistake.text(*predicted[:2]),
            before=mistake.text(first, start) + " " * (start > 0 and mistake.spaces[start - 1]),
            text=mistake.text(start, end),
            after=" " * mistake.spaces[end - 1] + mistake.text(end, last),
            file=mistake.path,
            line=mistake.line,
        )


def _kind(gold: TokenSpan | None, predicted: TokenSpan | None) -> Kind:
    if gold is None:
        return Kind.FALSE_POSITIVE
    if predicted is None:
        return Kind.FALSE_NEGATIVE
    return Kind.WRONG_LABEL if gold[:2] == predicted[:2] else Kind.WRONG_BOUNDARY


def _around(spaces: tuple[bool, ...], start: int, end: int) -> tuple[int, int]:
    """The tokens [first, last) that are shown about [start, end)."""
    first, last, blanks = start, end, 0
    while first > max(0, start - MOST) and (blanks := blanks + spaces[first - 1]) <= AROUND:
        first -= 1
    blanks = 0
    while last < min(len(spaces), end + MOST) and (blanks := blanks + spaces[last - 1]) <= AROUND:
        last += 1
    return first, last
