"""Retrieved shots: the labelled examples that are most similar to a text.

The similarity is BM25 (Robertson & Zaragoza 2009) over words and over runs of two to four characters, so that
Korean words with other particles are similar, too. It is deterministic and needs no model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.features.ngrams import NGramBag, NGrams
from gonie.in_context.examples import Example

GRAMS = NGrams(chars=(2, 4), words=(1, 1), fold=True)
K1, B = 1.2, 0.75
"""How fast repeated n-grams count less, and how much the length of a text matters."""
DECIMALS = 9
"""Decimal places of a similarity. Examples that are equally similar are ranked by their order in the file."""


class ShotFinder:
    """Finds the examples that are most similar to a text."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        self._bag = NGramBag.fit([example.text for example in examples], ngrams=GRAMS)
        flat, offsets = self._bag.encode(example.text for example in examples)
        rows = np.repeat(np.arange(len(examples)), np.diff(offsets))
        size = len(self._bag.vocabulary)
        pairs, times = np.unique(flat.astype(np.int64) * len(examples) + rows, return_counts=True)
        grams, self._rows = np.divmod(pairs, max(len(examples), 1))
        frequency = np.bincount(grams, minlength=size)
        self._starts = np.concatenate([[0], np.cumsum(frequency)])
        rarity = np.log1p((len(examples) - frequency + 0.5) / (frequency + 0.5))
        lengths = np.diff(offsets)
        relative = lengths / max(lengths.mean(), 1.0) if len(examples) else lengths
        slower = K1 * (1 - B + B * relative[self._rows])
        self._weights = rarity[grams] * times * (K1 + 1) / (times + slower)

    def similarities(self, text: str) -> NDArray[np.float64]:
        """Return the similarity of each example to a text: (N,)."""
        flat, _ = self._bag.encode([text])
        scores = np.zeros(len(self.examples))
        for gram in np.unique(flat).tolist():
            own = slice(self._starts[gram], self._starts[gram + 1])
            scores[self._rows[own]] += self._weights[own]
        return scores

    def nearest(self, text: str, number: int, labels: Collection[str] = ()) -> list[Example]:
        """Return the most similar examples, the most similar last, so that it is next to the text.

        The text itself is never among them. Each of ``labels`` that has an example has one among them, if
        ``number`` is at least the number of labels.
        """
        if number == 0 or not self.examples:
            return []
        ranked = np.argsort(-np.round(self.similarities(text), DECIMALS), kind="stable").tolist()
        bare = text.strip()
        others = (self.examples[at] for at in ranked if self.examples[at].text.strip() != bare)
        return covering(others, number, self._known(labels))[::-1]

    def _known(self, labels: Collection[str]) -> set[str]:
        return set(labels) & {name for example in self.examples for name in example.names()}


def covering(ranked: Iterable[Example], number: int, labels: Collection[str]) -> list[Example]:
    """Return the first examples such that all labels occur, if their number allows it.

    An example is taken if it has a label that is still missing, or if more places are left than labels.
    """
    chosen: list[Example] = []
    passed: list[Example] = []
    missing = set(labels)
    for example in ranked:
        if len(chosen) == number:
            break
        if number - len(chosen) > len(missing) or example.names() & missing:
            chosen.append(example)
            missing -= example.names()
        else:
            passed.append(example)
    return chosen + passed[: number - len(chosen)]
