"""Copies of examples depend on the seed and the example's number alone, and unchanged ones are dropped."""

from __future__ import annotations

import numpy as np
import pytest

from gonie.text.augment.copies import Copies, augmented


def drawn(text: str, generator: np.random.Generator) -> str | None:
    """Add a random digit; even digits change nothing."""
    digit = int(generator.integers(10))
    return f"{text}{digit}" if digit % 2 else None


def upper(text: str, generator: np.random.Generator) -> str | None:
    return text.upper()


def copies(texts: list[str], number: int = 3, seed: int = 1, **shares: float) -> Copies[str]:
    shares = shares or {"drawn": 1.0, "upper": 1.0}
    kinds = {"drawn": drawn, "upper": upper}
    return augmented(texts, kinds, shares, copies=number, seed=seed)


def test_a_copy_does_not_depend_on_the_other_examples() -> None:
    """Otherwise one more sentence would change the copies of all that follow it."""
    texts = [f"t{number} " for number in range(20)]
    whole = copies(texts)
    first = copies(texts[:5])
    assert first.made == [copy for copy in whole.made if copy.original in texts[:5]]
    others = copies(["other"] * 5 + texts[5:])
    assert [copy for copy in others.made if copy.original in texts[5:]] == [
        copy for copy in whole.made if copy.original in texts[5:]
    ]
    assert copies(texts, seed=2).made != whole.made


def test_unchanged_copies_are_dropped_and_counted() -> None:
    found = copies([f"t{number}" for number in range(200)], drawn=1.0)
    assert len(found.made) + found.unchanged["drawn"] == 600
    assert found.unchanged["drawn"] == pytest.approx(300, abs=50)
    assert found.examples == [copy.example for copy in found.made]
    assert found.counts() == {"drawn": len(found.made)}


def test_kinds_are_drawn_by_their_frequencies() -> None:
    found = copies([str(number) for number in range(1000)], number=1, drawn=3.0, upper=1.0)
    assert found.counts()["upper"] == pytest.approx(250, abs=40)
