"""Which sentences share a batch: like lengths together, at most so many tokens and sentences.

A batch, once collated, is a mapping of arrays. With B sentences, T tokens in the longest, U distinct forms:

    lengths (B)      mask (B, T)      words (B, T)      forms (B, T)      tags (B, T)
    chars (U, C)     char_lengths (U)           characters of each distinct form; forms says which is where
    G.ids (F)        G.offsets (B * T + 1)      sparse features of position b * T + t, for each group G

Word and character ids have 0 for padding and 1 for unknown; tags have -1 where there is no gold. What a batch
gives for a sentence never depends on its company. A batch of texts has more names: ``text_corpus``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

BLUR = 0.15  # how far lengths are blurred before sorting, so that batches differ from epoch to epoch


def cut(
    lengths: Rows, order: Rows, *, tokens: int, sentences: int, heights: Rows | None = None
) -> list[Rows]:
    """Cut ``order`` into batches of at most ``sentences`` rows and ``tokens`` cells, padding counted.

    A sentence longer than the budget is a batch of its own. Where what is batched are texts of several
    sentences, ``lengths`` is that of each one's longest and ``heights`` says how many it has; ``sentences``
    then limits the texts.
    """
    batches, first, longest, height = [], 0, 0, 0
    for place, row in enumerate(order):
        own = 1 if heights is None else int(heights[row])
        longest_now, height_now = max(longest, int(lengths[row])), height + own
        size = place - first + 1
        if size > 1 and (size > sentences or longest_now * height_now > tokens):
            batches.append(order[first:place])
            first, longest_now, height_now = place, int(lengths[row]), own
        longest, height = longest_now, height_now
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
    """Batches of one training epoch: sentences of like length together, batches in random order."""
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
    """Batches of one training epoch in wholly random order: for whoever pays nothing for padding."""
    order = generator.permutation(len(lengths))
    return cut(lengths, order, tokens=tokens, sentences=sentences, heights=heights)


def sorted_batches(lengths: Rows, *, tokens: int, sentences: int, heights: Rows | None = None) -> list[Rows]:
    """Batches for prediction: longest first, so that running out of memory shows at once."""
    if len(lengths) == 1:
        return [np.zeros(1, dtype=np.int64)]
    order = np.argsort(-lengths, kind="stable")
    return cut(lengths, order, tokens=tokens, sentences=sentences, heights=heights)
