"""Head of a few-shot tagger: scores by distances to support states, and a chain of given transitions."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from gonie.nn.heads.objectives import Exact, Objective
from gonie.nn.protocols import Batch

SUPPORT = "support"
"""The array (B,) bool of an episode's batch: true at support examples, false at queries."""


class SupportScores(Protocol):
    """Scores by distances to support states: ``PrototypeScores`` or ``NearestScores``."""

    width: int
    num_tags: int

    def __call__(self, states: Tensor) -> Tensor:
        """Return the scores. Shape: (…, H) -> (…, K)."""
        ...

    def fit(self, states: Tensor, tags: Tensor, examples: Tensor) -> None:
        """Fit the support to states (n, H), tags (n,) and the numbers of their examples (n,)."""
        ...

    def compare(self, states: Tensor, support: Tensor, tags: Tensor) -> Tensor:
        """Return the scores by another support, with gradients. Shape: (…, H) -> (…, K)."""
        ...


class SupportStates(NamedTuple):
    """The states to fit a head to."""

    states: Tensor
    """(n, H)"""
    tags: Tensor
    """(n,) tags or labels."""
    examples: Tensor
    """(n,) the row of each state's sentence or text in its batch."""


@runtime_checkable
class FittedHead(Protocol):
    """A head that is computed from the states of examples, without gradients."""

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the scores of a batch with these states."""
        ...

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return the mean loss of a batch with these scores. Shape: ()."""
        ...

    def support(self, states: Tensor, batch: Batch) -> SupportStates:
        """Return the labelled states of a batch."""
        ...

    def fit(self, support: SupportStates) -> None:
        """Fit the scores to labelled states."""
        ...


class SupportHead(nn.Module):
    """p(y | x) ∝ exp Σt scores[t, yt] + transitions[yt-1, yt], with nothing learned by gradients.

    ``fit`` computes the scores from tagged states in closed form. ``set_chain`` sets the transitions, which
    are 0 without it. With transitions counted in other data, nearest scores are those of StructShot (Yang &
    Katiyar 2020, arXiv:2010.02405 §3.3). In a batch with the array ``support``, an episode, the tokens of
    its support sentences take the place of the fitted ones, and the loss is that of the others, the queries.
    Query tokens with a tag that no support token has cannot be right, and do not count.
    """

    transitions: Tensor
    start: Tensor
    end: Tensor

    def __init__(self, *, scores: SupportScores, objective: Objective | None = None) -> None:
        super().__init__()
        self.scores = scores
        self.objective = objective or Exact()
        size = scores.num_tags
        self.register_buffer("transitions", torch.zeros(size, size))
        self.register_buffer("start", torch.zeros(size))
        self.register_buffer("end", torch.zeros(size))

    def score(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the scores of the tags. Shape: (B, T, width) -> (B, T, K)."""
        if SUPPORT not in batch:
            return self.scores(states)
        chosen = (batch["tags"] >= 0) & batch["mask"] & batch[SUPPORT][:, None]  # (B, T)
        return self.scores.compare(states, states[chosen], batch["tags"][chosen])

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return -Σt log softmax(scores[t])[yt], mean over sentences, or queries of an episode. Shape: ()."""
        if SUPPORT not in batch:
            return -self.objective.of_tokens(scores, batch["tags"], batch["mask"]).mean()
        tags, queries = batch["tags"], ~batch[SUPPORT]
        supported = tags[batch["mask"] & batch[SUPPORT][:, None]]
        counted = batch["mask"] & torch.isin(tags, supported)  # (B, T)
        return -self.objective.of_tokens(scores, tags, counted)[queries].mean()

    def chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return transitions (K, K) indexed [from, to], start (K,), end (K,)."""
        return self.transitions, self.start, self.end

    def set_chain(self, transitions: Tensor, start: Tensor, end: Tensor) -> None:
        """Set transitions (K, K) indexed [from, to], start (K,), end (K,)."""
        self.transitions.copy_(transitions)
        self.start.copy_(start)
        self.end.copy_(end)

    def support(self, states: Tensor, batch: Batch) -> SupportStates:
        """Return the tagged tokens of a batch with ``states`` (B, T, H)."""
        chosen = (batch["tags"] >= 0) & batch["mask"]  # (B, T)
        return SupportStates(states[chosen], batch["tags"][chosen], chosen.nonzero()[:, 0])

    def fit(self, support: SupportStates) -> None:
        """Fit the scores to tagged states."""
        self.scores.fit(*support)
