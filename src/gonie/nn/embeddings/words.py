"""Word embedding: learned vectors for the vocabulary, and fixed pretrained vectors for other words."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.changes import TableChange
from gonie.nn.dropout import checked_rate
from gonie.nn.initial import embedding_
from gonie.nn.protocols import Batch

UNKNOWN = 1


class WordEmbedding(nn.Module):
    """x[b, t] = the vector of word id ``words[b, t]``, from a learned or a fixed table.

    The parameter ``weight`` (size, width) holds the learned vectors. Row 0 is padding (always zero), row 1
    the unknown word. The rest are initialised uniformly on ±sqrt(3 / D) or by ``assign``. The buffer
    ``fixed`` (fixed, width) holds pretrained vectors that are not trained. ``rows`` (V,), V = size + fixed,
    maps each word id to its row r: r < size is row r of ``weight``, otherwise row r - size of ``fixed``.
    Without ``rows``, id and row are equal.

    In training, a word flagged in ``singletons`` (V,) bool becomes unknown with probability
    ``singleton_rate``. The vector of the unknown word is thus learned from words seen once (Lample et al.
    2016, arXiv:1603.01360, §4.1). ``tuned=False`` freezes ``weight``. With ``rank``, the learned vectors are
    ``weight`` + B A, a ``TableChange``, and ``rate`` is the multiple of the learning rate for B.

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
        rank: int = 0,
        rate: float = 1.0,
    ) -> None:
        super().__init__()
        _check(rows, "rows", size + fixed, torch.int64)
        _check(singletons, "singletons", size + fixed, torch.bool)
        self.width = width
        self.singleton_rate = checked_rate(singleton_rate)
        self.weight = nn.Parameter(embedding_(torch.empty(size, width)), requires_grad=tuned)
        self.change = TableChange(rows=size, columns=width, rank=rank, rate=rate) if rank else None
        self.register_buffer("fixed", torch.zeros(fixed, width) if fixed else None)
        self.register_buffer("rows", rows)
        # Derived from the vocabulary's counts, so not saved.
        self.register_buffer("singletons", singletons, persistent=False)

    @torch.no_grad()
    def assign(self, vectors: Tensor) -> None:
        """Set every word's vector, learned or fixed. Shape: ``vectors`` (V, width), by word id."""
        size = self.weight.shape[0]
        table = torch.empty_like(vectors)
        table[slice(None) if self.rows is None else self.rows] = vectors
        self.weight.copy_(table[:size])
        if self.fixed is not None:
            self.fixed.copy_(table[size:])

    @torch.no_grad()
    def table(self) -> Tensor:
        """Return every word's vector, by word id. Shape: (V, width)."""
        learned = self.learned()
        table = learned if self.fixed is None else torch.cat([learned, self.fixed])
        return table if self.rows is None else table[self.rows]

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of the words."""
        rows = self.find_rows(batch["words"])
        if self.fixed is None:
            return F.embedding(rows, self.learned(), padding_idx=0)
        return self._look_up_both(rows, self.fixed)

    def learned(self) -> Tensor:
        """Return the learned vectors with their change, if any. Shape: (size, width)."""
        return self.weight if self.change is None else self.change(self.weight)

    def find_rows(self, words: Tensor) -> Tensor:
        """Return the rows of the words. In training some singletons become unknown. Shape: (B, T)."""
        words = self._hide_singletons(words) if self.training else words
        return words if self.rows is None else self.rows[words]

    def _hide_singletons(self, words: Tensor) -> Tensor:
        """Replace some singletons among training words (B, T) by the unknown word."""
        if self.singletons is None or self.singleton_rate == 0.0:
            return words
        drawn = torch.rand(words.shape, device=words.device) < self.singleton_rate
        return words.masked_fill(self.singletons[words] & drawn, UNKNOWN)

    def _look_up_both(self, rows: Tensor, fixed: Tensor) -> Tensor:
        """Look rows up in both tables without joining them, because ``fixed`` may be much larger."""
        size = self.weight.shape[0]
        learned = F.embedding(rows.where(rows < size, 0), self.learned(), padding_idx=0)  # (B, T, D)
        pretrained = F.embedding((rows - size).clamp(min=0), fixed)  # (B, T, D)
        return torch.where((rows < size).unsqueeze(2), learned, pretrained)

    def extra_repr(self) -> str:
        """Return the shapes of the tables."""
        fixed = 0 if self.fixed is None else self.fixed.shape[0]
        return f"{self.weight.shape[0]}, {self.width}, fixed={fixed}, tuned={self.weight.requires_grad}"


def _check(tensor: Tensor | None, name: str, size: int, kind: torch.dtype) -> None:
    """Raise an error unless there is one value of the right type for each word id."""
    if tensor is not None and (tensor.shape != (size,) or tensor.dtype != kind):
        raise InputError(
            f"expected {name} as {kind} of shape ({size},), got {tensor.dtype} of shape {tuple(tensor.shape)}"
        )
