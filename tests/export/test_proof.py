"""Tests that the proof accepts a correct export and refuses any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import GonieError
from gonie.export.proof import JUMPS, TOLERANCE, prove

REFUSED = "the exported model's scores differ from the trained model's"
BATCH = {"mask": np.array([[True, True, True], [True, False, False]])}


def model(**arrays: list[float]) -> Callable[[Any], dict[str, np.ndarray]]:
    return lambda batch: {name: np.array(values, dtype=np.float32) for name, values in arrays.items()}


def test_equal_arrays_are_accepted_and_all_tokens_are_counted() -> None:
    own = model(scores=[1.0, -2.0], shares=[0.5])
    found = prove(own, own, [BATCH, BATCH])
    assert (found.value, found.tokens) == (0.0, 8)


@pytest.mark.parametrize("by", [0.001, np.nan, np.inf])
@pytest.mark.parametrize("name", ["scores", "shares"])
def test_any_array_that_differs_is_refused(name: str, by: float) -> None:
    """Shares are checked like scores. Otherwise an explanation could show wrong shares."""
    arrays = {"scores": [1.0, -2.0], "shares": [0.5, 0.5]}
    other = {**arrays, name: [arrays[name][0], arrays[name][1] + by]}
    with pytest.raises(GonieError, match=REFUSED):
        prove(model(**arrays), model(**other), [BATCH])


@given(st.floats(-1e4, 1e4), st.floats(-1e-3, 1e-3))
def test_large_scores_may_differ_by_more(score: float, by: float) -> None:
    """The difference is relative to the score if the score is above 1."""
    wanted, got = np.float32(score), np.float32(score + by)
    difference = float(abs(wanted - got) / max(np.float32(1), abs(wanted)))
    one, other = model(scores=[float(wanted)]), model(scores=[float(got)])
    if difference <= TOLERANCE:
        assert prove(one, other, [BATCH]).value == pytest.approx(difference)
    else:
        with pytest.raises(GonieError, match=REFUSED):
            prove(one, other, [BATCH])


def test_some_discontinuous_shares_may_differ_but_not_all() -> None:
    """A maximum may select either of two equal tokens. This is accepted, but a wrong graph is refused."""
    before, after, wrong = [0.0] * 200, [0.0] * 200, [1.0] * 200
    before[3], after[4] = 0.9, 0.9
    assert JUMPS >= 2 * 0.9 / 200
    assert prove(model(words=before), model(words=after), [BATCH], discontinuous=("words",)).value == 0.0
    cases: list[tuple[list[float], tuple[str, ...]]] = [(after, ()), (wrong, ("words",)), (after, ("x",))]
    for other, discontinuous in cases:
        with pytest.raises(GonieError, match=REFUSED):
            prove(model(words=before), model(words=other), [BATCH], discontinuous=discontinuous)


def test_empty_shares_are_accepted() -> None:
    assert prove(model(words=[]), model(words=[]), [BATCH], discontinuous=("words",)).value == 0.0
    assert prove(model(words=[]), model(words=[]), [BATCH]).value == 0.0


def test_a_proof_without_examples_is_refused() -> None:
    with pytest.raises(GonieError, match="no examples to compare"):
        prove(model(scores=[1.0]), model(scores=[1.0]), [])
