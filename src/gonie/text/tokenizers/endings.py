"""Find Korean sentences that end without a stop: "맛있어요 또 올게요" has two.

A logistic regression scores each gap between two eojeol by their endings and beginnings. Its weights are in
``endings.json``, which ``tools/fit_endings.py`` writes. They are part of the rules: all units split a text
into the same sentences, on every machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from gonie.text.tokenizers.folding import Folding

STOPS = ".!?…。！？"
CLOSERS = "\"')]}»”’›」』】〉》"
BEGIN, END = "^", "$"
"""Stand for the eojeol before the first and after the last."""
STOPPED = re.compile(rf"[{STOPS}][{re.escape(CLOSERS)}]*+\Z")
"""The end of an eojeol with a stop, where the rules decide."""

_SYLLABLES = re.compile("[가-힣]++")
_TAIL = "~;^ㅋ♥"  # follow the end of a sentence, as in 좋아요~~ or 좋아요ㅋㅋ
_FAR = 6  # eojeol from which on the length of a sentence makes no difference
_CLASSES = (("0-9０-９", "0"), ("A-Za-z", "a"), ("ㄱ-ㅣ\u1100-\u11ff", "ㅋ"), ("～〜∼", "~"), ("♡❤", "♥"))
_CLASS = tuple((re.compile(f"[{members}]"), name) for members, name in _CLASSES)


def _class(character: str) -> str:
    return next((name for members, name in _CLASS if members.match(character)), character)


def features(before: str, left: str, right: str, after: str, since: int) -> tuple[str, ...]:
    """Return the features of the gap between ``left`` and ``right``, one of each kind.

    ``before`` and ``after`` are the last characters of the eojeol around these, or ``BEGIN`` and ``END``.
    ``since`` is the number of eojeol from the start of the sentence to ``left``.
    """
    end, end_2, begin, begin_2, close = left[-1], left[-2:], right[0], right[:2], right[-1]
    return (
        end,
        end_2,
        left[-3:],
        left[-4:],
        begin,
        begin_2,
        right[:3],
        right,
        close,
        right[-2:],
        end + begin,
        f"{end_2}|{begin_2}",
        end + close,
        before + end,
        str(since if since < _FAR else _FAR),
        f"{end}{since if since < _FAR // 2 else _FAR // 2}",
        after,
        end + after,
        f"{begin_2}|{after}",
        f"{end}|{begin_2}",
    )


class Endings:
    """Splits text without stops by the weights of features: ``weights[kind][feature]``, in hundredths.

    No sentence ends after an eojeol whose last character, or whose last two, are in ``never``, and before
    an eojeol without letters and digits, such as an emoji.
    """

    def __init__(self, *, bias: int, weights: Iterable[Mapping[str, int]], never: Iterable[str]) -> None:
        self._bias = bias
        self._weights = tuple(weights)
        known = {*never, *STOPS}
        self._never = known | {character for character in map(chr, range(128)) if _class(character) in known}
        self._folding = Folding(_class)

    def plain(self, word: str) -> str:
        """Return an eojeol as ``features`` sees it, with one ``~`` for laughter and hearts at its end."""
        folded = word if _SYLLABLES.fullmatch(word) else word.translate(self._folding)
        bare = folded.rstrip(_TAIL)
        return folded if len(bare) == len(folded) else f"{bare}~"

    def split(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the sentences in a range without white space at either end."""
        words, never, first = text[start:end].split(), self._never, 0
        for at, word in enumerate(words[:-1]):
            if word[-1] not in never and word[-2:] not in never and self._is_end(words, at, at - first + 1):
                stop = start
                for own in words[first : at + 1]:
                    stop = text.index(own, stop) + len(own)
                yield start, stop
                first, start = at + 1, text.index(words[at + 1], stop)
        yield start, end

    def _is_end(self, words: list[str], at: int, since: int) -> bool:
        if words[at][-1] in CLOSERS and STOPPED.search(words[at]):
            return False
        if not (words[at + 1][0].isalnum() or any(map(str.isalnum, words[at + 1]))):
            return False
        before = self._last(words[at - 1]) if at else BEGIN
        after = self._last(words[at + 2]) if at + 2 < len(words) else END
        found = features(before, self.plain(words[at]), self.plain(words[at + 1]), after, since)
        score = self._bias
        for table, value in zip(self._weights, found):  # noqa: B905 (strict takes time)
            if value in table:
                score += table[value]
        return score > 0

    def _last(self, word: str) -> str:
        """Return the last character of ``plain(word)``."""
        last = self._folding[ord(word[-1])]
        return "~" if last in _TAIL else last


@cache
def load_endings() -> Endings:
    """Load the weights that ship with gonie."""
    saved: dict[str, Any] = json.loads(
        resources.files("gonie.text.tokenizers").joinpath("endings.json").read_text(encoding="utf-8")
    )
    return Endings(**saved)
