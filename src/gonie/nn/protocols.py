"""The roles of a network's parts, told apart by shape: embedding, encoder, pooling, head.

Parts are ordinary modules that never inherit from one another; a part plays a role by having its shape.
Letters: B sentences, T tokens, D width in, H width out, K tags or labels, N texts, P width of their vectors.
Padding is on the right.

A part whose slope jumps somewhere (at a maximum, a ReLU) says so by a class attribute ``kinks = True``: a
gradient check then takes smaller steps, lest it step over one. A part that changes buffers as it is trained
names them in a class attribute ``moves``: a checkpoint keeps them. A part that learns at another rate than
the rest has an attribute ``rate_scale``, a multiple of the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from torch import Tensor, nn

from gonie.errors import InputError

Batch: TypeAlias = Mapping[str, Tensor]
"""Named tensors of one batch: ``mask`` (B, T) bool, ``words`` (B, T), ``tags`` (B, T) and so on."""


class Embedding(Protocol):
    """Turns the tokens of a batch into vectors; what stands at padding is free and must not matter."""

    width: int
    """D, the length of a token's vector."""

    def __call__(self, batch: Batch) -> Tensor:
        """A batch to its vectors. Shape: (B, T, D)."""
        ...


@runtime_checkable
class ContextualEmbedding(Embedding, Protocol):
    """An embedding of vectors in context, from a source that is trained elsewhere (a language model).

    Unless it is ``tuned``, its vectors may be computed once for a corpus and come with the batch.
    """

    name: str
    """The name of its source in a recipe."""
    places: tuple[str, ...]
    """Where its vectors are used: ``input`` of the encoder, ``output`` beside its states, or both."""
    place_width: int
    """The width of its vectors at one place; ``width`` is that of all places."""
    tuned: bool
    """Whether the source is trained too."""

    def penalty(self) -> Tensor:
        """What is to be added to the loss. Shape: ()."""
        ...

    def report(self) -> list[dict[str, Any]]:
        """What it has learned to use of its source, as plain values, for explanations."""
        ...


class Encoder(Protocol):
    """Puts each token's vector into the context of its sentence; its states are zero at padding."""

    input_width: int
    """D, the width of the vectors taken."""
    width: int
    """H, the width of the states given."""

    def __call__(self, x: Tensor, mask: Tensor) -> Tensor:
        """Vectors (B, T, D) and mask (B, T) bool to states. Shape: (B, T, H)."""
        ...


class Pooling(Protocol):
    """Makes one vector of the states of a row, and says what weight each token has in it.

    What stands at padding never matters. A row without any token has the weight 0 throughout, and never NaN.
    """

    input_width: int
    """H, the width of the states taken."""
    width: int
    """P, the width of the vector given."""

    def __call__(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """States (B, T, H) and mask (B, T) bool to vectors (B, P) and weights (B, T).

        The weights of a row are at least 0 and sum to 1; they are exactly 0 at padding.
        """
        ...


class Head(Protocol):
    """Turns states into scores, and scores into a loss; decoding is the runtime's, from scores and chain."""

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """States (B, T, H) and the batch's sparse features to scores. Shape: (B, T, K)."""
        ...

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Scores (B, T, K) against ``tags``: a sentence's -log-likelihood, mean over sentences. Shape: ()."""
        ...

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """What decoding needs: transitions (K, K) indexed [from, to], start (K,), end (K,)."""
        ...


class TextHead(Protocol):
    """Turns the vector of a text into scores of its labels, and scores into a loss."""

    def score(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Vectors (N, P) and the batch's n-grams to scores. Shape: (N, K)."""
        ...

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Scores (N, K) against ``labels``: a text's -log-likelihood, mean over texts. Shape: ()."""
        ...


def as_modules(parts: Iterable[Embedding | Encoder | Pooling | Head | TextHead]) -> list[nn.Module]:
    """The parts as modules, so that a container can own their weights; anything else is refused."""
    found = list(parts)
    for part in found:
        if not isinstance(part, nn.Module):
            raise InputError(expected="parts that are torch modules", got=f"{type(part).__name__}")
    return cast("list[nn.Module]", found)
