"""Removal of words from a classifier's text, for explanations by erasure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gonie.tasks.explanation import Keep
from gonie.text.passages import BLANK, Passage, blank, select_tokens
from gonie.text.types import Sentence


def without(passage: Passage, keep: Keep) -> Passage:
    """Return the passage with only the tokens of ``keep``.

    A sentence without tokens is removed, and a text without tokens becomes one ``BLANK``, as an empty text
    does. In ``running``, blanks replace the characters of removed tokens. So n-grams no longer contain them,
    neighbouring words are not joined, and offsets do not change. Characters outside any token stay, such as
    those of words beyond ``max_tokens``.
    """
    seams = np.cumsum([len(sentence) for sentence in passage.sentences])[:-1]
    kept = [
        _kept(sentence, own)
        for sentence, own in zip(passage.sentences, np.split(keep, seams), strict=True)
        if own.any()
    ]
    if not kept:
        first = passage.sentences[0]
        kept = [replace(blank(first.surface, path=passage.path, line=passage.line), vectors=first.vectors)]
    return passage._replace(sentences=tuple(kept), running=_running(passage, keep))


def _kept(sentence: Sentence, keep: Keep) -> Sentence:
    if keep.all():
        return sentence
    places = np.flatnonzero(keep).tolist()
    starts, ends = sentence.starts, sentence.ends
    return select_tokens(sentence, places, [starts[i] for i in places], [ends[i] for i in places])


def _running(passage: Passage, keep: Keep) -> str:
    """Return the running text with blanks for the characters that only removed tokens cover."""
    starts = np.array([start for sentence in passage.sentences for start in sentence.starts], dtype=np.int64)
    ends = np.array([end for sentence in passage.sentences for end in sentence.ends], dtype=np.int64)
    size = len(passage.running)
    gone = _covered(starts[~keep], ends[~keep], size) & ~_covered(starts[keep], ends[keep], size)
    points = np.frombuffer(passage.running.encode("utf-32-le", "surrogatepass"), dtype="<u4").copy()
    points[gone] = ord(BLANK)
    return points.tobytes().decode("utf-32-le", "surrogatepass")


def _covered(starts: NDArray[np.int64], ends: NDArray[np.int64], size: int) -> Keep:
    """Return which of ``size`` characters are in one of the ranges, which may be longer than the text."""
    starts, ends = np.minimum(starts, size), np.minimum(ends, size)
    depth = np.bincount(starts, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
    return np.asarray(np.cumsum(depth)[:size] > 0)
