"""Words taken out: the one place where a text is changed to see what its answer hangs on.

From a classifier's text a token is taken away. In a tagger's sentence an unknown word is put in its place:
each tag belongs to a place, and taking the word away would move all that follow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gonie.text.passages import BLANK, Passage, blank, picked
from gonie.text.types import Sentence

Keep: TypeAlias = NDArray[np.bool_]
"""(M,), true at each token that stays, over all M tokens of a text in their order."""


def without(passage: Passage, keep: Keep) -> Passage:
    """The passage with only the tokens of ``keep``, as if it had been written so.

    A sentence that has lost all tokens is gone, and a text that has is one ``BLANK``, as an empty text is. In
    ``running`` blanks stand for the characters that no token needs any more: so the n-grams lose them, the
    words beside them do not grow together, and offsets stay what they were. Characters that were in no token
    stay, such as those of words beyond ``max_tokens``.
    """
    seams = np.cumsum([len(sentence) for sentence in passage.sentences])[:-1]
    kept = [
        _kept(sentence, own)
        for sentence, own in zip(passage.sentences, np.split(keep, seams), strict=True)
        if own.any()
    ]
    if not kept:
        kept = [blank(passage.sentences[0].surface, path=passage.path, line=passage.line)]
    return passage._replace(sentences=tuple(kept), running=_running(passage, keep))


def masked(sentence: Sentence, keep: Keep) -> Sentence:
    """The sentence with an unknown word, of no known spelling, in the place of each token not in ``keep``."""
    if keep.all():
        return sentence
    return replace(
        sentence,
        words=_masked(sentence.words, keep, BLANK),
        columns={name: _masked(values, keep, "") for name, values in sentence.columns.items()},
    )


def _kept(sentence: Sentence, keep: Keep) -> Sentence:
    if keep.all():
        return sentence
    places = np.flatnonzero(keep).tolist()
    starts, ends = sentence.starts, sentence.ends
    return picked(sentence, places, [starts[i] for i in places], [ends[i] for i in places])


def _running(passage: Passage, keep: Keep) -> str:
    """The running text with blanks at the characters of tokens taken out, unless one that stays has them."""
    starts = np.array([start for sentence in passage.sentences for start in sentence.starts], dtype=np.int64)
    ends = np.array([end for sentence in passage.sentences for end in sentence.ends], dtype=np.int64)
    size = len(passage.running)
    gone = _covered(starts[~keep], ends[~keep], size) & ~_covered(starts[keep], ends[keep], size)
    points = np.frombuffer(passage.running.encode("utf-32-le", "surrogatepass"), dtype="<u4").copy()
    points[gone] = ord(BLANK)
    return points.tobytes().decode("utf-32-le", "surrogatepass")


def _covered(starts: NDArray[np.int64], ends: NDArray[np.int64], size: int) -> Keep:
    """Which of ``size`` characters lie in one of the ranges, which may reach beyond them."""
    starts, ends = np.minimum(starts, size), np.minimum(ends, size)
    depth = np.bincount(starts, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
    return np.asarray(np.cumsum(depth)[:size] > 0)


def _masked(values: tuple[str, ...], keep: Keep, fill: str) -> tuple[str, ...]:
    return tuple(value if stays else fill for value, stays in zip(values, keep.tolist(), strict=True))
