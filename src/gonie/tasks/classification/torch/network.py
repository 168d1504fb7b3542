"""A classifier: embeddings, one or two levels of encoder and pooling, named heads over a text as a vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Embedding, Encoder, Pooling, TextHead, as_modules
from gonie.tasks.torch.matrices import squared_norm

LABEL = "label"


class Pooled(NamedTuple):
    """What became of a batch of N texts of at most S sentences, B sentences in all of at most T tokens."""

    vectors: Tensor
    """(N, P), one for each text."""
    words: Tensor
    """(B, T): the share of each token in its sentence's vector, 0 at padding."""
    sentences: Tensor
    """(N, S): the share of each sentence in its text's vector, 0 at padding."""


class Level(nn.Module):
    """An encoder and a pooling over its states: a sequence of vectors becomes one.

    Dropout is on what the encoder reads and on what it gives. Shape: (B, T, D) -> (B, P) and weights (B, T).
    """

    def __init__(
        self,
        *,
        encoder: Encoder,
        pooling: Pooling,
        input_dropout: nn.Module | None = None,
        output_dropout: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if encoder.width != pooling.input_width:
            raise InputError(
                f"expected a pooling over states of width {encoder.width}, which the encoder gives, "
                f"got one over {pooling.input_width}"
            )
        self.input_width = encoder.input_width
        self.width = pooling.width
        self.encoder = encoder
        self.pooling = pooling
        self.input_dropout = input_dropout or nn.Identity()
        self.output_dropout = output_dropout or nn.Identity()
        as_modules([encoder, pooling])

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors, and the share of each position in its row's."""
        states = self.output_dropout(self.encoder(self.input_dropout(x), mask))
        vectors, weights = self.pooling(states, mask)
        return vectors, weights


class TextNetwork(nn.Module):
    """What every network with one vector for a text has in common; ``pool`` and the parts are its own.

    ``embed``, ``pool`` and ``score`` are seams: what lies between two of them can be changed, cached or
    differentiated on its own. The names of a batch are in ``gonie.features.text_corpus``.
    """

    embedding: Embedding
    heads: nn.ModuleDict
    word_dropout: nn.Module

    def head(self, name: str = LABEL) -> TextHead:
        """The head called ``name``."""
        if name not in self.heads:
            raise InputError(f"expected a head among {', '.join(self.heads)}, got {name!r}")
        return cast("TextHead", self.heads[name])

    def embed(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Vectors of the tokens, (B, T, D)."""
        vectors: Tensor = self.word_dropout(self.embedding(batch))
        return vectors

    def pool(self, vectors: Tensor, batch: Mapping[str, Tensor]) -> Pooled:
        """The vectors of the texts from those of their tokens (B, T, D)."""
        raise NotImplementedError

    def score(self, vectors: Tensor, batch: Mapping[str, Tensor], head: str = LABEL) -> Tensor:
        """Scores of each label for each text, (N, K), from ``vectors`` (N, P) and direct n-grams."""
        return self.head(head).score(vectors, batch)

    def forward(self, batch: Mapping[str, Tensor], head: str = LABEL) -> Tensor:
        """Scores of a batch, (N, K)."""
        return self.score(self.pool(self.embed(batch), batch).vectors, batch, head)

    def loss(self, batch: Mapping[str, Tensor], head: str = LABEL) -> Tensor:
        """The head's loss on a batch with gold ``labels``: a scalar, the mean over its texts."""
        return self.head(head).loss(self(batch, head), batch)


class ClassifyingNetwork(TextNetwork):
    """embeddings -> encoder -> pooling -> head: Yang et al. 2016, "Hierarchical Attention Networks".

    ``words`` reads the tokens of a sentence. ``sentences``, where there is one, reads the sentences of a text
    in the same way, so that attention is paid at both levels; without it a text is one sentence. All
    sentences of a batch are read at once, whoever's they are.

    Args:
        embedding: batch -> (B, T, D)
        words: (B, T, D) -> (B, P)
        sentences: (N, S, P) -> (N, Q), or none
        heads: scores and losses over the vectors of texts, by name; ``label`` is the one that is trained.
        word_dropout: on whole token vectors.
        dropout: on the vectors of texts.
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        words: Level,
        sentences: Level | None,
        heads: Mapping[str, TextHead],
        word_dropout: nn.Module,
        dropout: nn.Module,
    ) -> None:
        super().__init__()
        if sentences is not None and sentences.input_width != words.width:
            raise InputError(
                f"expected an upper level that reads width {words.width}, which the lower one gives, "
                f"got {sentences.input_width}"
            )
        self.embedding = embedding
        self.words = words
        self.sentences = sentences
        self.heads = nn.ModuleDict(dict(zip(heads, as_modules(heads.values()), strict=True)))
        self.word_dropout = word_dropout
        self.dropout = dropout

    def pool(self, vectors: Tensor, batch: Mapping[str, Tensor]) -> Pooled:
        """The vectors of the texts from those of their tokens (B, T, D)."""
        rows, words = self.words(vectors, batch["mask"])  # (B, P), (B, T)
        places, mask = batch["places"], batch["places_mask"]  # (N, S), (N, S)
        below = rows[places]  # (N, S, P)
        if self.sentences is None:
            return Pooled(self.dropout(below[:, 0]), words, mask.to(rows.dtype))
        pooled, sentences = self.sentences(below, mask)
        return Pooled(self.dropout(pooled), words, sentences)

    def squares(self) -> Tensor:
        """‖W‖² of all matrices but those of the embedding. Shape: ()."""
        upper = [] if self.sentences is None else [self.sentences]
        return squared_norm([self.words, *upper, self.heads])
