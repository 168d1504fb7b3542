"""If these break, gradients explain another probability than the one a span is shown with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.explain.torch.span_odds import span_log_odds
from gonie.runtime.chain import ChainWeights
from gonie.runtime.forward_backward import Lattice
from gonie.runtime.forward_backward_sums import Summing


def chain_of(tags: int, seed: int, *, rules: bool) -> ChainWeights:
    chance = np.random.default_rng(seed)
    allowed: Any = None
    if rules:
        allowed = tuple(chance.random(shape) < 0.7 for shape in ((tags, tags), tags, tags))
        allowed[0][:, 0], allowed[0][0], allowed[1][0], allowed[2][0] = True, True, True, True
    weights = {name: chance.normal(size=size) for name, size in (("start", tags), ("end", tags))}
    return ChainWeights(transitions=chance.normal(size=(tags, tags)), **weights, allowed=allowed)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 4), st.integers(1, 5), st.booleans(), st.integers(0, 99), st.data())
def test_they_are_those_of_the_spans_probability(
    tags: int, length: int, rules: bool, seed: int, data: st.DataObject
) -> None:
    chain = chain_of(tags, seed, rules=rules)
    scores = np.random.default_rng(seed + 1).normal(size=(2, length, tags)) * 3
    start = data.draw(st.integers(0, length - 1))
    span = data.draw(st.lists(st.integers(0, tags - 1), min_size=1, max_size=length - start))
    found = span_log_odds(torch.from_numpy(scores), chain, start, span)
    lattice = Lattice(
        chain=chain, summing=Summing(chain), emissions=scores, lengths=np.array([length, length])
    )
    for row, odds in enumerate(found.sigmoid().tolist()):
        assert odds == pytest.approx(lattice.path_probability(row, start, start + len(span), span), abs=1e-9)


def test_certainty_still_has_a_slope() -> None:
    """Where a span is certain to the last digit, its words must not all seem to do nothing."""
    chain = chain_of(3, 0, rules=True)
    scores = torch.tensor([[[60.0, 0.0, 0.0]] * 4], requires_grad=True)
    odds = span_log_odds(scores, chain, 1, [0, 0])
    odds.sum().backward()
    assert float(odds.detach()) > 50
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
    assert float(scores.grad[0, 1:3, 0].sum()) == pytest.approx(1.0, abs=0.1), "either tag may give way"
