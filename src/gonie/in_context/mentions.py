"""Finding the mentions of an answer in the text, as ranges of tokens."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from gonie.in_context.answer_formats import Mention
from gonie.in_context.examples import SentenceText
from gonie.text.schemes import TokenSpan

UNKNOWN_LABEL = "unknown label"
NOT_IN_TEXT = "not in the text"
NO_FREE_PLACE = "overlaps another or occurs less often"


@dataclass(slots=True)
class PlacedMentions:
    """Spans of tokens in the order of the text, the dropped mentions by reason, and how many were widened."""

    spans: list[TokenSpan] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    widened: int = 0


def place_mentions(
    mentions: Sequence[Mention], sentence: SentenceText, labels: Collection[str]
) -> PlacedMentions:
    """Return the mentions of an answer as spans of tokens.

    The first mention of a text takes its first occurrence, the second one the next. Occurrences that begin
    and end with a token come before others, which are widened to the tokens that they touch. Spans do not
    overlap: an earlier mention in the answer comes first.
    """
    found = PlacedMentions()
    free = [True] * len(sentence.tokens)
    for mention in mentions:
        if mention.label not in labels:
            found.dropped[UNKNOWN_LABEL] += 1
            continue
        places = list(_occurrences(mention, sentence.text))
        ranges = [covered for start, end in places if (covered := _tokens(sentence, start, end)) is not None]
        if not ranges:
            found.dropped[NOT_IN_TEXT] += 1
            continue
        ranges.sort(key=lambda each: (not each[2], each[0]))
        place = next((each for each in ranges if all(free[each[0] : each[1]])), None)
        if place is None:
            found.dropped[NO_FREE_PLACE] += 1
            continue
        first, end, exact = place
        free[first:end] = [False] * (end - first)
        found.widened += not exact
        found.spans.append((first, end, mention.label))
    found.spans.sort()
    return found


def _occurrences(mention: Mention, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a mention occurs in a text, without white space at its ends."""
    bare = mention.text.strip()
    if mention.start is not None:
        start = mention.start + len(mention.text) - len(mention.text.lstrip())
        if bare and text.startswith(bare, start):
            yield start, start + len(bare)
        return
    at = text.find(bare) if bare else -1
    while at >= 0:
        yield at, at + len(bare)
        at = text.find(bare, at + 1)


def _tokens(sentence: SentenceText, start: int, end: int) -> tuple[int, int, bool] | None:
    """Return the tokens that characters touch, and whether these are exactly their characters."""
    first = bisect_right(sentence.tokens, start, key=lambda token: token[1])
    last = bisect_left(sentence.tokens, end, key=lambda token: token[0])
    if first >= last:
        return None
    return first, last, (sentence.tokens[first][0], sentence.tokens[last - 1][1]) == (start, end)
