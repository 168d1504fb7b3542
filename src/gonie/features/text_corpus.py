"""Encoded texts: a corpus of sentences, and the range of sentences of each text.

A batch of N texts has all arrays of a batch of their B sentences (see ``batching``). With S sentences in the
longest text, K labels and F n-grams, it also has:

    places (N, S)        index among the B sentences of sentence s of text n; 0 at padding
    places_mask (N, S)   true at sentences, right-padded
    labels (N)           the label's number, -1 if unknown; or, for multi-label texts,
    labels (N, K)        1.0 at each label that the text has
    domains (N)          if training files are named: the number of each text's domain
    bag.ids (F)          with a bag: the n-grams of text n from bag.offsets[n] to bag.offsets[n + 1]
    bag.offsets (N + 1)

The values of a text never depend on the other texts in the batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged
from gonie.features.corpus import DOMAINS, Corpus, collate

Ints = NDArray[np.int64]
Array = NDArray[Any]


class TextCorpus:
    """N encoded texts. Text i is sentences ``offsets[i]`` .. ``offsets[i + 1]``, at least one.

    ``labels`` is (N,) or (N, K), as in the module docstring. ``bag`` is the flat ids and the offsets (N + 1)
    of the n-grams, and ``domains`` (N,) the number of each text's domain. ``sizes`` is the number of tokens
    of each text. For batching, ``lengths`` is the length of its longest sentence and ``heights`` its number
    of sentences: ``batching.shuffled_batches(corpus.lengths, heights=corpus.heights, …)``.
    """

    def __init__(
        self,
        *,
        sentences: Corpus,
        offsets: Ints,
        labels: Array,
        bag: tuple[NDArray[np.int32], Ints] | None = None,
        domains: NDArray[np.integer] | None = None,
    ) -> None:
        self.domains = domains
        self.sentences = sentences
        self.offsets = offsets
        self.labels = labels
        self.bag = bag
        self.heights: Ints = np.diff(offsets)
        if len(self.heights) != len(labels) or (self.heights < 1).any() or offsets[-1] != len(sentences):
            raise ValueError(
                f"every text needs a label and at least one of the {len(sentences)} sentences: got "
                f"{len(self.heights)} texts, {len(labels)} labels, sentences per text {self.heights}"
            )
        none = np.zeros(0, dtype=np.int64)
        lengths = sentences.lengths
        self.lengths: Ints = np.maximum.reduceat(lengths, offsets[:-1]) if len(labels) else none
        self.sizes: Ints = np.add.reduceat(lengths, offsets[:-1]) if len(labels) else none

    def __len__(self) -> int:
        return len(self.heights)

    @property
    def tokens(self) -> int:
        """The total number of tokens."""
        return self.sentences.tokens

    def with_sentences(self, sentences: Corpus) -> TextCorpus:
        """Return the same texts with another corpus of their sentences, for example with added vectors."""
        return self._with(sentences=sentences)

    def with_labels(self, labels: Array) -> TextCorpus:
        """Return the same texts with other labels (N,) or (N, K)."""
        return self._with(labels=labels)

    def with_domains(self, domains: NDArray[np.integer] | None) -> TextCorpus:
        """Return the same texts with the number of the domain of each (N,)."""
        return self._with(domains=domains)

    def _with(self, **changes: Any) -> TextCorpus:
        names = ("sentences", "offsets", "labels", "bag", "domains")
        return TextCorpus(**{**{name: getattr(self, name) for name in names}, **changes})

    def batch(self, rows: Ints) -> dict[str, Array]:
        """Return the padded batch of the texts ``rows``, in that order."""
        return collate_texts(self, rows)


def collate_texts(corpus: TextCorpus, rows: Ints) -> dict[str, Array]:
    """Return the padded batch of the texts ``rows``, in that order.

    The names and shapes are in the module docstring.
    """
    heights = corpus.heights[rows]
    own = ragged.positions(corpus.offsets[rows], heights)  # (B,)
    batch = collate(corpus.sentences, own)
    batch["places"] = ragged.pad(np.arange(len(own)), heights, fill=0)  # (N, S)
    batch["places_mask"] = np.arange(batch["places"].shape[1]) < heights[:, None]  # (N, S)
    batch["labels"] = corpus.labels[rows]
    if corpus.domains is not None:
        batch[DOMAINS] = corpus.domains[rows].astype(np.int64)
    if corpus.bag is not None:
        ids, offsets = corpus.bag
        counts = offsets[rows + 1] - offsets[rows]
        batch["bag.ids"] = ids[ragged.positions(offsets[rows], counts)].astype(np.int64)  # (F,)
        batch["bag.offsets"] = ragged.offsets(counts)  # (N + 1,)
    return batch
