"""Few-shot samples: a small set of examples with at least K mentions of each type.

This is the greedy sampling of Yang & Katiyar 2020 (arXiv:2010.02405, algorithm 1). The mentions of a type are
its entities in a sentence, or 1 for the label of a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

Mentions = Sequence[Mapping[str, int]]
"""The number of mentions of each type in each example."""


class ShotSampler:
    """Draws few-shot samples of examples with these ``mentions``."""

    def __init__(self, mentions: Mentions) -> None:
        self._mentions = mentions
        self._rows: dict[str, list[int]] = {}
        self.totals: Counter[str] = Counter()
        """The number of mentions of each type."""
        for row, own in enumerate(mentions):
            for name, times in own.items():
                if times:
                    self._rows.setdefault(name, []).append(row)
                    self.totals[name] += times

    def rows_with(self, name: str) -> Sequence[int]:
        """Return the examples that mention a type."""
        return self._rows.get(name, [])

    def sample(self, types: Collection[str], shots: int, generator: np.random.Generator) -> list[int]:
        """Return the rows of a sample with at least ``shots`` mentions of each type, in order.

        A type with fewer mentions in all examples has all of them. Examples are added for the rarest type
        first, then all that are not needed are removed again. So without any of them, a type has too few.
        """
        wanted = {name: min(shots, self.totals[name]) for name in types}
        found: Counter[str] = Counter()
        chosen: list[int] = []
        taken: set[int] = set()
        for name in sorted(types, key=lambda each: (self.totals[each], each)):
            order = iter(generator.permutation(np.array(self.rows_with(name), dtype=np.int64)).tolist())
            while found[name] < wanted[name]:
                row = next(order)
                if row not in taken:
                    chosen.append(row)
                    taken.add(row)
                    found.update(self._mentions[row])
        for row in chosen:
            own = self._mentions[row]
            if all(found[name] - own.get(name, 0) >= least for name, least in wanted.items()):
                taken.remove(row)
                found.subtract(own)
        return sorted(taken)


def count_sample(mentions: Mentions, rows: Sequence[int]) -> Counter[str]:
    """Return the mentions of each type in the rows of a sample."""
    found: Counter[str] = Counter()
    for row in rows:
        found.update(mentions[row])
    return found
