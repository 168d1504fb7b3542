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

STOPPED = re.compile(r"[.!?…。！？][\"')\]}»”’›」』】〉》]*+\Z")
"""The end of an eojeol with a stop, where the rules decide."""

_EOJEOL = re.compile(r"\S++")
_TAIL = "~;^ㅋ♥"  # follow the end of a sentence, as in 좋아요~~ or 좋아요ㅋㅋ
_FAR = 6  # eojeol from which on the length of a sentence makes no difference
_CLASSES = (("0-9０-９", "0"), ("A-Za-z", "a"), ("ㄱ-ㅣ\u1100-\u11ff", "ㅋ"), ("～〜∼", "~"), ("♡❤", "♥"))
_CLASS = tuple((re.compile(f"[{members}]"), name) for members, name in _CLASSES)


def _class(character: str) -> str:
    return next((name for members, name in _CLASS if members.match(character)), character)


def plain_eojeol(word: str) -> str:
    """Return a folded eojeol with one ``~`` in place of laughter, hearts and the like at its end."""
    bare = word.rstrip(_TAIL)
    return word if len(bare) == len(word) else f"{bare}~"


def features(before: str, left: str, right: str, after: str, since: int) -> tuple[str, ...]:
    """Return the features of the gap between ``left`` and ``right``, one of each kind.

    ``before`` and ``after`` are the eojeol around these, or "^" and "$". ``since`` is the number of eojeol
    from the start of the sentence to ``left``.
    """
    end, end_2, begin, begin_2, close, later = left[-1], left[-2:], right[0], right[:2], right[-1], after[-1]
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
        before[-1] + end,
        str(since if since < _FAR else _FAR),
        f"{end}{since if since < _FAR // 2 else _FAR // 2}",
        later,
        end + later,
        f"{begin_2}|{later}",
        f"{end}|{begin_2}",
    )


class Endings:
    """Splits text without stops by the weights of features: ``weights[kind][feature]``, in hundredths.

    No sentence ends after an eojeol whose last character is in ``never``.
    """

    def __init__(self, *, bias: int, weights: Iterable[Mapping[str, int]], never: str) -> None:
        self._bias = bias
        self._weights = tuple(weights)
        self._never = frozenset(never)
        self._folding = Folding(_class)

    def eojeol(self, text: str) -> list[str]:
        """Return the eojeol of a text as ``features`` sees them."""
        return [plain_eojeol(word) for word in text.translate(self._folding).split()]

    def split(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the sentences in a range without white space at either end."""
        piece = text[start:end].translate(self._folding)
        places = [match.span() for match in _EOJEOL.finditer(piece)]
        words = ["^", *(plain_eojeol(piece[left:right]) for left, right in places), "$"]
        since = 0
        for at, (_, stop) in enumerate(places[:-1], start=1):
            since += 1
            if words[at][-1] not in self._never and self._ends(words, at, since):
                yield start, stop + end - len(piece)
                start, since = places[at][0] + end - len(piece), 0
        yield start, end

    def _ends(self, words: list[str], at: int, since: int) -> bool:
        if STOPPED.search(words[at]):
            return False
        found = features(words[at - 1], words[at], words[at + 1], words[at + 2], since)
        known = [table[value] for table, value in zip(self._weights, found, strict=True) if value in table]
        return self._bias + sum(known) > 0


@cache
def load_endings() -> Endings:
    """Load the weights that ship with gonie."""
    saved: dict[str, Any] = json.loads(
        resources.files("gonie.text.tokenizers").joinpath("endings.json").read_text(encoding="utf-8")
    )
    return Endings(**saved)
