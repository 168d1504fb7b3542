"""Encoded texts: an ordinary corpus of sentences, and which of them are whose.

A batch of N texts has every name of a batch of their B sentences (see ``batching``), and, with S sentences in
the longest text, K labels and F n-grams:

    places (N, S)        which of the B sentences is sentence s of text n; 0 at padding
    places_mask (N, S)   true at sentences, right-padded
    labels (N)           the label's number, -1 where it is unknown; or, where texts may have several,
    labels (N, K)        1.0 at each label that the text has
    bag.ids (F)          where there is a bag: the n-grams of text n from bag.offsets[n] to bag.offsets[n + 1]
    bag.offsets (N + 1)

What a batch gives for a text never depends on its company.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged
from gonie.features.corpus import Corpus, collate

Ints = NDArray[np.int64]
Array = NDArray[Any]


class TextCorpus:
    """N encoded texts: text i is sentences ``offsets[i]`` .. ``offsets[i + 1]``, at least one of them.

    ``labels`` is (N,) or (N, K), as the module says. ``bag`` is the flat ids and the offsets (N + 1) of the
    n-grams. ``sizes`` is how many tokens each text has. For batches, ``lengths`` is its longest sentence and
    ``heights`` how many it has:
    ``batching.shuffled_batches(corpus.lengths, heights=corpus.heights, …)``.
    """

    def __init__(
        self,
        *,
        sentences: Corpus,
        offsets: Ints,
        labels: Array,
        bag: tuple[NDArray[np.int32], Ints] | None = None,
    ) -> None:
        self.sentences = sentences
        self.offsets = offsets
        self.labels = labels
        self.bag = bag
        self.heights: Ints = np.diff(offsets)
        if len(self.heights) != len(labels) or (self.heights < 1).any() or offsets[-1] != len(sentences):
            raise ValueError(
                f"expected a label and at least one of {len(sentences)} sentences for each of "
                f"{len(self.heights)} texts, got {len(labels)} labels and heights {self.heights}"
            )
        none = np.zeros(0, dtype=np.int64)
        lengths = sentences.lengths
        self.lengths: Ints = np.maximum.reduceat(lengths, offsets[:-1]) if len(labels) else none
        self.sizes: Ints = np.add.reduceat(lengths, offsets[:-1]) if len(labels) else none

    def __len__(self) -> int:
        return len(self.heights)

    @property
    def tokens(self) -> int:
        """How many tokens all texts have together."""
        return self.sentences.tokens

    def with_sentences(self, sentences: Corpus) -> TextCorpus:
        """The same texts, of whose sentences more is known."""
        return TextCorpus(sentences=sentences, offsets=self.offsets, labels=self.labels, bag=self.bag)

    def batch(self, rows: Ints) -> dict[str, Array]:
        """The padded batch of the texts ``rows``, in that order."""
        return collate_texts(self, rows)


def collate_texts(corpus: TextCorpus, rows: Ints) -> dict[str, Array]:
    """The padded batch of the texts ``rows``, in that order; the module has its names and shapes."""
    heights = corpus.heights[rows]
    own = ragged.positions(corpus.offsets[rows], heights)  # (B,)
    batch = collate(corpus.sentences, own)
    batch["places"] = ragged.pad(np.arange(len(own)), heights, fill=0)  # (N, S)
    batch["places_mask"] = np.arange(batch["places"].shape[1]) < heights[:, None]  # (N, S)
    batch["labels"] = corpus.labels[rows]
    if corpus.bag is not None:
        ids, offsets = corpus.bag
        counts = offsets[rows + 1] - offsets[rows]
        batch["bag.ids"] = ids[ragged.positions(offsets[rows], counts)].astype(np.int64)  # (F,)
        batch["bag.offsets"] = ragged.offsets(counts)  # (N + 1,)
    return batch
