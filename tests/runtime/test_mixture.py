"""Mixtures of chains: if these break, an ensemble predicts other tags, or with other probabilities."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.runtime.decoder import Decoder
from gonie.runtime.mixture import Mixture


class Case(NamedTuple):
    """Members over the same batch, some of which forbid some transitions."""

    decoders: list[Decoder]
    emissions: list[np.ndarray]
    lengths: np.ndarray

    def mixture(self, order: tuple[int, ...] | None = None) -> Mixture:
        chosen = range(len(self.decoders)) if order is None else order
        return Mixture([self.decoders[m].forward_backward(self.emissions[m], self.lengths) for m in chosen])

    def sequences(self, row: int) -> dict[tuple[int, ...], float]:
        """Return p(y) of each sequence of a row: the mean of exp(s(y) / T) / Z over the members."""
        paths = list(product(range(self.decoders[0].num_tags), repeat=int(self.lengths[row])))
        total = np.zeros(len(paths))
        for decoder, emissions in zip(self.decoders, self.emissions, strict=True):
            tags = np.array(paths)
            sizes = np.full(len(paths), self.lengths[row])
            rows = np.repeat(emissions[None, row, : self.lengths[row]], len(paths), axis=0)
            weights = np.exp(decoder.chain.path_scores(rows, sizes, tags) / decoder.temperature)
            total += weights / weights.sum()
        return dict(zip(paths, (total / len(self.decoders)).tolist(), strict=True))


@st.composite
def cases(draw: st.DrawFn, fewest: int = 1) -> Case:
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    K, members = draw(st.integers(2, 3)), draw(st.integers(fewest, 3))
    lengths = np.array(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    size = draw(st.sampled_from([0.5, 3.0]))
    allowed = generator.random((K, K)) < 0.8
    np.fill_diagonal(allowed, True)  # so that some sequence is allowed
    masks = (allowed, np.ones(K, dtype=bool), np.ones(K, dtype=bool))
    decoders = [
        Decoder(
            transitions=size * generator.normal(size=(K, K)),
            start=size * generator.normal(size=K),
            end=size * generator.normal(size=K),
            allowed=masks,
            temperature=float(generator.uniform(0.5, 3)),
        )
        for _ in range(members)
    ]
    shape = (len(lengths), int(lengths.max()), K)
    return Case(decoders, [size * generator.normal(size=shape) for _ in range(members)], lengths)


@given(cases())
@settings(deadline=None, max_examples=60)
def test_probabilities_are_those_of_all_sequences(case: Case) -> None:
    mixture = case.mixture()
    tags = mixture.best_tags()
    for row, length in enumerate(case.lengths):
        chances = case.sequences(row)
        for t in range(length):
            due = [sum(p for y, p in chances.items() if y[t] == k) for k in range(mixture.marginals.shape[2])]
            assert mixture.marginals[row, t] == pytest.approx(due)
            assert mixture.chances(tags)[row, t] == pytest.approx(due[tags[row, t]])
        for start in range(length):
            for end in range(start + 1, length + 1):
                own = tuple(tags[row, start:end])
                due_range = sum(p for y, p in chances.items() if y[start:end] == own)
                found = mixture.path_probabilities([row], [start], [end], tags)
                assert found == pytest.approx([due_range])


def nearest(y: tuple[int, ...], chances: dict[tuple[int, ...], float]) -> float:
    """Return q(y) of the nearest chain, from the probabilities of all sequences."""
    value = 1.0
    for t in range(len(y)):
        before = sum(p for z, p in chances.items() if not t or z[t - 1] == y[t - 1])
        both = sum(p for z, p in chances.items() if z[max(t - 1, 0) : t + 1] == y[max(t - 1, 0) : t + 1])
        value *= both / before if before else 0.0
    return value


@given(cases())
@settings(deadline=None, max_examples=60)
def test_the_best_sequence_is_that_of_the_nearest_chain(case: Case) -> None:
    """Score all sequences by the pairs of neighbours, counted over the whole mixture."""
    mixture = case.mixture()
    tags, by_tags = mixture.best_tags(), mixture.posterior()
    for row, length in enumerate(case.lengths):
        chances = case.sequences(row)

        scores = {y: nearest(y, chances) for y in chances}
        assert sum(scores.values()) == pytest.approx(1.0)
        found = tuple(tags[row, :length])
        assert scores[found] == pytest.approx(max(scores.values()))
        assert (tags[row, length:] == -1).all()
        if max(chances.values()) > 0.5:
            assert chances[found] == max(chances.values()), "the best sequence of the mixture itself"
        possible = [y for y in chances if scores[y]]
        expected = {y: sum(mixture.marginals[row, t, k] for t, k in enumerate(y)) for y in possible}
        assert expected[tuple(by_tags[row, :length])] == pytest.approx(max(expected.values()))


@given(cases())
@settings(deadline=None, max_examples=60)
def test_one_chain_and_copies_of_it_are_the_chain(case: Case) -> None:
    decoder, emissions = case.decoders[0], case.emissions[0]
    lattice = decoder.forward_backward(emissions, case.lengths)
    for copies in (1, 3):
        mixture = case.mixture((0,) * copies)
        assert np.array_equal(mixture.best_tags(), decoder.viterbi(emissions, case.lengths)[0])
        assert mixture.marginals == pytest.approx(lattice.marginals())
    plain = decoder.with_temperature(1.0)
    alone = Mixture([plain.forward_backward(emissions, case.lengths)])
    assert np.array_equal(alone.posterior(), decoder.posterior(emissions, case.lengths)[0])


@given(cases(fewest=2))
@settings(deadline=None, max_examples=30)
def test_the_order_of_the_chains_does_not_matter(case: Case) -> None:
    one, other = case.mixture(), case.mixture(tuple(reversed(range(len(case.decoders)))))
    assert one.marginals == pytest.approx(other.marginals)
    assert np.array_equal(one.best_tags(), other.best_tags())


def test_neighbouring_pairs_are_those_of_the_range() -> None:
    """The probability of a pair, found as that of a range of two tokens."""
    generator = np.random.default_rng(0)
    decoder = Decoder(
        transitions=generator.normal(size=(3, 3)),
        start=generator.normal(size=3),
        end=generator.normal(size=3),
        temperature=1.7,
    )
    lattice = decoder.forward_backward(generator.normal(size=(2, 4, 3)), [4, 2])
    for t in range(1, 4):
        pairs = lattice.pairs(t)
        for i, j in product(range(3), repeat=2):
            assert pairs[0, i, j] == pytest.approx(lattice.path_probability(0, t - 1, t + 1, [i, j]))
    assert lattice.pairs(1)[1].sum() == pytest.approx(1.0)
    assert not lattice.pairs(2)[1].any(), "past the end"
