"""Transitions between tags in abstract form: by their markers, and whether they have the same type.

Counted in tagged sentences of some types, they become the transitions of a model with other types (Yang &
Katiyar 2020, arXiv:2010.02405 §3.3). The paper has IO tags. Here they are those of any scheme: O, B, I, E and
S in BIOES, and the ends of a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.text.rules import END, START
from gonie.text.schemes import Scheme

Move = tuple[str, str, bool]
"""The markers of two neighbours, and whether they have the same type. O and the ends have no type."""
SMOOTHING = 0.1
"""Added to every count, so that unseen transitions stay possible if the scheme allows them."""


def count_moves(sequences: Iterable[Sequence[str]], scheme: Scheme) -> Counter[Move]:
    """Count the abstract transitions of tag sequences of a scheme, including the ends of sentences."""
    moves: Counter[Move] = Counter()
    for tags in sequences:
        moves.update(_move(a, b, scheme) for a, b in pairwise([START, *tags, END]))
    return moves


def transitions(
    moves: Counter[Move], labels: Sequence[str], scheme: Scheme, *, temperature: float
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return log-probabilities for ``labels``: transitions (K, K) [from, to], start (K,), end (K,).

    The probability of an abstract transition is divided equally among the tags that it leads to. With
    ``temperature`` τ, probabilities are proportional to their τ-th power: below 1, they count less.
    """
    size = len(labels)
    rows = np.stack([_row(moves, tag, [*labels, END], scheme, temperature) for tag in (*labels, START)])
    table = rows.astype(np.float32)  # (K + 1, K + 1)
    return table[:size, :size], table[size, :size], table[:size, size]


def _row(
    moves: Counter[Move], tag: str, targets: Sequence[str], scheme: Scheme, temperature: float
) -> NDArray[np.float64]:
    """Return the log-probability of each target after ``tag``."""
    kinds = [_move(tag, target, scheme) for target in targets]
    shared = Counter(kinds)
    logs = np.array([np.log((moves[kind] + SMOOTHING) / shared[kind]) for kind in kinds]) * temperature
    found: NDArray[np.float64] = logs - np.logaddexp.reduce(logs)
    return found


def _move(before: str, after: str, scheme: Scheme) -> Move:
    (first, own), (second, other) = _mark(before, scheme), _mark(after, scheme)
    return first, second, own is not None and own == other


def _mark(tag: str, scheme: Scheme) -> tuple[str, str | None]:
    if tag in (START, END):
        return tag, None
    found = scheme.split(tag)
    if found is None:
        raise InputError(f"invalid {scheme} tag: {tag!r}")
    marker, label = found
    return marker, label or None
