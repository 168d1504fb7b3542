"""Log-odds of spans are those of enumeration, however certain the model is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit

from gonie.runtime.chain import ChainWeights
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging import span_log_odds as module
from gonie.tasks.tagging.span_log_odds import FARTHEST, span_log_odds


def chain_of(tags: int, random: np.random.Generator, scale: float, *, rules: bool = False) -> ChainWeights:
    """Return a random chain. With ``rules``, some moves are forbidden, but none from or to tag 0."""
    allowed = None
    if rules:
        moves, start, end = (random.random(shape) < 0.6 for shape in ((tags, tags), tags, tags))
        moves[0] = moves[:, 0] = start[0] = end[0] = True
        allowed = (moves, start, end)
    return ChainWeights(
        transitions=scale * random.normal(size=(tags, tags)),
        start=scale * random.normal(size=tags),
        end=scale * random.normal(size=tags),
        allowed=allowed,
    )


def enumerated(chain: ChainWeights, emissions: np.ndarray, start: int, span: list[int]) -> float:
    """Return the log-odds of a span from the scores of all tag sequences with it and without it."""
    sides: dict[bool, list[float]] = {True: [-np.inf], False: [-np.inf]}
    for path in itertools.product(range(chain.num_tags), repeat=len(emissions)):
        score = chain.start[path[0]] + chain.end[path[-1]]
        score += sum(emissions[at, tag] for at, tag in enumerate(path))
        score += sum(chain.transitions[one, other] for one, other in itertools.pairwise(path))
        sides[list(path[start : start + len(span)]) == span].append(score)
    return float(np.logaddexp.reduce(sides[True]) - np.logaddexp.reduce(sides[False]))


@settings(deadline=None, max_examples=60)
@given(
    tags=st.integers(2, 4),
    length=st.integers(1, 4),
    scale=st.sampled_from([1.0, 30.0, 400.0, 3000.0]),
    rules=st.booleans(),
    seed=st.integers(0, 999),
    data=st.data(),
)
def test_log_odds_are_those_of_enumeration(
    *, tags: int, length: int, scale: float, rules: bool, seed: int, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    chain = chain_of(tags, random, scale, rules=rules)
    emissions = scale * random.normal(size=(2, length + 1, tags))
    start = data.draw(st.integers(0, length - 1))
    span = data.draw(st.lists(st.integers(0, tags - 1), min_size=1, max_size=length - start))
    lengths = np.array([length, length + 1])
    found = span_log_odds(chain, emissions, lengths, [start, start], [span, span])
    for odds, scores, size in zip(found, emissions, lengths, strict=True):
        wanted = np.clip(enumerated(chain, scores[:size], start, span), -FARTHEST, FARTHEST)
        assert odds == pytest.approx(wanted, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("temperature", [0.5, 3.0])
def test_log_odds_at_a_temperature_are_those_of_divided_scores(temperature: float) -> None:
    random = np.random.default_rng(5)
    chain = chain_of(3, random, 2.0, rules=True)
    emissions = 2 * random.normal(size=(1, 4, 3))
    hot = chain.tempered(temperature)
    (found,) = span_log_odds(hot, emissions, np.array([4]), [1], [[0, 1]])
    assert found == pytest.approx(enumerated(hot, emissions[0] / temperature, 1, [0, 1]))


def test_uncertain_spans_have_the_log_odds_of_their_probability() -> None:
    random = np.random.default_rng(3)
    chain, emissions = chain_of(5, random, 1.0), random.normal(size=(40, 7, 5))
    lengths, starts = np.full(40, 7), random.integers(0, 5, size=40).tolist()
    spans = random.integers(0, 5, size=(40, 2)).tolist()
    decoder = Decoder(transitions=chain.transitions, start=chain.start, end=chain.end)
    lattice = decoder.forward_backward(emissions, lengths)
    chances = [lattice.path_probability(row, at, at + 2, spans[row]) for row, at in enumerate(starts)]
    found = span_log_odds(chain, emissions, lengths, starts, spans)
    np.testing.assert_allclose(found, logit(np.array(chances)), rtol=1e-9, atol=1e-9)


def test_log_odds_do_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    chain, emissions = chain_of(3, random, 50.0), 50 * random.normal(size=(7, 4, 3))
    given_rows = (chain, emissions, np.array([4, 3, 2, 4, 1, 2, 4]), [0] * 7, [[1]] * 7)
    at_once = span_log_odds(*given_rows)
    monkeypatch.setattr(module, "chunk_size", lambda numbers: 2)
    assert span_log_odds(*given_rows).tolist() == at_once.tolist()
    assert span_log_odds(chain, emissions[:0], np.zeros(0, dtype=np.int64), [], []).shape == (0,)


def test_what_the_chain_always_or_never_allows_has_finite_log_odds() -> None:
    """So the difference of two such log-odds is 0, not nan."""
    only = (np.array([[True, False], [False, False]]), np.array([True, False]), np.array([True, False]))
    zeros = np.zeros((2, 2))
    chain = ChainWeights(transitions=zeros, start=zeros[0], end=zeros[0], allowed=only)
    found = span_log_odds(chain, np.zeros((2, 3, 2)), np.array([3, 3]), [1, 1], [[0], [1]])
    assert found.tolist() == [FARTHEST, -FARTHEST]
