"""The pieces of a batch (``pieces``), laid out for a transformer. Long sentences are read in windows.

With W windows of up to L pieces, and Q pieces that stand for tokens:

    pieces (W, L)           the pieces of each window, special ones around them; 0 at padding
    pieces_mask (W, L)      true at pieces, right-padded
    pieces.ids (Q)          places in the table of all W · L positions
    pieces.offsets (B·T+1)  token b · T + t is the mean of pieces.ids[offsets[b·T+t] : offsets[b·T+t+1]]

A sentence with at most ``width`` pieces is one window. The windows of a longer one share ``OVERLAP`` pieces
with their neighbours. Each token is taken from the window in which it is furthest from an edge, if any window
has all of it; the ends of the sentence are no edges. Windows depend on the sentence alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged
from gonie.features.windows import cut_windows

PIECES = "pieces"
"""The name of the arrays in a corpus and in a batch."""
ARRAYS = (PIECES, *(f"{PIECES}.{own}" for own in ("offsets", "starts", "ends", "begin", "end", "width")))
"""The names of all arrays in a corpus (``gonie.features.corpus``)."""
OVERLAP = 128
"""The most pieces that two windows of a sentence share."""

Array = NDArray[Any]
Ints = NDArray[np.int64]


def lay_out_pieces(
    arrays: Mapping[str, Array], rows: Ints, tokens: Ints, mask: NDArray[np.bool_]
) -> dict[str, Array]:
    """Return the pieces of the sentences ``rows`` of a corpus with these ``arrays``, in that order.

    ``tokens`` (M,) are the places of their tokens in the corpus, and ``mask`` (B, T) is that of the batch.
    """
    offsets = arrays[f"{PIECES}.offsets"]
    sizes = offsets[rows + 1] - offsets[rows]  # (B,)
    lengths = mask.sum(1)  # (B,)
    firsts, lasts = (arrays[f"{PIECES}.{edge}"][tokens].astype(np.int64) for edge in ("starts", "ends"))
    begin, end = arrays[f"{PIECES}.begin"], arrays[f"{PIECES}.end"]
    width, before = int(arrays[f"{PIECES}.width"][0]), len(begin)
    windows: list[tuple[int, int]] = []  # the range of pieces of each window in the corpus
    chosen: list[tuple[Ints, Ints]] = []  # the window and place of each piece of a token
    for row, size, owns in zip(rows.tolist(), sizes.tolist(), _split(firsts, lasts, lengths), strict=True):
        number, at = len(windows), int(offsets[row])
        found = cut_windows(size, width=width, overlap=min(OVERLAP, width // 2))
        windows += [(at + window.start, at + window.end) for window in found]
        edges = np.array([[window.start, window.end] for window in found])  # (windows, 2)
        inside, places = _choose(edges, size, *owns)
        chosen.append((number + inside, before + places))
    extents = np.array(windows)  # (W, 2)
    counts = extents[:, 1] - extents[:, 0]
    longest = int(counts.max()) + before + len(end)
    table = np.zeros((len(windows), longest), dtype=np.int64)  # (W, L)
    table[:, :before] = begin
    inner = np.arange(longest - before) < counts[:, None]
    table[:, before:][inner] = arrays[PIECES][ragged.positions(extents[:, 0], counts)]
    for number, piece in enumerate(end):
        table[np.arange(len(windows)), before + counts + number] = piece
    numbers, places = (np.concatenate(each) for each in zip(*chosen, strict=True))
    per_token = np.zeros(mask.shape, dtype=np.int64)
    per_token[mask] = lasts - firsts
    return {
        PIECES: table,
        f"{PIECES}_mask": np.arange(longest) < (before + counts + len(end))[:, None],
        f"{PIECES}.ids": numbers * longest + places,
        f"{PIECES}.offsets": ragged.offsets(per_token.ravel()),
    }


def _split(firsts: Ints, lasts: Ints, lengths: Ints) -> list[tuple[Ints, Ints]]:
    """Return the ranges of pieces of the tokens of each sentence."""
    ends = np.cumsum(lengths)[:-1]
    return list(zip(np.split(firsts, ends), np.split(lasts, ends), strict=True))


def _choose(edges: Ints, size: int, firsts: Ints, lasts: Ints) -> tuple[Ints, Ints]:
    """Return the window and the place in it of each piece of the tokens: (Q,), (Q,).

    ``edges`` (windows, 2) are the ranges of the windows of a sentence with ``size`` pieces.
    """
    counts = lasts - firsts
    pieces = ragged.positions(firsts, counts)  # (Q,)
    if len(edges) == 1:
        return np.zeros_like(pieces), pieces
    begins = np.repeat(firsts, counts)  # of the token of each piece
    ends = np.repeat(lasts, counts)
    whole = _distance(edges, size, begins, ends)  # (windows, Q)
    alone = _distance(edges, size, pieces, pieces + 1)
    window = np.where((whole >= 0).any(0), whole.argmax(0), alone.argmax(0))
    return window, pieces - edges[window, 0]


def _distance(edges: Ints, size: int, begins: Ints, ends: Ints) -> Ints:
    """Return the pieces between each range and the nearest edge of each window, -1 if it is not inside.

    Shape: (windows, 2), (Q,), (Q,) -> (windows, Q).
    """
    left = np.where(edges[:, :1] > 0, begins - edges[:, :1], size)
    right = np.where(edges[:, 1:] < size, edges[:, 1:] - ends, size)
    return np.maximum(np.minimum(left, right), -1)
