"""The network of a tagger: embeddings, an encoder, and named heads over its states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Embedding, Encoder, Head, as_modules
from gonie.tasks.torch.layers import encoder_layers
from gonie.tasks.torch.matrices import squared_norm

TAGS = "tags"


class TaggingNetwork(nn.Module):
    """embeddings -> encoder -> head: the models of Huang, Xu & Yu 2015 (arXiv:1508.01991).

    ``embed``, ``encode`` and ``score`` are separate steps, whose inputs can be changed, cached or
    differentiated. ``gonie.features.batching`` lists the arrays of a batch.

    Args:
        embedding: batch -> (B, T, D)
        encoder: (B, T, D), mask (B, T) -> (B, T, H)
        heads: scores and losses over the states, by name; ``tags`` is trained.
        word_dropout: dropout of whole token vectors, before ``input_dropout``.
        input_dropout: dropout on the encoder's input.
        output_dropout: dropout on the encoder's output.
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
        """Return the head ``name``."""
        if name not in self.heads:
            raise InputError(f"no such head: {name!r}", fix=f"Use one of {', '.join(self.heads)}")
        return cast("Head", self.heads[name])

    def layers(self) -> dict[str, nn.Module]:
        """Return the layers from the bottom to the top, by name."""
        embedding, *_ = as_modules([self.embedding])
        return {"embedding": embedding, **encoder_layers(self.encoder), "head": self.heads}

    def embed(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the vectors of the tokens, (B, T, D)."""
        vectors: Tensor = self.input_dropout(self.word_dropout(self.embedding(batch)))
        return vectors

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Return the states of the encoder over ``vectors`` (B, T, D) with ``mask`` (B, T): (B, T, H)."""
        states: Tensor = self.output_dropout(self.encoder(vectors, mask))
        return states

    def score(self, states: Tensor, batch: Mapping[str, Tensor], head: str = TAGS) -> Tensor:
        """Return the scores of the tags, (B, T, K), from ``states`` (B, T, H) and direct features."""
        return self.head(head).score(states, batch)

    def states(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the states that the heads read, (B, T, H)."""
        return self.states_of(self.embed(batch), batch)

    def states_of(self, vectors: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the states that the heads read, (B, T, H), from the vectors of the tokens (B, T, D)."""
        return self.encode(vectors, batch["mask"])

    def forward(self, batch: Mapping[str, Tensor], head: str = TAGS) -> Tensor:
        """Return the scores of a batch, (B, T, K)."""
        return self.score(self.states(batch), batch, head)

    def squares(self) -> Tensor:
        """Return ‖W‖² of all matrices of encoder and heads. Shape: ()."""
        return squared_norm([cast("nn.Module", self.encoder), self.heads])

    def loss(self, batch: Mapping[str, Tensor], head: str = TAGS) -> Tensor:
        """Return the head's loss on a batch with gold ``tags``, mean over its sentences. Shape: ()."""
        return self.loss_of(self.states(batch), batch, head)

    def loss_of(self, states: Tensor, batch: Mapping[str, Tensor], head: str = TAGS) -> Tensor:
        """Return the head's loss, given the ``states`` (B, T, H) of the batch. Shape: ()."""
        return self.head(head).loss(self.score(states, batch, head), batch)
