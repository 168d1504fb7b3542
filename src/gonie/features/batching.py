"""Batching: group sentences of similar length, with limits on tokens and sentences per batch.

A collated batch is a mapping of arrays. With B sentences, T tokens in the longest, U distinct forms:

    lengths (B)      mask (B, T)      words (B, T)      forms (B, T)      tags (B, T)
    chars (U, C)     char_lengths (U)           characters of each distinct form, which forms indexes
    external (B, T, D)       with external vectors: that of each token, 0 at padding
    domains (B)      if training files are named: the number of each sentence's domain
    pieces (W, L)    and others: the sub-words of a transformer (``gonie.features.piece_batches``)
    G.ids (F)        G.offsets (B * T + 1)      sparse features of position b * T + t, for each group G

In word and character ids, 0 is padding and 1 is unknown. Tags are -1 where there is no gold. The values of a
sentence never depend on the other sentences in the batch. A batch of texts has more arrays: see
``text_corpus``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

BLUR = 0.15  # relative noise added to lengths before sorting, so that batches differ between epochs


def cut(
    lengths: Rows,
    order: Rows,
    *,
    tokens: int,
    sentences: int,
    padding: int | None = None,
    heights: Rows | None = None,
) -> list[Rows]:
    """Split ``order`` into batches of at most ``sentences`` rows and ``tokens`` cells, including padding.

    A sentence longer than the token limit is a batch by itself. ``padding`` is the most cells of padding in a
    batch, if it is limited. For texts of several sentences, ``lengths`` is the length of the longest sentence
    of each text and ``heights`` its number of sentences. ``sentences`` then limits the number of texts.
    """
    batches, first, longest, height, filled = [], 0, 0, 0, 0
    sizes = lengths[order].tolist()
    rows = [1] * len(order) if heights is None else heights[order].tolist()
    for place, (length, own) in enumerate(zip(sizes, rows, strict=True)):
        longest_now, height_now, filled_now = max(longest, length), height + own, filled + length * own
        size, cells = place - first + 1, longest_now * height_now
        full = size > sentences or cells > tokens or (padding is not None and cells - filled_now > padding)
        if size > 1 and full:
            batches.append(order[first:place])
            first, longest_now, height_now, filled_now = place, length, own, length * own
        longest, height, filled = longest_now, height_now, filled_now
    if len(order):
        batches.append(order[first:])
    return batches


def shuffled_batches(
    lengths: Rows,
    *,
    tokens: int,
    sentences: int,
    generator: np.random.Generator,
    heights: Rows | None = None,
) -> list[Rows]:
    """Return the batches of one training epoch: similar lengths together, batches in random order."""
    blurred = lengths * generator.uniform(1 - BLUR, 1 + BLUR, len(lengths)) + generator.random(len(lengths))
    order = np.argsort(blurred, kind="stable")
    batches = cut(lengths, order, tokens=tokens, sentences=sentences, heights=heights)
    return [batches[i] for i in generator.permutation(len(batches))]


def mixed_batches(
    lengths: Rows,
    *,
    tokens: int,
    sentences: int,
    generator: np.random.Generator,
    heights: Rows | None = None,
) -> list[Rows]:
    """Return the batches of one training epoch in fully random order, for when padding costs nothing."""
    order = generator.permutation(len(lengths))
    return cut(lengths, order, tokens=tokens, sentences=sentences, heights=heights)


def sorted_batches(
    lengths: Rows,
    *,
    tokens: int,
    sentences: int,
    padding: int | None = None,
    heights: Rows | None = None,
) -> list[Rows]:
    """Return batches for prediction, longest first, so that running out of memory shows at once."""
    if len(lengths) == 1:
        return [np.zeros(1, dtype=np.int64)]
    order = np.argsort(-lengths, kind="stable")
    return cut(lengths, order, tokens=tokens, sentences=sentences, padding=padding, heights=heights)
