"""A corpus encoded once into flat arrays, in memory or memory-mapped from a folder.

Every array is one-dimensional. With N sentences, M tokens and U distinct surface forms:

    offsets       (N + 1)   sentence i is tokens offsets[i] .. offsets[i + 1]
    forms         (M)       index of each token's form
    tags          (M)       gold label, -1 where there is none
    domains       (N)       number of the domain of each sentence, if training files are named
    form_words    (U)       word id of each form
    form_offsets  (U + 1)   characters of form u are form_chars[form_offsets[u] : form_offsets[u + 1]]
    form_chars
    form_bytes    (U · C)   for a language model: the bytes of each form, C ids each (``byte_spelling``)
    pieces        (P)       for a transformer: the sub-words of all sentences (``PieceTokenizer``)
    pieces.offsets (N + 1)  sub-words of sentence i are pieces[pieces.offsets[i] : pieces.offsets[i + 1]]
    pieces.starts (M)       and pieces.ends (M): those of each token, counted from the first of its sentence
    pieces.begin            and pieces.end, pieces.width: what the transformer reads besides them, how many
    S.context     (M, …)    for a contextual source S: its vectors of each token, if they are computed once
    external      (R · D)   with external vectors: R vectors, each of a token or of a whole sentence
    external_rows (M)       the vector of each token among them
    G.offsets     (M + 1)   for each sparse feature group G, the feature ids of each token
    G.ids

A token is the index of its form. Words and characters are stored once per form and looked up through
``forms``. On disk, a corpus is an ``array_folder`` with the index ``corpus.json``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged
from gonie.features.byte_spelling import begin_row, end_row
from gonie.features.piece_batches import PIECES, lay_out_pieces
from gonie.system.array_folder import Array, ArrayWriter, open_arrays

INDEX = "corpus.json"
DOMAINS = "domains"
CONTEXT = ".context"
"""Suffix of the names of arrays with contextual vectors."""
EXTERNAL, EXTERNAL_ROWS = "external", "external_rows"
NOUN = "an encoded corpus"


class Examples(Protocol):
    """Encoded training examples: N sentences or N texts."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) the length of each example's longest sentence, used to batch similar lengths together."""

    @property
    def heights(self) -> NDArray[np.int64] | None:
        """(N,) the number of sentences of each example, or None if each is one sentence."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(N,) the number of tokens of each example."""

    @property
    def tokens(self) -> int:
        """The total number of tokens."""

    @property
    def domains(self) -> NDArray[np.integer] | None:
        """(N,) the number of the domain of each example, or None if there are no domains."""

    def __len__(self) -> int: ...

    def batch(self, rows: NDArray[np.int64]) -> dict[str, Array]:
        """Return the padded batch of the examples ``rows``, in that order."""


class Corpus:
    """Encoded sentences. ``corpus.arrays`` holds the flat arrays described in the module docstring."""

    def __init__(self, arrays: Mapping[str, Array], groups: tuple[str, ...]) -> None:
        self.arrays = dict(arrays)
        self.groups = groups
        offsets = self.arrays["offsets"]
        self.lengths: NDArray[np.int64] = offsets[1:] - offsets[:-1]
        self.sizes = self.lengths
        self.heights = None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """The total number of tokens."""
        return int(self.arrays["offsets"][-1])

    @property
    def domains(self) -> NDArray[np.integer] | None:
        """(N,) the number of the domain of each sentence, or None if there are no domains."""
        return self.arrays.get(DOMAINS)

    def batch(self, rows: NDArray[np.int64]) -> dict[str, Array]:
        """Return the padded batch of the sentences ``rows``, in that order."""
        return collate(self, rows)

    def with_context(self, source: str, vectors: Array, *, instead_of: Collection[str] = ()) -> Corpus:
        """Return the corpus with vectors (M, …) of a contextual source in place of the given arrays."""
        left = {name: array for name, array in self.arrays.items() if name not in instead_of}
        return Corpus({**left, f"{source}{CONTEXT}": vectors}, self.groups)

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Memory-map a corpus written by a ``FolderSink``. Data is read only on use."""
        return open_arrays(
            folder,
            lambda arrays, facts: cls(arrays, tuple(facts["groups"])),
            index=INDEX,
            noun=NOUN,
            fix="Encode it again",
        )


class Sink(Protocol):
    """Destination of encoded blocks: each named array grows at its end."""

    def append(self, name: str, block: Array) -> None:
        """Add ``block`` to the end of the array ``name``."""

    def finish(self, groups: tuple[str, ...]) -> Corpus:
        """Close every array and return the corpus."""


class MemorySink:
    """Keep blocks in memory and concatenate them at the end."""

    def __init__(self) -> None:
        self._blocks: dict[str, list[Array]] = {}

    def append(self, name: str, block: Array) -> None:
        """Add ``block`` to the end of the array ``name``."""
        self._blocks.setdefault(name, []).append(block)

    def finish(self, groups: tuple[str, ...]) -> Corpus:
        """Concatenate every array and return the corpus."""
        arrays = {
            name: np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
            for name, blocks in self._blocks.items()
        }
        return Corpus(arrays, groups)


class FolderSink:
    """Write blocks directly to files, for a corpus larger than memory. ``finish`` memory-maps them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer = ArrayWriter(folder, index=INDEX, noun=NOUN)

    def append(self, name: str, block: Array) -> None:
        """Add ``block`` to the end of the file of array ``name``."""
        self._writer.append(name, block)

    def finish(self, groups: tuple[str, ...]) -> Corpus:
        """Write the index, which completes the folder, and memory-map it."""
        self._writer.finish(groups=groups)
        return Corpus.open(self._folder)


def collate(corpus: Corpus, rows: NDArray[np.int64]) -> dict[str, Array]:
    """Return the padded batch of the sentences ``rows``, in that order.

    See ``batching`` for names and shapes.
    """
    arrays = corpus.arrays
    lengths = corpus.lengths[rows]
    width = int(lengths.max())
    mask = np.arange(width) < lengths[:, None]  # (B, T)
    number = len(arrays["form_words"])
    if len(corpus) == len(rows) == 1 and len(set(arrays["forms"].tolist())) == number:
        flat = np.arange(width)  # a single sentence needs no lookup
        forms, local = np.arange(number), arrays["forms"].astype(np.int64)
        places, chars = arrays["form_offsets"], arrays["form_chars"]
        char_lengths = places[1:] - places[:-1]
    else:
        flat = ragged.positions(arrays["offsets"][rows], lengths)  # (tokens of the batch,)
        forms, local = np.unique(arrays["forms"][flat], return_inverse=True)  # (U,), (tokens,)
        begins = arrays["form_offsets"][forms]
        char_lengths = arrays["form_offsets"][forms + 1] - begins
        chars = arrays["form_chars"][ragged.positions(begins, char_lengths)]
    batch: dict[str, Array] = {
        "lengths": lengths,
        "mask": mask,
        "words": ragged.pad(arrays["form_words"][forms][local], lengths, fill=0),
        "forms": ragged.pad(local, lengths, fill=0),
        "chars": ragged.pad(chars, char_lengths, fill=0),
        "char_lengths": char_lengths,
        "tags": ragged.pad(arrays["tags"][flat], lengths, fill=-1),
    }
    if DOMAINS in arrays:
        batch[DOMAINS] = arrays[DOMAINS][rows].astype(np.int64)
    if "form_bytes" in arrays:
        batch["bytes"] = _bytes(arrays["form_bytes"], number, forms)
    if PIECES in arrays:
        batch |= lay_out_pieces(arrays, rows, flat, mask)
    for name in arrays:
        if name.endswith(CONTEXT):
            batch[name] = _laid_out(arrays[name][flat], mask)
    if EXTERNAL in arrays:
        batch[EXTERNAL] = _laid_out(_external(arrays, flat), mask)
    for group in corpus.groups:
        starts = arrays[f"{group}.offsets"][flat]
        counts = arrays[f"{group}.offsets"][flat + 1] - starts
        spread = np.zeros(mask.shape, dtype=np.int64)
        spread[mask] = counts
        batch[f"{group}.ids"] = arrays[f"{group}.ids"][ragged.positions(starts, counts)].astype(np.int64)
        batch[f"{group}.offsets"] = ragged.offsets(spread.ravel())
    return batch


def _laid_out(flat: Array, mask: NDArray[np.bool_]) -> Array:
    """Arrange the values of consecutive tokens (N, …) as a table (B, T, …), 0 at padding."""
    table = np.zeros((*mask.shape, *flat.shape[1:]), dtype=flat.dtype)
    table[mask] = flat
    return table


def _external(arrays: Mapping[str, Array], flat: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the external vector of each of the tokens ``flat`` (N,) of the corpus: (N, D)."""
    rows = arrays[EXTERNAL_ROWS]
    table = arrays[EXTERNAL].reshape(int(rows[-1]) + 1, -1)  # the last token has the last vector
    vectors: NDArray[np.float32] = table[rows[flat]]
    return vectors


def _bytes(spelled: Array, number: int, forms: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the bytes of the given forms, after the rows of the sentence boundaries."""
    table = spelled.reshape(number, -1)  # (U, C)
    longest = table.shape[1]
    return np.concatenate([[begin_row(longest), end_row(longest)], table[forms]]).astype(np.int64)
