"""Draw augmented copies of examples. Each depends on the seed and the example's number alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

Example = TypeVar("Example")
_STREAM = 5  # tells these random numbers apart from others of the same seed


class Augment(Protocol[Example]):
    """A kind of change."""

    def __call__(self, example: Example, generator: np.random.Generator, /) -> Example | None:
        """Return a changed copy, or None if nothing changes."""
        ...


@dataclass(frozen=True, slots=True)
class Copy(Generic[Example]):
    """A changed copy, what it was made from, and the kind of change."""

    example: Example
    original: Example
    kind: str


@dataclass(frozen=True, slots=True)
class Copies(Generic[Example]):
    """The copies of all examples, and how many of each kind were dropped because nothing changed."""

    made: list[Copy[Example]] = field(default_factory=list)
    unchanged: Counter[str] = field(default_factory=Counter)

    @property
    def examples(self) -> list[Example]:
        """The changed copies alone."""
        return [copy.example for copy in self.made]

    def counts(self) -> dict[str, int]:
        """Return the number of copies of each kind."""
        return dict(Counter(copy.kind for copy in self.made))


def augmented(
    examples: Iterable[Example],
    kinds: Mapping[str, Augment[Example]],
    shares: Mapping[str, float],
    *,
    copies: int,
    seed: int,
) -> Copies[Example]:
    """Return ``copies`` copies of each example, less those that equal it.

    A kind is drawn for each copy. ``shares`` are their relative frequencies.
    """
    found: Copies[Example] = Copies()
    names = [*shares]
    edges = np.cumsum([*shares.values()])
    for number, example in enumerate(examples):
        for copy in range(copies):
            generator = np.random.default_rng([seed, _STREAM, number, copy])
            name = names[int(np.searchsorted(edges, generator.random() * edges[-1], side="right"))]
            changed = kinds[name](example, generator)
            if changed is None:
                found.unchanged[name] += 1
            else:
                found.made.append(Copy(changed, example, name))
    return found
