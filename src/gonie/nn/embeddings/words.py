"""A learned vector for each word of the vocabulary, and pretrained ones as they are for words outside it."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.dropout import checked_rate
from gonie.nn.initial import embedding_
from gonie.nn.protocols import Batch

UNKNOWN = 1


class WordEmbedding(nn.Module):
    """x[b, t] = the vector of word id ``words[b, t]``, from a learned or a fixed table.

    The parameter ``weight`` (size, width) holds the learned vectors: row 0 is padding (zero, and kept so),
    row 1 the unknown word, the rest start uniform on ±sqrt(3 / D) or where ``assign`` puts them. The buffer
    ``fixed`` (fixed, width) holds pretrained vectors that are not trained. ``rows`` (V,), V = size + fixed,
    says where each word id lies: r < size is row r of ``weight``, else row r - size of ``fixed``; without
    it, id and row are the same.

    In training, a word flagged in ``singletons`` (V,) bool becomes unknown with probability
    ``singleton_rate``, so that the unknown word's row is learned from words seen once (Lample et al. 2016,
    arXiv:1603.01360, §4.1). ``tuned=False`` keeps ``weight`` as it is.

    Shape: (B, T, width).
    """

    fixed: Tensor | None
    rows: Tensor | None
    singletons: Tensor | None

    def __init__(
        self,
        *,
        size: int,
        width: int,
        fixed: int = 0,
        rows: Tensor | None = None,
        tuned: bool = True,
        singletons: Tensor | None = None,
        singleton_rate: float = 0.0,
    ) -> None:
        super().__init__()
        _check(rows, "rows", size + fixed, torch.int64)
        _check(singletons, "singletons", size + fixed, torch.bool)
        self.width = width
        self.singleton_rate = checked_rate(singleton_rate)
        self.weight = nn.Parameter(embedding_(torch.empty(size, width)), requires_grad=tuned)
        self.register_buffer("fixed", torch.zeros(fixed, width) if fixed else None)
        self.register_buffer("rows", rows)
        # Known from the vocabulary's counts, so no part of what is saved.
        self.register_buffer("singletons", singletons, persistent=False)

    @torch.no_grad()
    def assign(self, vectors: Tensor) -> None:
        """Puts in every word's vector, learned or fixed. Shape: ``vectors`` (V, width), by word id."""
        size = self.weight.shape[0]
        table = torch.empty_like(vectors)
        table[slice(None) if self.rows is None else self.rows] = vectors
        self.weight.copy_(table[:size])
        if self.fixed is not None:
            self.fixed.copy_(table[size:])

    @torch.no_grad()
    def table(self) -> Tensor:
        """Every word's vector, by word id. Shape: (V, width)."""
        table = self.weight if self.fixed is None else torch.cat([self.weight, self.fixed])
        return table if self.rows is None else table[self.rows]

    def forward(self, batch: Batch) -> Tensor:
        """The words' vectors."""
        rows = self.find_rows(batch["words"])
        if self.fixed is None:
            return F.embedding(rows, self.weight, padding_idx=0)
        return self._look_up_both(rows, self.fixed)

    def find_rows(self, words: Tensor) -> Tensor:
        """Where the words' vectors lie; in training some words seen once are unknown. Shape: (B, T)."""
        words = self._hide_singletons(words) if self.training else words
        return words if self.rows is None else self.rows[words]

    def _hide_singletons(self, words: Tensor) -> Tensor:
        """Training words (B, T) with some of those seen once made unknown."""
        if self.singletons is None or self.singleton_rate == 0.0:
            return words
        drawn = torch.rand(words.shape, device=words.device) < self.singleton_rate
        return words.masked_fill(self.singletons[words] & drawn, UNKNOWN)

    def _look_up_both(self, rows: Tensor, fixed: Tensor) -> Tensor:
        """Rows of either table, without ever joining the two: ``fixed`` may be far the larger."""
        size = self.weight.shape[0]
        learned = F.embedding(rows.where(rows < size, 0), self.weight, padding_idx=0)  # (B, T, D)
        pretrained = F.embedding((rows - size).clamp(min=0), fixed)  # (B, T, D)
        return torch.where((rows < size).unsqueeze(2), learned, pretrained)

    def extra_repr(self) -> str:
        """The tables' shapes."""
        fixed = 0 if self.fixed is None else self.fixed.shape[0]
        return f"{self.weight.shape[0]}, {self.width}, fixed={fixed}, tuned={self.weight.requires_grad}"


def _check(tensor: Tensor | None, name: str, size: int, kind: torch.dtype) -> None:
    """Refuses what is not one value of its kind for each word id."""
    if tensor is not None and (tensor.shape != (size,) or tensor.dtype != kind):
        raise InputError(
            expected=f"{name} as {kind} of shape ({size},)",
            got=f"{tensor.dtype} of shape {tuple(tensor.shape)}",
        )
