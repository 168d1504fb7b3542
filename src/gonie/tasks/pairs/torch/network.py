"""The network of a pair model: embeddings, one encoder for both texts, a matching, and named heads."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.matching import Matching, PairDropout, Projection
from gonie.nn.protocols import Embedding, Encoder, TextHead, as_modules
from gonie.tasks.classification.torch.network import Pooled, TextNetwork
from gonie.tasks.torch.layers import encoder_layers
from gonie.tasks.torch.matrices import squared_norm


class PairNetwork(TextNetwork):
    """embeddings -> encoder -> matching -> hidden layer -> head, the first two the same for both texts.

    With ``AlignedMatching`` it is ESIM (Chen et al. 2017, arXiv:1609.06038), with ``PooledMatching`` a
    siamese network (Conneau et al. 2017, arXiv:1705.02364). Each row of a batch is one text.
    ``places`` (N, 2) gives the rows of the first and the second text of each pair. A row belongs to one pair.

    Args:
        embedding: batch -> (B, T, D)
        encoder: (B, T, D) -> (B, T, H)
        matching: (N, T, H), (N, T, H) -> (N, P)
        hidden: (N, P) -> (N, H), the hidden layer below the heads, or none
        heads: scores and losses over the vectors of pairs, by name; ``label`` is the one that is trained.
        word_dropout: on whole token vectors.
        input_dropout: on what the encoder reads.
        output_dropout: on what the encoder gives.
        dropout: on the vectors of pairs, before and after the hidden layer.
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: Encoder,
        matching: Matching,
        hidden: Projection | None,
        heads: Mapping[str, TextHead],
        word_dropout: nn.Module,
        input_dropout: nn.Module,
        output_dropout: nn.Module,
        dropout: nn.Module,
    ) -> None:
        super().__init__()
        if not isinstance(matching, nn.Module):
            raise InputError(f"expected a matching that is a torch module, got {type(matching).__name__}")
        _check_width("an encoder", embedding.width, encoder.input_width)
        _check_width("a matching", encoder.width, matching.input_width)
        if hidden is not None:
            _check_width("a hidden layer", matching.width, hidden.input_width)
        as_modules([embedding, encoder])
        self.embedding = embedding
        self.encoder = encoder
        self.matching = matching
        self.hidden = hidden
        self.heads = nn.ModuleDict(dict(zip(heads, as_modules(heads.values()), strict=True)))
        self.word_dropout = word_dropout
        self.input_dropout = input_dropout
        self.output_dropout = output_dropout
        self.dropout = dropout

    def pool(self, vectors: Tensor, batch: Mapping[str, Tensor]) -> Pooled:
        """Return the vectors of the pairs, and the shares of tokens, from token vectors (B, T, D)."""
        mask, places = batch["mask"], batch["places"]  # (B, T), (N, 2)
        encoded = self.encoder(_dropped(self.input_dropout, vectors, places), mask)  # (B, T, H)
        states = _dropped(self.output_dropout, encoded, places)
        first, second = places.unbind(1)  # (N,) each
        matched = self.matching(states[first], states[second], mask[first], mask[second])
        pairs = self.dropout(matched.vectors)  # (N, P)
        if self.hidden is not None:
            pairs = self.dropout(self.hidden(pairs))  # (N, H), the width of the hidden layer
        shares = torch.cat([matched.first, matched.second])  # (B, T), first texts first
        rows = torch.cat([first, second])  # (B,)
        token_shares = torch.zeros_like(shares).index_copy(0, rows, shares)
        return Pooled(pairs, token_shares, pairs.new_full(places.shape, 0.5))

    def layers(self) -> dict[str, nn.Module]:
        """Return the layers from the bottom to the top, by name."""
        embedding, *_ = as_modules([self.embedding])
        below = {"embedding": embedding, **encoder_layers(self.encoder), "matching": self.matching}
        hidden = {} if self.hidden is None else {"hidden": self.hidden}
        return {**below, **hidden, "head": self.heads}

    def squares(self) -> Tensor:
        """Return ‖W‖² of all matrices except those of the embedding. Shape: ()."""
        hidden = [] if self.hidden is None else [self.hidden]
        return squared_norm([self.encoder, self.matching, *hidden, self.heads])  # type: ignore[list-item]


def _dropped(dropout: nn.Module, x: Tensor, places: Tensor) -> Tensor:
    """Apply dropout, with one mask for both texts of a pair if it is of that kind."""
    dropped: Tensor = dropout(x, places) if isinstance(dropout, PairDropout) else dropout(x)
    return dropped


def _check_width(what: str, given: int, taken: int) -> None:
    if given != taken:
        raise InputError(f"expected {what} that takes width {given}, got one that takes {taken}")
