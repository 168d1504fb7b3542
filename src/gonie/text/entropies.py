"""How uncertain an ensemble is of an answer, as a value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Entropies(NamedTuple):
    """The uncertainty of an answer, and its parts, in nats (``gonie.metrics.entropies``)."""

    total_entropy: float = 0.0
    data_entropy: float = 0.0
    mutual_information: float = 0.0


def highest(parts: Iterable[Entropies]) -> Entropies:
    """Return the highest value of each, 0 without parts: a sentence is as uncertain as one of its tokens."""
    return Entropies(*map(max, zip(*parts, Entropies(), strict=True)))
