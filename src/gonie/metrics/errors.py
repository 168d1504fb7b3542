"""A list of single tagging errors with context, the most confident first.

A score tells how many errors there are; this list shows which. An error with high confidence is a wrong gold
tag or something the model has learned wrongly. An error with low confidence tells little.
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
"""Context of an error: AROUND space-separated words on each side, and at most MOST tokens."""


class Kind(StrEnum):
    """The kind of an error. A span is wrong if the other side does not have the same span."""

    FALSE_POSITIVE = "false positive"  # a predicted span that overlaps no gold span
    FALSE_NEGATIVE = "false negative"  # a gold span that overlaps no predicted span
    WRONG_LABEL = "wrong label"  # both sides have a span with these boundaries
    WRONG_BOUNDARY = "wrong boundary"  # the spans overlap, whatever their labels


@dataclass(frozen=True, slots=True)
class Error:
    """One error: a wrong span (for plain tags, a wrong token), or a pair of spans, one from each side.

    ``gold`` and ``predicted`` are labels, None if that side has no span here. ``before`` + ``text`` +
    ``after`` is the original text, where ``text`` covers both spans. ``confidence`` is the probability of the
    predicted span. For a false negative it is the mean probability of the tags predicted in its place.
    ``line`` is the first line of the sentence.
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
"""A gold span and a predicted span that differ. None means no span."""


def list_errors(mistakes: Iterable[Mistake]) -> list[Error]:
    """Return the errors of all sentences, the most confident first, ties in text order."""
    return sorted(chain.from_iterable(map(_errors, mistakes)), key=lambda error: -error.confidence)


def wrong_pairs(mistake: Mistake) -> list[Pair]:
    """Pair each wrong span with the span on the other side that shares the most tokens (first on ties).

    Two spans that choose each other form one pair. Every wrong span of either side is in a pair. A span that
    was split into several spans, or merged from several, is paired with each of them. Pairs are in text
    order.
    """
    right = mistake.correct
    gold = [span for span in mistake.gold if span not in right]
    predicted = [span for span in mistake.predicted if span not in right]
    gold_at, predicted_at = _owners(gold), _owners(predicted)
    pairs: dict[Pair, None] = {(span, _nearest(span, predicted_at)): None for span in gold}
    pairs.update(((_nearest(span, gold_at), span), None) for span in predicted)
    return sorted(pairs, key=lambda pair: next(span for span in pair if span is not None))


def _owners(spans: Iterable[TokenSpan]) -> dict[int, TokenSpan]:
    """Return the span that each token belongs to."""
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
    """Return the tokens [first, last) to show around [start, end)."""
    first, last, blanks = start, end, 0
    while first > max(0, start - MOST) and (blanks := blanks + spaces[first - 1]) <= AROUND:
        first -= 1
    blanks = 0
    while last < min(len(spaces), end + MOST) and (blanks := blanks + spaces[last - 1]) <= AROUND:
        last += 1
    return first, last
