"""A tagger: embeddings, an encoder, and named heads over the states it gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Embedding, Encoder, Head, as_modules
from gonie.tasks.torch.matrices import squared_norm

TAGS = "tags"


class TaggingNetwork(nn.Module):
    """embeddings -> encoder -> head, the whole family of Huang, Xu & Yu 2015 (arXiv:1508.01991).

    ``embed``, ``encode`` and ``score`` are seams: whatever lies between two of them can be changed, cached or
    differentiated on its own. A batch is a mapping of tensors whose names ``gonie.features.batching`` lists.

    Args:
        embedding: batch -> (B, T, D)
        encoder: (B, T, D), mask (B, T) -> (B, T, H)
        heads: scores and losses over the states, by name; ``tags`` is the one that is trained.
        word_dropout: on whole token vectors, before ``input_dropout``.
        input_dropout: on the encoder's input.
        output_dropout: on the encoder's output.
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: Encoder,
        heads: Mapping[str, Head],
        word_dropout: nn.Module,
        input_dropout: nn.Module,
        output_dropout: nn.Module,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.encoder = encoder
        self.heads = nn.ModuleDict(dict(zip(heads, as_modules(heads.values()), strict=True)))
        self.word_dropout = word_dropout
        self.input_dropout = input_dropout
        self.output_dropout = output_dropout

    def head(self, name: str = TAGS) -> Head:
        """The head called ``name``."""
        if name not in self.heads:
            raise InputError(f"expected a head among {', '.join(self.heads)}, got {name!r}")
        return cast("Head", self.heads[name])

    def embed(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Vectors of the tokens, (B, T, D)."""
        vectors: Tensor = self.input_dropout(self.word_dropout(self.embedding(batch)))
        return vectors

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """States of the encoder over ``vectors`` (B, T, D) under ``mask`` (B, T): (B, T, H)."""
        states: Tensor = self.output_dropout(self.encoder(vectors, mask))
        return states

    def score(self, states: Tensor, batch: Mapping[str, Tensor], head: str = TAGS) -> Tensor:
        """Scores of each tag for each token, (B, T, K), from ``states`` (B, T, H) and direct features."""
        return self.head(head).score(states, batch)

    def forward(self, batch: Mapping[str, Tensor], head: str = TAGS) -> Tensor:
        """Scores of a batch, (B, T, K)."""
        return self.score(self.encode(self.embed(batch), batch["mask"]), batch, head)

    def squares(self) -> Tensor:
        """‖W‖² of all matrices of encoder and heads. Shape: ()."""
        return squared_norm([cast("nn.Module", self.encoder), self.heads])

    def loss(self, batch: Mapping[str, Tensor], head: str = TAGS) -> Tensor:
        """The head's loss on a batch with gold ``tags``: a scalar, the mean over its sentences."""
        return self.head(head).loss(self(batch, head), batch)
