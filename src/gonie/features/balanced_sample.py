"""Samples of examples in which all types have about as many mentions, for replay.

A small memory of old examples keeps more of what was learned if it has rare classes too: class-balanced
memories (Chrysakis & Moens 2020, ICML, "Online continual learning from imbalanced data").
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from gonie.features.shots import Mentions


def balanced_sample(mentions: Mentions, number: int, generator: np.random.Generator) -> list[int]:
    """Return the rows of ``number`` examples with mentions, in order, or of all if there are fewer.

    Each is drawn at random among those with a mention of the type that has the fewest mentions so far.
    """
    waiting: dict[str, list[int]] = {}
    for row in generator.permutation(len(mentions)).tolist():
        for name, times in mentions[row].items():
            if times:
                waiting.setdefault(name, []).append(row)
    found: Counter[str] = Counter()
    taken: set[int] = set()
    while waiting and len(taken) < number:
        name = min(waiting, key=lambda each: (found[each], each))
        row = waiting[name].pop()
        if row not in taken:
            taken.add(row)
            found.update(mentions[row])
        if not waiting[name]:
            del waiting[name]
    return sorted(taken)
