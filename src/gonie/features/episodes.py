"""Few-shot episodes: support and query examples of some types, drawn from labelled examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gonie.features.shots import Mentions, ShotSampler


@dataclass(frozen=True, slots=True)
class Episode:
    """A few-shot task: its types, and the numbers of its support and query examples."""

    types: tuple[str, ...]
    support: tuple[int, ...]
    query: tuple[int, ...]


class EpisodeSampler:
    """Draws episodes of types with more than ``shots`` examples, so that some are left for queries."""

    def __init__(self, mentions: Mentions, *, shots: int) -> None:
        self._sampler = ShotSampler(mentions)
        self._shots = shots
        self.types = sorted(
            name for name in self._sampler.totals if len(self._sampler.rows_with(name)) > shots
        )
        """The types that episodes can have."""

    def sample(self, *, ways: int, queries: int, generator: np.random.Generator) -> Episode:
        """Draw an episode: ``ways`` types, their support, and ``queries`` other examples of each type.

        There are fewer types or queries if there are not enough. Support examples are those of
        ``ShotSampler``. There is always a query.
        """
        number = min(ways, len(self.types))
        types = sorted(generator.choice(np.array(self.types, dtype=object), number, replace=False).tolist())
        support = self._sampler.sample(types, self._shots, generator)
        taken = set(support)
        for name in types:
            left = [row for row in self._sampler.rows_with(name) if row not in taken]
            taken.update(generator.permutation(np.array(left, dtype=np.int64))[:queries].tolist())
        query = sorted(taken.difference(support))
        if not query:  # every example is needed for the support
            *support, last = support
            query = [last]
        return Episode(tuple(types), tuple(support), tuple(query))
