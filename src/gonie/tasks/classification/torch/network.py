"""The network of a classifier: embeddings, one or two levels of encoder and pooling, and named heads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple, cast

from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Embedding, Encoder, Pooling, TextHead, as_modules
from gonie.tasks.torch.layers import encoder_layers
from gonie.tasks.torch.matrices import squared_norm

LABEL = "label"


class Pooled(NamedTuple):
    """The vectors and weights of N texts of up to S sentences. All B sentences have up to T tokens."""

    vectors: Tensor
    """(N, P), one for each text."""
    words: Tensor
    """(B, T): the weight of each token in its sentence's vector, 0 at padding."""
    sentences: Tensor
    """(N, S): the weight of each sentence in its text's vector, 0 at padding."""


class Level(nn.Module):
    """An encoder and a pooling of its states, which map a sequence of vectors to one vector.

    Dropout is applied to the input and output of the encoder. Shape: (B, T, D) -> (B, P) and weights (B, T).
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
                f"expected a pooling of states of width {encoder.width}, the output of the encoder, "
                f"got {pooling.input_width}"
            )
        self.input_width = encoder.input_width
        self.width = pooling.width
        self.encoder = encoder
        self.pooling = pooling
        self.input_dropout = input_dropout or nn.Identity()
        self.output_dropout = output_dropout or nn.Identity()
        as_modules([encoder, pooling])

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the weight of each position."""
        states = self.output_dropout(self.encoder(self.input_dropout(x), mask))
        vectors, weights = self.pooling(states, mask)
        return vectors, weights


class TextNetwork(nn.Module, ABC):
    """Base of the networks that compute one vector per text. Subclasses set the parts and define ``pool``.

    ``embed``, ``pool`` and ``score`` are separate steps, whose inputs can be changed, cached or
    differentiated. ``gonie.features.text_corpus`` lists the arrays of a batch.
    """

    embedding: Embedding
    heads: nn.ModuleDict
    word_dropout: nn.Module

    def head(self, name: str = LABEL) -> TextHead:
        """Return the head ``name``."""
        if name not in self.heads:
            raise InputError(f"no such head: {name!r}", fix=f"Use one of {', '.join(self.heads)}")
        return cast("TextHead", self.heads[name])

    def embed(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the vectors of the tokens, (B, T, D)."""
        vectors: Tensor = self.word_dropout(self.embedding(batch))
        return vectors

    @abstractmethod
    def layers(self) -> dict[str, nn.Module]:
        """Return the layers from the bottom to the top, by name."""

    @abstractmethod
    def pool(self, vectors: Tensor, batch: Mapping[str, Tensor]) -> Pooled:
        """Return the vectors of the texts, from those of their tokens (B, T, D)."""

    def score(self, vectors: Tensor, batch: Mapping[str, Tensor], head: str = LABEL) -> Tensor:
        """Return the scores of the labels, (N, K), from ``vectors`` (N, P) and direct n-grams."""
        return self.head(head).score(vectors, batch)

    def states(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the vectors of the texts, which the heads read, (N, P)."""
        return self.states_of(self.embed(batch), batch)

    def states_of(self, vectors: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the vectors of the texts, (N, P), from those of their tokens (B, T, D)."""
        return self.pool(vectors, batch).vectors

    def forward(self, batch: Mapping[str, Tensor], head: str = LABEL) -> Tensor:
        """Return the scores of a batch, (N, K)."""
        return self.score(self.states(batch), batch, head)

    def loss(self, batch: Mapping[str, Tensor], head: str = LABEL) -> Tensor:
        """Return the head's loss on a batch with gold ``labels``, mean over its texts. Shape: ()."""
        return self.loss_of(self.states(batch), batch, head)

    def loss_of(self, states: Tensor, batch: Mapping[str, Tensor], head: str = LABEL) -> Tensor:
        """Return the head's loss, given the ``states`` (N, P) of the batch. Shape: ()."""
        return self.head(head).loss(self.score(states, batch, head), batch)


class ClassifyingNetwork(TextNetwork):
    """embeddings -> encoder -> pooling -> head: Yang et al. 2016, "Hierarchical Attention Networks".

    ``words`` encodes the tokens of a sentence. ``sentences``, if there is one, encodes the sentences of a
    text in the same way, so there is attention at both levels. Without it, a text is one sentence. All
    sentences of a batch are encoded together.

    Args:
        embedding: batch -> (B, T, D)
        words: (B, T, D) -> (B, P)
        sentences: (N, S, P) -> (N, Q), or None
        heads: scores and losses over the vectors of texts, by name; ``label`` is trained.
        word_dropout: dropout of whole token vectors.
        dropout: dropout on the vectors of texts.
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
                f"expected an upper level of input width {words.width}, the output of the lower level, "
                f"got {sentences.input_width}"
            )
        self.embedding = embedding
        self.words = words
        self.sentences = sentences
        self.heads = nn.ModuleDict(dict(zip(heads, as_modules(heads.values()), strict=True)))
        self.word_dropout = word_dropout
        self.dropout = dropout

    def pool(self, vectors: Tensor, batch: Mapping[str, Tensor]) -> Pooled:
        """Return the vectors of the texts from those of their tokens (B, T, D)."""
        rows, words = self.words(vectors, batch["mask"])  # (B, P), (B, T)
        places, mask = batch["places"], batch["places_mask"]  # (N, S), (N, S)
        below = rows[places]  # (N, S, P)
        if self.sentences is None:
            return Pooled(self.dropout(below[:, 0]), words, mask.to(rows.dtype))
        pooled, sentences = self.sentences(below, mask)
        return Pooled(self.dropout(pooled), words, sentences)

    def layers(self) -> dict[str, nn.Module]:
        """Return the layers from the bottom to the top, by name."""
        embedding, pooling = as_modules([self.embedding, self.words.pooling])
        upper = {} if self.sentences is None else {"sentences": self.sentences}
        below = {"embedding": embedding, **encoder_layers(self.words.encoder), "pooling": pooling}
        return {**below, **upper, "head": self.heads}

    def squares(self) -> Tensor:
        """Return ‖W‖² of all matrices except those of the embedding. Shape: ()."""
        upper = [] if self.sentences is None else [self.sentences]
        return squared_norm([self.words, *upper, self.heads])
