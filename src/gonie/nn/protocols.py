"""Interfaces of a network's parts, defined by shape: embedding, encoder, pooling, head.

Parts are ordinary modules that do not inherit from one another. A part has a role if it has the right shape.
Letters: B sentences, T tokens, D width in, H width out, K tags or labels, N texts, P width of their vectors.
Padding is on the right.

A part of any role says what training must know about it: ``MovesBuffers``, ``AdaptsPart``, ``WrapsPart``.

A part that is not differentiable everywhere (a maximum, a ReLU) has the class attribute ``kinks = True``. A
gradient check then takes smaller steps, so as not to step over a kink. A part with a learning rate of its own
has the attribute ``rate_scale``, a multiple of the learning rate. A part whose weights have a row for each
entry of a vocabulary, or for each label, names it for each axis in ``indexed``: ``{"weight": ("spelling",
"labels")}``. So the weights can be taken over by a model with other entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from torch import Tensor, nn

from gonie.errors import InputError

Batch: TypeAlias = Mapping[str, Tensor]
"""Named tensors of one batch: ``mask`` (B, T) bool, ``words`` (B, T), ``tags`` (B, T) and so on."""


class Embedding(Protocol):
    """Map the tokens of a batch to vectors. Values at padding are undefined and must not matter."""

    width: int
    """D, the length of a token's vector."""

    def __call__(self, batch: Batch) -> Tensor:
        """Return the vectors of a batch. Shape: (B, T, D)."""
        ...


@runtime_checkable
class ContextualEmbedding(Embedding, Protocol):
    """An embedding of contextual vectors, from a pretrained source (a language model).

    Unless it is ``tuned``, its vectors may be computed once for a corpus and passed in the batch.
    """

    name: str
    """The name of its source in a recipe."""
    places: tuple[str, ...]
    """Where its vectors are used: ``input`` of the encoder, ``output`` together with its states, or both."""
    place_width: int
    """The width of its vectors at one place; ``width`` is that of all places."""
    tuned: bool
    """Whether the source is trained too."""

    def penalty(self) -> Tensor:
        """Return the term to add to the loss. Shape: ()."""
        ...

    def report(self) -> list[dict[str, Any]]:
        """Return how it uses its source, as plain values, for explanations."""
        ...


class Encoder(Protocol):
    """Map each token's vector to a state in the context of its sentence, zero at padding."""

    input_width: int
    """D, the width of the input vectors."""
    width: int
    """H, the width of the output states."""

    def __call__(self, x: Tensor, mask: Tensor) -> Tensor:
        """Map vectors (B, T, D) and mask (B, T) bool to states. Shape: (B, T, H)."""
        ...


class Pooling(Protocol):
    """Combine the states of a row into one vector, and compute the weight of each token.

    Values at padding do not matter. A row without tokens has weights 0, and never NaN.
    """

    input_width: int
    """H, the width of the input states."""
    width: int
    """P, the width of the output vector."""

    def __call__(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Map states (B, T, H) and mask (B, T) bool to vectors (B, P) and weights (B, T).

        The weights of a row are at least 0 and sum to 1. They are exactly 0 at padding.
        """
        ...


class Head(Protocol):
    """Map states to scores, and scores to a loss. The runtime decodes from scores and chain."""

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Map states (B, T, H) and the batch's sparse features to scores. Shape: (B, T, K)."""
        ...

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return the negative log-likelihood of ``tags`` by scores (B, T, K), mean over sentences.

        Shape: ().
        """
        ...

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return what decoding needs: transitions (K, K) indexed [from, to], start (K,), end (K,)."""
        ...


class TextHead(Protocol):
    """Map the vector of a text to scores of its labels, and scores to a loss."""

    def score(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Map vectors (N, P) and the batch's n-grams to scores. Shape: (N, K)."""
        ...

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return the negative log-likelihood of ``labels`` by scores (N, K), mean over texts. Shape: ()."""
        ...


@runtime_checkable
class MovesBuffers(Protocol):
    """A part that changes buffers in training, such as running averages. A checkpoint saves them."""

    @property
    def moves(self) -> tuple[str, ...]:
        """The names of the buffers, a class attribute."""
        ...

    def get_buffer(self, target: str) -> Tensor:
        """Return a buffer by its name, as any torch module."""
        ...


@runtime_checkable
class AdaptsPart(Protocol):
    """A part that adapts a trained one. It is trained when the layer around it is frozen."""

    @property
    def adapts(self) -> bool:
        """True, a class attribute."""
        ...


@runtime_checkable
class WrapsPart(Protocol):
    """A part around another one, which a model may also have without it, such as an encoder with adapters."""

    @property
    def wraps(self) -> str:
        """The name of the attribute with the inner part, a class attribute."""
        ...

    def get_submodule(self, target: str) -> nn.Module:
        """Return a part by its name, as any torch module."""
        ...


def as_modules(parts: Iterable[Embedding | Encoder | Pooling | Head | TextHead]) -> list[nn.Module]:
    """Return the parts as modules, so that a container can own their weights, or raise an error."""
    found = list(parts)
    for part in found:
        if not isinstance(part, nn.Module):
            raise InputError(f"expected a torch module, got {type(part).__name__}")
    return cast("list[nn.Module]", found)
