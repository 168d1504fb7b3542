"""Tokenised running text in memory-mapped arrays, words as ids in the order of their frequency.

With M tokens and U ids, the folder has (see ``data/arrays.py``):

    tokens        (M)       int32, each sentence as BEGIN w1 … wn END
    counts        (U)       int64, how often each id is in tokens
    form_bytes              uint8, the forms one after the other in UTF-8
    form_offsets  (U + 1)   int64, form u is form_bytes[form_offsets[u] : form_offsets[u + 1]]

Ids below ``FIRST`` stand for no form of the text; from there on forms stand by falling count, then by string.
So the V most frequent ones are the ids below V, and ``np.where(tokens < V, tokens, UNKNOWN)`` are the targets
of a softmax over V. ``UNKNOWN`` itself is never in ``tokens``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged
from gonie.system.arrays import Array, ArrayWriter, open_arrays

BEGIN, END, UNKNOWN = 0, 1, 2
RESERVED = (b"<S>", b"</S>", b"<UNK>")
"""What the three ids that are no forms are shown as."""

FIRST = len(RESERVED)
"""The id of the first form."""

FORMAT = 1
INDEX = "stream.json"
NOUN = "tokenised text"


class StreamForms:
    """The form of every id as a string, read when it is asked for; ids below ``FIRST`` have a name."""

    def __init__(self, flat: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self._flat = flat
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, id: int) -> str:
        if not 0 <= id < len(self):
            raise IndexError(f"expected an id from 0 to {len(self) - 1}, got {id}")
        return self._flat[self._offsets[id] : self._offsets[id + 1]].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return (form.decode("utf-8") for form in self.encoded())

    def encoded(self) -> list[bytes]:
        """The UTF-8 bytes of every form, all of them in memory."""
        flat = self._flat.tobytes()
        return [flat[start:end] for start, end in pairwise(self._offsets.tolist())]


class TokenStream:
    """Running text as one row of ids; the module has its arrays. ``fingerprint`` tells texts apart."""

    def __init__(
        self, arrays: dict[str, Array], *, language: str, unit: str, fingerprint: str, format: int = FORMAT
    ) -> None:
        if format != FORMAT:
            raise ValueError(f"the format {format}, which this version does not read")
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
        """How many sentences there are."""
        return int(self.counts[BEGIN])

    @property
    def words(self) -> int:
        """How many words they have together."""
        return len(self.tokens) - 2 * self.sentences

    @classmethod
    def open(cls, folder: Path) -> TokenStream:
        """Map the stream in a folder; nothing but the counts is read until it is used."""

        def make(arrays: dict[str, Array], facts: dict[str, Any]) -> TokenStream:
            return cls(arrays, **{name: fact for name, fact in facts.items() if name != "arrays"})

        return open_arrays(folder, make, index=INDEX, noun=NOUN, fix="Tokenise the text again")


class StreamWriter:
    """Writes a stream into a folder, tokens block by block, then the forms; ``finish`` maps it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arrays = ArrayWriter(folder, index=INDEX, noun=NOUN)
        self._arrays.append("tokens", np.zeros(0, dtype=np.int32))

    def append(self, tokens: NDArray[np.int32]) -> None:
        """Add ids at the end."""
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
        """Write the forms of the ids from ``FIRST`` on and the counts of all, and map what is now whole."""
        spelled = [*RESERVED, *forms]
        lengths = np.fromiter(map(len, spelled), dtype=np.int64, count=len(spelled))
        self._arrays.append("counts", counts)
        self._arrays.append("form_bytes", np.frombuffer(b"".join(spelled), dtype=np.uint8))
        self._arrays.append("form_offsets", ragged.offsets(lengths))
        self._arrays.finish(format=FORMAT, language=language, unit=unit, fingerprint=fingerprint)
        return TokenStream.open(self._folder)


def _check(stream: TokenStream) -> None:
    """Refuse arrays that do not belong together."""
    kinds = [array.dtype.str for array in (stream.tokens, stream.counts, stream.form_bytes)]
    if kinds != ["<i4", "<i8", "|u1"] or stream.form_offsets.dtype.str != "<i8":
        raise ValueError(f"numbers of the types {', '.join(kinds)}")
    if len(stream.counts) < FIRST or len(stream.form_offsets) != len(stream.counts) + 1:
        raise ValueError(f"{len(stream.form_offsets)} places of forms for {len(stream.counts)} counts")
    if stream.form_offsets[-1] != len(stream.form_bytes) or (np.diff(stream.form_offsets) < 0).any():
        raise ValueError(f"{len(stream.form_bytes)} bytes of forms in place of {stream.form_offsets[-1]}")
    if stream.counts.sum() != len(stream.tokens):
        raise ValueError(f"{len(stream.tokens)} tokens in place of {stream.counts.sum()}")
