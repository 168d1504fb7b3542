"""Substitutes that a language model proposes: training words that occur in similar contexts.

The shipped models have no softmax, so they do not predict words. Their states compare words instead: two
words are similar if the states of the model are, where each stands in its own sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.tasks.language_model.torch.embedder import Embedder, Layers
from gonie.tasks.language_model.torch.folder import SavedBilm
from gonie.text.augment.pieces import WordPiece, put_together, take_apart
from gonie.text.augment.table import Fit
from gonie.text.augment.where import changeable
from gonie.text.types import Sentence

NEAREST = 10
"""The number of candidates, one of which is drawn."""
MOST = 5_000
"""Maximum number of training words that are compared. Of a larger file, a sample of sentences is."""
BLOCK = 256
"""Sentences whose vectors are computed at once, because most are needed one after the other."""


class _Known(NamedTuple):
    """The training words with one tag, by row."""

    pieces: list[WordPiece]
    forms: NDArray[np.int64]
    """(N,)"""
    vectors: NDArray[np.float32]
    """(N, D)"""


class Substitutes:
    """Replaces words, each with the probability ``rate`` of the fit, by one of the nearest training words.

    A candidate has the same tag and another form. Near is the cosine of the states of the two words, averaged
    over the layers that see the context. Words without a letter stay. Calls take sentences of the fit.
    """

    def __init__(self, fit: Fit, saved: SavedBilm, *, seed: int) -> None:
        self._embedder = Embedder(saved)
        self._fit = fit
        self._sentences = fit.sentences
        self._places = {id(sentence): place for place, sentence in enumerate(fit.sentences)}
        self._block: tuple[int, list[NDArray[np.float32]]] = (-1, [])
        self._forms: dict[str, int] = {}
        self._known = self._compared(seed)

    def _compared(self, seed: int) -> dict[str, _Known]:
        """Return the training words of each tag that are compared."""
        order = np.random.default_rng([seed, 6]).permutation(len(self._sentences))
        sizes = np.cumsum([len(self._sentences[place]) for place in order])
        used = [self._sentences[place] for place in order[: int(np.searchsorted(sizes, MOST)) + 1]]
        pieces: dict[str, list[WordPiece]] = {}
        vectors: dict[str, list[NDArray[np.float32]]] = {}
        for sentence, layers in zip(used, self._embedder.layers([each.words for each in used]), strict=True):
            own, tags, found = take_apart(sentence), sentence.tags or (), _unit_vectors(layers)
            for place in np.flatnonzero(self._changeable(sentence)):
                pieces.setdefault(tags[place], []).append(own[place])
                vectors.setdefault(tags[place], []).append(found[place])
        return {
            tag: _Known(own, np.array([self._form(piece) for piece in own]), np.stack(vectors[tag]))
            for tag, own in pieces.items()
        }

    def __call__(self, sentence: Sentence, generator: np.random.Generator) -> Sentence | None:
        """Return the sentence with other words, or None if none is replaced."""
        tags = sentence.tags or ()
        pieces = take_apart(sentence)
        chosen = generator.random(len(pieces)) < self._fit.rate
        for place in np.flatnonzero(chosen & self._changeable(sentence)):
            known = self._known.get(tags[place])
            if known is None:
                continue
            similar = known.vectors @ self._vectors(sentence)[place]  # (N,)
            similar[known.forms == self._form(pieces[place])] = -np.inf
            nearest = np.argsort(-similar, kind="stable")[:NEAREST]
            nearest = nearest[np.isfinite(similar[nearest])]
            if len(nearest):
                drawn = known.pieces[nearest[generator.integers(len(nearest))]]
                pieces[place] = drawn.in_place_of(pieces[place])
        return put_together(pieces, tags, sentence)

    def _changeable(self, sentence: Sentence) -> NDArray[np.bool_]:
        letters = np.array([any(map(str.isalpha, word)) for word in sentence.words], bool)
        return letters & changeable(sentence.tags or (), self._fit.where, self._fit.scheme)

    def _form(self, piece: WordPiece) -> int:
        """Return the number of a word's form, in which case is ignored."""
        return self._forms.setdefault(piece.word.lower(), len(self._forms))

    def _vectors(self, sentence: Sentence) -> NDArray[np.float32]:
        """Return the vectors of a sentence (T, D)."""
        block, row = divmod(self._places[id(sentence)], BLOCK)
        if self._block[0] != block:
            own = self._sentences[block * BLOCK : (block + 1) * BLOCK]
            self._block = (block, [*map(_unit_vectors, self._embedder.layers([each.words for each in own]))])
        return self._block[1][row]


def _unit_vectors(layers: Layers) -> NDArray[np.float32]:
    """Return vectors (T, L·2P) whose products are the mean cosine over the layers that see the context."""
    upper = layers[1:]
    units = upper / np.maximum(np.linalg.norm(upper, axis=-1, keepdims=True), 1e-9)
    joined = np.concatenate(list(units), axis=-1)
    return np.asarray(joined / np.sqrt(len(units)), dtype=np.float32)
