"""Encode words for ELMo's character network: UTF-8 bytes between two markers, padded.

The ids are those of the published models (Peters et al. 2018, arXiv:1802.05365). They are shifted by one so
that 0 is free for the mask of padded words, which is not produced here:

    1 … 256   a byte b, as b + 1
    257, 258  the beginning and the end of a sentence, each in a separate word
    259, 260  the beginning and the end of a word
    261       padding

A word is ``[259] bytes … [260]`` and padding up to ``longest``. Bytes that do not fit are cut off.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged

SENTENCE_BEGIN, SENTENCE_END, WORD_BEGIN, WORD_END, PADDING = 257, 258, 259, 260, 261
MARKS = 2
"""Rows of a batch before those of its words: the beginning and the end of a sentence."""
LONGEST = 50
AT_ONCE = 1 << 16
"""Words encoded at a time, which bounds the memory needed besides the result."""

Spelled = NDArray[np.int16]


def spell_bytes(forms: Iterable[str] | Iterable[bytes], *, longest: int = LONGEST) -> Spelled:
    """Return the ids of each form (U, longest). Bytes are taken as UTF-8."""
    encoded = [form.encode("utf-8") if isinstance(form, str) else form for form in forms]
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    flat = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return spell_flat(flat, ragged.offsets(lengths), longest=longest)


def spell_flat(flat: NDArray[np.uint8], offsets: NDArray[np.int64], *, longest: int = LONGEST) -> Spelled:
    """Return the ids of each word (U, longest), where word u is ``flat[offsets[u] : offsets[u + 1]]``."""
    if longest < 3:
        raise ValueError(f"longest must be at least 3 (two marks and a byte), got {longest}")
    table = np.full((len(offsets) - 1, longest), PADDING, dtype=np.int16)
    for start in range(0, len(table), AT_ONCE):
        _fill(table[start : start + AT_ONCE], flat, offsets[start : start + AT_ONCE + 1])
    return table


def begin_row(longest: int = LONGEST) -> Spelled:
    """Return the word that begins a sentence (longest,)."""
    return _alone(SENTENCE_BEGIN, longest)


def end_row(longest: int = LONGEST) -> Spelled:
    """Return the word that ends a sentence (longest,)."""
    return _alone(SENTENCE_END, longest)


def _fill(table: Spelled, flat: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
    """Write the words at ``offsets`` (U + 1,) into a table of padding (U, longest)."""
    inner = table[:, 1:-1]
    lengths = np.minimum(np.diff(offsets), inner.shape[1])
    inner[np.arange(inner.shape[1]) < lengths[:, None]] = (
        flat[ragged.positions(offsets[:-1], lengths)].astype(np.int16) + 1
    )
    table[:, 0] = WORD_BEGIN
    table[np.arange(len(table)), lengths + 1] = WORD_END


def _alone(id: int, longest: int) -> Spelled:
    row = np.full(longest, PADDING, dtype=np.int16)
    row[:3] = WORD_BEGIN, id, WORD_END
    return row
