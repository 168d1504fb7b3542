"""The network of a tagger: embeddings, an encoder, and named heads over its states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Embedding, Encoder, Head, as_modules
from gonie.tasks.tagging.recipe import MAIN_HEAD
from gonie.tasks.torch.layers import encoder_layers, lower_encoder
from gonie.tasks.torch.matrices import squared_norm

TAGS = MAIN_HEAD


class TaggingNetwork(nn.Module):
    """embeddings -> encoder -> head: the models of Huang, Xu & Yu 2015 (arXiv:1508.01991).

    ``embed``, ``encode`` and ``score`` are separate steps, whose inputs can be changed, cached or
    differentiated. ``gonie.features.batching`` lists the arrays of a batch.

    Args:
        embedding: batch -> (B, T, D)
        encoder: (B, T, D), mask (B, T) -> (B, T, H)
        heads: scores and losses over the states, by name; ``tags`` is the main one, others are auxiliary.
        word_dropout: dropout of whole token vectors, before ``input_dropout``.
        input_dropout: dropout on the encoder's input.
        output_dropout: dropout on the encoder's output.
        layers: the layer of the encoder that a head reads, from 1 at the bottom, unless it is the top one.
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
        layers: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.encoder = encoder
        self.heads = nn.ModuleDict(dict(zip(heads, as_modules(heads.values()), strict=True)))
        self.word_dropout = word_dropout
        self.input_dropout = input_dropout
        self.output_dropout = output_dropout
        self._layers = dict(layers or {})

    def head(self, name: str = TAGS) -> Head:
        """Return the head ``name``."""
        if name not in self.heads:
            raise InputError(f"no such head: {name!r}", fix=f"Use one of {', '.join(self.heads)}")
        return cast("Head", self.heads[name])

    def branch(self, name: str) -> TaggingNetwork:
        """Return the tagger of one head, which shares its parts: the layers it reads, and itself as ``tags``.

        To train or run it is to train or run this network.
        """
        return self.up_to(self._layers.get(name), {TAGS: self.head(name)})

    def up_to(self, layer: int | None, heads: Mapping[str, Head]) -> TaggingNetwork:
        """Return a network of the embeddings and the encoder up to a layer, which shares its parts."""
        lower = TaggingNetwork(
            embedding=self.embedding,
            encoder=lower_encoder(self.encoder, layer),
            heads=heads,
            word_dropout=self.word_dropout,
            input_dropout=self.input_dropout,
            output_dropout=self.output_dropout,
        )
        return lower.train(self.training)

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **options: Any) -> Any:
        """Load weights. Those of heads that this network does not have are left out.

        So a tagger can be loaded without the auxiliary heads that it was trained with.
        """
        own = {
            name: tensor
            for name, tensor in state_dict.items()
            if not name.startswith("heads.") or name.split(".")[1] in self.heads
        }
        return super().load_state_dict(own, *args, **options)

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
