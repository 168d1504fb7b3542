"""Per-window SGD over the modules of a model, with the compiled updates of ``loops``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numba.typed import List
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.embeddings.features import FeatureEmbedding
from gonie.nn.embeddings.stack import Stack
from gonie.nn.embeddings.words import WordEmbedding
from gonie.nn.encoders.window import Window
from gonie.nn.heads.objectives import Exact
from gonie.nn.heads.sigmoid import SigmoidHead
from gonie.nn.heads.softmax import SoftmaxHead
from gonie.nn.protocols import Batch
from gonie.nn.window.loops import Floats, Ints, Network, WindowTokens, run


class WindowSGD:
    """Update a window network after every token, without autograd (``loops`` describes the performance).

    It shares memory with the weights of the modules, which must stay on a CPU at the same address. It
    supports word and feature vectors, a window, and a head that predicts each token independently. Any other
    module raises an error.
    """

    def __init__(self, *, embedding: nn.Module, encoder: nn.Module, head: nn.Module) -> None:
        self._parts = list(_vectors(embedding))
        self._head = _checked_head(head)
        if not isinstance(encoder, Window):
            raise _unsupported(encoder, "the encoder must be Window")
        tables = [_tables(part) for part in self._parts]
        self._network = Network(
            learned=List([learned for learned, _ in tables]),
            fixed=List([fixed for _, fixed in tables]),
            edges=_array(encoder.edges),
            weights=List([_array(layer.weight) for layer in encoder.linear()]),
            biases=List([_array(layer.bias) for layer in encoder.linear()]),
            output=_array(self._head.scores.weight),
            output_bias=_array(self._head.scores.bias),
        )

    def step(self, batch: Batch, *, rate: float, weight_decay: float = 0.0) -> float:
        """Update once for each token of the batch, in random order. Return the summed cross-entropy.

        ``rate`` is α. ``weight_decay`` is λ/m, the weight decay of the matrices at each update.
        """
        mask = batch["mask"]  # (B, T)
        grid = torch.arange(mask.numel()).view_as(mask)
        last = grid[:, 0] + mask.sum(1) - 1  # (B,)
        here = grid[mask]  # (tokens,)
        reads = [_reads(part, batch) for part in self._parts]
        tokens = WindowTokens(
            ids=List([ids.numpy() for ids, _ in reads]),
            offsets=List([offsets.numpy() for _, offsets in reads]),
            first=_per_token(grid[:, 0], mask),
            last=_per_token(last, mask),
            tags=self._tags(batch["tags"]).flatten().numpy(),
        )
        order = here[torch.randperm(len(here))]
        return run(order.numpy(), tokens, self._network, rate, weight_decay)

    def _tags(self, tags: Tensor) -> Tensor:
        """Return gold tags (B, T) as the indices of the correct outputs."""
        return tags if isinstance(self._head, SoftmaxHead) else (tags != self._head.outside).long()


def _vectors(embedding: nn.Module) -> Iterator[WordEmbedding | FeatureEmbedding]:
    """Yield the parts of a token's vector, in order."""
    for part in embedding.parts if isinstance(embedding, Stack) else [embedding]:
        if not isinstance(part, WordEmbedding | FeatureEmbedding):
            raise _unsupported(part, "embeddings must be WordEmbedding or FeatureEmbedding")
        yield part


def _checked_head(head: nn.Module) -> SigmoidHead | SoftmaxHead:
    if not isinstance(head, SigmoidHead | SoftmaxHead):
        raise _unsupported(head, "the head must be SigmoidHead or SoftmaxHead")
    if len(head.scores.direct) or head.scores.weight is None:
        raise _unsupported(head, "the head must have no direct features")
    if not isinstance(head.objective, Exact):
        raise _unsupported(head.objective, "the objective must be Exact")
    return head


def _unsupported(part: object, requirement: str) -> InputError:
    return InputError(
        f"per-window SGD does not support {type(part).__name__}: {requirement}",
        fix="Use another optimizer, such as sgd",
    )


def _tables(part: WordEmbedding | FeatureEmbedding) -> tuple[Floats, Floats]:
    """Return the learned table, shared in place, and the table of further, fixed rows."""
    weight = part.weight
    nothing = weight.new_empty(0, part.width)
    fixed = part.fixed if isinstance(part, WordEmbedding) and part.fixed is not None else nothing
    if weight.requires_grad:
        return _array(weight), _array(fixed)
    return _array(nothing), _array(torch.cat([weight.detach(), fixed]))


def _array(tensor: Tensor | None) -> Floats:
    """Return a numpy view of a tensor's memory."""
    assert tensor is not None
    if not tensor.is_cpu or not tensor.is_contiguous():
        raise InputError(
            f"per-window SGD needs contiguous weights on the CPU: {tensor.device!s}",
            fix="Train with --device cpu",
        )
    return tensor.detach().numpy()


def _reads(part: WordEmbedding | FeatureEmbedding, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the rows of the table that each token of the grid sums: ids (F,), offsets (B * T + 1,)."""
    if isinstance(part, FeatureEmbedding):
        return batch[f"{part.group}.ids"], batch[f"{part.group}.offsets"]
    rows = part.find_rows(batch["words"]).flatten()
    return rows, torch.arange(len(rows) + 1)


def _per_token(values: Tensor, mask: Tensor) -> Ints:
    """Repeat a sentence's value at each of its tokens. Shape: (B,), (B, T) -> (B * T,)."""
    spread: Ints = values.unsqueeze(1).expand(mask.shape).reshape(-1).numpy().astype(np.int64)
    return spread
