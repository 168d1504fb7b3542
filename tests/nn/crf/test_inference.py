"""Compares CRF inference with enumeration, for random sizes, masks, constraints and edges.

If one of these fails, users see wrong probabilities.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gonie.nn import CRF
from gonie.nn.crf import brute_force as brute
from gonie.nn.crf.chain import Chain, Constraints

EXACT = {"atol": 1e-10, "rtol": 1e-10}


class Case(NamedTuple):
    crf: CRF
    emissions: Tensor
    mask: Tensor
    edges: Tensor | None
    lengths: list[int]

    def rows(self) -> list[tuple[int, Tensor, Tensor | None]]:
        """Return the length, emissions and edges of each row, without its padding."""
        return [
            (n, self.emissions[row, :n], None if self.edges is None else self.edges[row, : n - 1])
            for row, n in enumerate(self.lengths)
        ]

    def chain(self) -> Chain:
        return Chain(*(part.detach() for part in self.crf.possible()))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    K = draw(st.integers(1, 4))
    torch.manual_seed(draw(st.integers(0, 2**31)))
    scale = draw(st.sampled_from([0.1, 1.0, 20.0]))
    T = max(lengths) + draw(st.integers(0, 2))
    mask = torch.arange(T) < torch.tensor(lengths).unsqueeze(1)
    allowed = None
    if draw(st.booleans()):
        allowed = Constraints(torch.rand(K, K) < 0.7, torch.rand(K) < 0.8, torch.rand(K) < 0.8)
        for part in allowed:
            part[..., 0] = True  # tag 0 is allowed everywhere, so that there is always a path
        allowed.transitions[0] = True
        allowed.end[0] = True
    crf = CRF(K, allowed=allowed, constrain_training=draw(st.booleans())).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter, std=scale)
    emissions = (scale * torch.randn(len(lengths), T, K, dtype=torch.float64)).masked_fill(
        ~mask.unsqueeze(2), torch.nan
    )
    edges = (
        scale * torch.randn(len(lengths), T - 1, K, K, dtype=torch.float64) if draw(st.booleans()) else None
    )
    return Case(crf, emissions, mask, edges, lengths)


@settings(deadline=None, max_examples=60)
@given(cases())
def test_marginals_pair_marginals_and_entropy_equal_enumeration(case: Case) -> None:
    crf, emissions, mask, edges, _ = case
    unary, pairs = (
        crf.marginals(emissions, mask, edges=edges),
        crf.pair_marginals(emissions, mask, edges=edges),
    )
    unsure = crf.entropy(emissions, mask, edges=edges)
    for row, (n, e, edge) in enumerate(case.rows()):
        torch.testing.assert_close(unary[row, :n], brute.marginals(e, case.chain(), edge), **EXACT)
        torch.testing.assert_close(pairs[row, : n - 1], brute.pair_marginals(e, case.chain(), edge), **EXACT)
        torch.testing.assert_close(unsure[row], brute.entropy(e, case.chain(), edge), atol=1e-9, rtol=1e-9)
        assert not unary[row, n:].any()
        assert not pairs[row, max(n - 1, 0) :].any()


@settings(deadline=None, max_examples=60)
@given(cases(), st.integers(1, 7))
def test_nbest_and_viterbi_equal_enumeration(case: Case, n: int) -> None:
    crf, emissions, mask, edges, _ = case
    tags, scores = crf.nbest(emissions, mask, n, edges=edges)
    best, score = crf.viterbi(emissions, mask, edges=edges)
    assert tags.shape == (len(mask), n, mask.shape[1])
    assert torch.equal(best, tags[:, 0])
    torch.testing.assert_close(score, scores[:, 0], **EXACT)
    for row, (length, e, edge) in enumerate(case.rows()):
        expected, values = brute.nbest(e, case.chain(), n, edge)
        found = [tuple(path) for path in tags[row, :, :length].tolist()]
        assert found[: len(expected)] == expected
        torch.testing.assert_close(scores[row, : len(expected)], values, **EXACT)
        assert tags[row, len(expected) :].eq(-1).all()
        assert scores[row, len(expected) :].eq(-torch.inf).all()
        assert tags[row, :, length:].eq(-1).all()


@settings(deadline=None, max_examples=60)
@given(cases(), st.data())
def test_segment_probabilities_equal_enumeration(case: Case, data: st.DataObject) -> None:
    crf, emissions, mask, edges, lengths = case
    rows, starts, segments, expected = [], [], [], []
    for _ in range(5):
        row = data.draw(st.integers(0, len(lengths) - 1))
        start = data.draw(st.integers(0, lengths[row] - 1))
        length = data.draw(st.integers(1, lengths[row] - start))
        segment = tuple(data.draw(st.integers(0, crf.num_tags - 1)) for _ in range(length))
        _, e, edge = case.rows()[row]
        expected.append(brute.segment_probability(e, start, segment, case.chain(), edge))
        rows.append(row)
        starts.append(start)
        segments.append([*segment, *[-1] * (4 - length)])
    where = {"rows": torch.tensor(rows), "starts": torch.tensor(starts), "tags": torch.tensor(segments)}
    got = crf.segment_probabilities(emissions, mask, **where, edges=edges)
    torch.testing.assert_close(got, torch.stack(expected), **EXACT)


@settings(deadline=None, max_examples=40)
@given(cases(), st.integers(0, 2**31))
def test_likelihoods_and_their_gradients_equal_enumeration(case: Case, seed: int) -> None:
    crf, emissions, mask, edges, lengths = case
    torch.manual_seed(seed)
    K = crf.num_tags
    chain, possible = crf.learned(), crf.possible()
    tags = torch.zeros(mask.shape, dtype=torch.int64)  # tag 0 is always possible
    options = torch.rand(*mask.shape, K) < 0.5
    options[..., 0] = True
    emissions = emissions.requires_grad_()
    inputs = [emissions, *crf.parameters()]
    if edges is not None:
        inputs.append(edges.requires_grad_())
    weights = torch.randn(len(lengths), dtype=torch.float64)
    full = crf.log_likelihood(emissions, tags, mask, edges=edges)
    part = crf.partial_log_likelihood(emissions, options, mask, edges=edges)
    even = crf.weighted_log_likelihood(emissions, tags, mask, edges=edges)
    slow_full, slow_part = [], []
    for row, (n, e, edge) in enumerate(case.rows()):
        fits = [all(options[row, t, tag] for t, tag in enumerate(path)) for path in brute.paths(n, K)]
        scores = brute.path_scores(e, chain, edge)
        slow_full.append(brute.log_likelihood(e, (0,) * n, chain, edge))
        fitting = brute.path_scores(e, possible, edge)[torch.tensor(fits)]
        slow_part.append(fitting.logsumexp(0) - scores.logsumexp(0))
    for ours, theirs in ((full, slow_full), (part, slow_part), (even, slow_full)):
        expected = torch.stack(theirs)
        torch.testing.assert_close(ours, expected, **EXACT)
        fast = torch.autograd.grad(ours @ weights, inputs, retain_graph=True, materialize_grads=True)
        slow = torch.autograd.grad(expected @ weights, inputs, retain_graph=True, materialize_grads=True)
        for a, b in zip(fast, slow, strict=True):
            torch.testing.assert_close(a.nan_to_num(0.0), b.nan_to_num(0.0), atol=1e-9, rtol=1e-8)


def test_weights_are_exponents_of_conditional_probabilities() -> None:
    """By the definition, each factor p(yt | yt-1) is raised to its own power."""
    torch.manual_seed(2)
    crf = CRF(3).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    emissions, tags = torch.randn(1, 4, 3, dtype=torch.float64), torch.tensor([[0, 2, 2, 1]])
    by_tag, by_move = torch.tensor([1.0, 2.0, 0.5]).double(), torch.rand(3, 3).double() + 0.5
    mask = torch.ones(1, 4, dtype=torch.bool)
    got = crf.weighted_log_likelihood(emissions, tags, mask, tag_weights=by_tag, move_weights=by_move)
    unary, pairs = (
        brute.marginals(emissions[0], crf.chain()),
        brute.pair_marginals(emissions[0], crf.chain()),
    )
    expected = by_tag[0] * unary[0, 0].log()
    for t, (i, j) in enumerate([(0, 2), (2, 2), (2, 1)]):
        expected = expected + by_tag[j] * by_move[i, j] * (pairs[t, i, j] / unary[t, i]).log()
    torch.testing.assert_close(got[0], expected.detach(), check_dtype=False)
    inputs = (emissions.requires_grad_(), *crf.parameters())
    assert torch.autograd.gradcheck(
        lambda e, *_: crf.weighted_log_likelihood(e, tags, mask, tag_weights=by_tag, move_weights=by_move),
        inputs,
    )


@pytest.mark.parametrize("with_edges", [False, True])
def test_sample_frequencies_match_the_path_probabilities(with_edges: bool) -> None:
    """A chi-square test of 20,000 samples over all 27 paths of one row and 3 of another."""
    torch.manual_seed(4)
    crf = CRF(3).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    emissions = torch.randn(2, 3, 3, dtype=torch.float64)
    edges = torch.randn(2, 2, 3, 3, dtype=torch.float64) if with_edges else None
    mask = torch.tensor([[True, True, True], [True, False, False]])
    generator = torch.Generator().manual_seed(5)
    drawn = crf.sample(emissions, mask, 20_000, edges=edges, generator=generator)
    again = crf.sample(emissions, mask, 20_000, edges=edges, generator=torch.Generator().manual_seed(5))
    assert torch.equal(drawn, again)
    assert drawn[1, :, 1:].eq(-1).all()
    for row, n in enumerate((3, 1)):
        edge = None if edges is None else edges[row, : n - 1]
        shares = torch.softmax(brute.path_scores(emissions[row, :n], crf.chain(), edge), 0).detach()
        place = (drawn[row, :, :n] * torch.tensor([3 ** (n - 1 - t) for t in range(n)])).sum(1)
        counts = torch.bincount(place, minlength=3**n)
        expected = 20_000 * shares
        statistic = ((counts - expected).square() / expected).sum().item()
        degrees = 3**n - 1
        assert statistic < degrees + 5 * (2 * degrees) ** 0.5  # five standard deviations of chi-square


def test_posterior_decoding_returns_an_allowed_path() -> None:
    """The most probable tags of single tokens may not form an allowed path."""
    allowed = Constraints(
        torch.tensor([[True, False], [True, True]]), torch.ones(2).bool(), torch.ones(2).bool()
    )
    crf = CRF(2, allowed=allowed).double()
    emissions = torch.tensor([[[2.0, 0.0], [0.0, 0.5]]], dtype=torch.float64)
    mask = torch.ones(1, 2, dtype=torch.bool)
    tags, right = crf.posterior(emissions, mask)
    p = crf.marginals(emissions, mask)
    paths = {
        (0, 0): p[0, 0, 0] + p[0, 1, 0],
        (1, 0): p[0, 0, 1] + p[0, 1, 0],
        (1, 1): p[0, 0, 1] + p[0, 1, 1],
    }
    best = max(paths, key=lambda path: float(paths[path]))
    assert tuple(tags[0].tolist()) == best
    torch.testing.assert_close(right[0], paths[best])


def test_training_applies_constraints_only_with_constrain_training() -> None:
    allowed = Constraints(torch.eye(2).bool(), torch.ones(2).bool(), torch.ones(2).bool())
    emissions, mask = torch.zeros(1, 3, 2), torch.ones(1, 3, dtype=torch.bool)
    free, bound = CRF(2, allowed=allowed), CRF(2, allowed=allowed, constrain_training=True)
    assert free.log_partition(emissions, mask).exp().item() == pytest.approx(8)
    assert bound.log_partition(emissions, mask).exp().item() == pytest.approx(2)
    assert free.nbest(emissions, mask, 3)[1][0].tolist() == [0.0, 0.0, -torch.inf]
    assert not [name for name in bound.state_dict() if "allowed" in name]  # from the scheme, not saved
