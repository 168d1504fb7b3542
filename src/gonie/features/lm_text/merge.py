"""Merge parts into one stream: count their forms together, number them by frequency, renumber the tokens.

The forms of all parts are in memory at once, the tokens are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gonie.features.lm_text.stream import FIRST, StreamWriter, TokenStream

AT_ONCE = 1 << 22
"""Tokens in memory at a time."""


def merge(
    parts: Sequence[TokenStream], folder: Path, *, language: str, unit: str, fingerprint: str
) -> TokenStream:
    """Concatenate the text of the parts into ``folder``."""
    known: dict[bytes, int] = {}  # every form, numbered in order of first occurrence
    own = [_numbered(part, known) for part in parts]
    counts = np.zeros(FIRST + len(known), dtype=np.int64)
    for part, table in zip(parts, own, strict=True):
        counts[table] += part.counts
    order = by_frequency(known, counts)
    new = np.empty(len(order), dtype=np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    writer = StreamWriter(folder)
    for part, table in zip(parts, own, strict=True):
        final = new[table]
        for start in range(0, len(part.tokens), AT_ONCE):
            writer.append(final[part.tokens[start : start + AT_ONCE]])
    forms = list(known)
    return writer.finish(
        (forms[met - FIRST] for met in order[FIRST:].tolist()),
        counts[order],
        language=language,
        unit=unit,
        fingerprint=fingerprint,
    )


def by_frequency(known: Mapping[bytes, int], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ids of ``known`` by descending count, then by string, after the reserved ids.

    UTF-8 bytes sort in the order of the characters they encode.
    """
    by_string = np.array([known[form] for form in sorted(known)], dtype=np.int64)
    by_count = by_string[np.argsort(-counts[by_string], kind="stable")]
    return np.concatenate([np.arange(FIRST), by_count])


def _numbered(part: TokenStream, known: dict[bytes, int]) -> NDArray[np.int32]:
    """Return the number in ``known`` of each id of a part, and add its new forms there."""
    forms = part.forms.encoded()[FIRST:]
    own = [known.setdefault(form, FIRST + len(known)) for form in forms]
    return np.array([*range(FIRST), *own], dtype=np.int32)
