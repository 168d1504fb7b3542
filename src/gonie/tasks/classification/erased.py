"""Words taken out of a classifier's text, to see what its label hangs on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gonie.tasks.explanation import Keep
from gonie.text.passages import BLANK, Passage, blank, select_tokens
from gonie.text.types import Sentence


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


def _kept(sentence: Sentence, keep: Keep) -> Sentence:
    if keep.all():
        return sentence
    places = np.flatnonzero(keep).tolist()
    starts, ends = sentence.starts, sentence.ends
    return select_tokens(sentence, places, [starts[i] for i in places], [ends[i] for i in places])


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
