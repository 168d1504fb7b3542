"""Tokenised text in memory-mapped arrays, with words as ids in order of frequency.

With M tokens and U ids, the folder has (see ``system/array_folder.py``):

    tokens        (M)       int32, each sentence as BEGIN w1 … wn END
    counts        (U)       int64, the count of each id in tokens
    form_bytes              uint8, the concatenated forms in UTF-8
    form_offsets  (U + 1)   int64, form u is form_bytes[form_offsets[u] : form_offsets[u + 1]]

Ids below ``FIRST`` are reserved. From there on, forms are ordered by descending count, then by string. The V
most frequent ones are thus the ids below V, and ``np.where(tokens < V, tokens, UNKNOWN)`` are the targets of
a softmax over V. ``UNKNOWN`` itself is never in ``tokens``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged
from gonie.features.byte_spelling import (
    LONGEST,
    PADDING,
    WORD_BEGIN,
    WORD_END,
    Spelled,
    begin_row,
    end_row,
    spell_flat,
)
from gonie.system.array_folder import Array, ArrayWriter, open_arrays

BEGIN, END, UNKNOWN = 0, 1, 2
RESERVED = (b"<S>", b"</S>", b"<UNK>")
"""Display names of the three reserved ids."""

FIRST = len(RESERVED)
"""The id of the first form."""

FORMAT = 1
INDEX = "stream.json"
NOUN = "tokenised text"


class StreamForms:
    """The form of every id as a string, decoded on access. Reserved ids have a display name."""

    def __init__(self, flat: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self._flat = flat
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, id: int) -> str:
        if not 0 <= id < len(self):
            raise IndexError(f"id {id} is out of range: 0 to {len(self) - 1}")
        return self._flat[self._offsets[id] : self._offsets[id + 1]].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return (form.decode("utf-8") for form in self.encoded())

    def encoded(self) -> list[bytes]:
        """Return the UTF-8 bytes of all forms, in memory."""
        flat = self._flat.tobytes()
        return [flat[start:end] for start, end in pairwise(self._offsets.tolist())]


class TokenStream:
    """Text as one sequence of ids.

    See the module docstring for the arrays. ``fingerprint`` identifies the text.
    """

    def __init__(
        self, arrays: dict[str, Array], *, language: str, unit: str, fingerprint: str, format: int = FORMAT
    ) -> None:
        if format != FORMAT:
            raise ValueError(f"unsupported format {format}")
        self.tokens: NDArray[np.int32] = arrays["tokens"]
        self.counts: NDArray[np.int64] = arrays["counts"]
        self.form_bytes: NDArray[np.uint8] = arrays["form_bytes"]
        self.form_offsets: NDArray[np.int64] = arrays["form_offsets"]
        self.forms = StreamForms(self.form_bytes, self.form_offsets)
        self.language = language
        self.unit = unit
        self.fingerprint = fingerprint
        _check(self)

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return int(self.counts[BEGIN])

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.tokens) - 2 * self.sentences

    @classmethod
    def open(cls, folder: Path) -> TokenStream:
        """Memory-map the stream in a folder. Only the counts are read until it is used."""

        def make(arrays: dict[str, Array], facts: dict[str, Any]) -> TokenStream:
            return cls(arrays, **{name: fact for name, fact in facts.items() if name != "arrays"})

        return open_arrays(folder, make, index=INDEX, noun=NOUN, fix="Tokenise the text again")


class StreamWriter:
    """Write a stream into a folder: tokens block by block, then the forms. ``finish`` memory-maps it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arrays = ArrayWriter(folder, index=INDEX, noun=NOUN)
        self._arrays.append("tokens", np.zeros(0, dtype=np.int32))

    def append(self, tokens: NDArray[np.int32]) -> None:
        """Append ids."""
        self._arrays.append("tokens", tokens)

    def finish(
        self,
        forms: Iterable[bytes],
        counts: NDArray[np.int64],
        *,
        language: str,
        unit: str,
        fingerprint: str,
    ) -> TokenStream:
        """Write the forms from ``FIRST`` on and the counts of all ids, and memory-map the complete stream."""
        spelled = [*RESERVED, *forms]
        lengths = np.fromiter(map(len, spelled), dtype=np.int64, count=len(spelled))
        self._arrays.append("counts", counts)
        self._arrays.append("form_bytes", np.frombuffer(b"".join(spelled), dtype=np.uint8))
        self._arrays.append("form_offsets", ragged.offsets(lengths))
        self._arrays.finish(format=FORMAT, language=language, unit=unit, fingerprint=fingerprint)
        return TokenStream.open(self._folder)


def spell_stream(stream: TokenStream, *, longest: int = LONGEST) -> Spelled:
    """Return the bytes of each form as ELMo's ids (U, longest), by the id of the form.

    BEGIN and END have the words that represent them. UNKNOWN is never read. Its row is a word of padding.
    """
    table = spell_flat(stream.form_bytes, stream.form_offsets, longest=longest)
    table[BEGIN] = begin_row(longest)
    table[END] = end_row(longest)
    table[UNKNOWN] = PADDING
    table[UNKNOWN, [0, -1]] = WORD_BEGIN, WORD_END
    return table


def _check(stream: TokenStream) -> None:
    """Raise an error if the arrays are inconsistent."""
    kinds = [array.dtype.str for array in (stream.tokens, stream.counts, stream.form_bytes)]
    if kinds != ["<i4", "<i8", "|u1"] or stream.form_offsets.dtype.str != "<i8":
        raise ValueError(f"wrong array types: {', '.join(kinds)}")
    if len(stream.counts) < FIRST or len(stream.form_offsets) != len(stream.counts) + 1:
        raise ValueError(f"{len(stream.form_offsets)} form offsets for {len(stream.counts)} counts")
    if stream.form_offsets[-1] != len(stream.form_bytes) or (np.diff(stream.form_offsets) < 0).any():
        raise ValueError(f"expected {stream.form_offsets[-1]} bytes of forms, got {len(stream.form_bytes)}")
    if stream.counts.sum() != len(stream.tokens):
        raise ValueError(f"expected {stream.counts.sum()} tokens, got {len(stream.tokens)}")
