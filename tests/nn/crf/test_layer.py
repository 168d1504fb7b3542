"""Compares the CRF layer with enumeration of all paths.

If one of these fails, the model is trained on a wrong likelihood or decodes a path that is not the best.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gonie.nn import CRF
from gonie.nn.crf import brute_force as brute
from gonie.nn.crf import layer
from gonie.nn.crf.chain import Constraints
from gonie.nn.crf.engine import SCAN, ChainEngine, engine

sizes = st.tuples(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),  # the lengths of the rows
    st.integers(1, 4),  # K
    st.integers(0, 2**31),  # seed
    st.sampled_from([0.1, 1.0, 30.0]),  # scale of the scores
)


def scan_alone(emissions: Tensor, parameters: torch.dtype) -> ChainEngine:
    """Return the torch implementation, even if another one is faster."""
    return SCAN


def crf_of(num_tags: int, scale: float = 1.0, dtype: torch.dtype = torch.float64) -> CRF:
    crf = CRF(num_tags).to(dtype)
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter, std=scale)
    return crf


def mask_of(lengths: list[int], width: int = 0) -> Tensor:
    return torch.arange(max(*lengths, width, 1)) < torch.tensor(lengths).unsqueeze(1)


def case(drawn: tuple[list[int], int, int, float]) -> tuple[CRF, Tensor, Tensor, Tensor]:
    lengths, num_tags, seed, scale = drawn
    torch.manual_seed(seed)
    mask = mask_of(lengths)
    emissions = scale * torch.randn(*mask.shape, num_tags, dtype=torch.float64)
    return crf_of(num_tags, scale), emissions, torch.randint(0, num_tags, mask.shape), mask


@settings(deadline=None, max_examples=60)
@given(sizes)
def test_results_equal_enumeration(drawn: tuple[list[int], int, int, float]) -> None:
    crf, emissions, tags, mask = case(drawn)
    log_z, likelihood = crf.log_partition(emissions, mask), crf.log_likelihood(emissions, tags, mask)
    (best, scores), marginals = crf.viterbi(emissions, mask), crf.marginals(emissions, mask)
    for row, length in enumerate(drawn[0]):
        e, chain = emissions[row, :length], crf.chain()
        torch.testing.assert_close(log_z[row], brute.log_partition(e, chain))
        path = tuple(tags[row, :length].tolist())
        torch.testing.assert_close(likelihood[row], brute.log_likelihood(e, path, chain))
        torch.testing.assert_close(marginals[row, :length], brute.marginals(e, chain), atol=1e-9, rtol=1e-7)
        expected, score = brute.viterbi(e, chain)
        torch.testing.assert_close(scores[row], score)
        assert tuple(best[row, :length].tolist()) == expected
        assert best[row, length:].eq(-1).all()
        assert not marginals[row, length:].any()


@settings(deadline=None, max_examples=25)
@given(sizes)
def test_gradients_of_the_partition_equal_enumeration(drawn: tuple[list[int], int, int, float]) -> None:
    """Each row has its own weight in the sum, which reveals a gradient that mixes rows."""
    crf, emissions, _, mask = case(drawn)
    weights = torch.randn(len(drawn[0]), dtype=torch.float64)
    inputs = [emissions.requires_grad_(), *crf.parameters()]
    fast = torch.autograd.grad(crf.log_partition(emissions, mask) @ weights, inputs)
    rows = [brute.log_partition(emissions[row, :n], crf.chain()) for row, n in enumerate(drawn[0])]
    slow = torch.autograd.grad(torch.stack(rows) @ weights, inputs, materialize_grads=True)
    for ours, theirs in zip(fast, slow, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=1e-7)


def test_gradients_equal_numerical_ones() -> None:
    lengths = [4, 1, 3]
    crf, mask = crf_of(3), mask_of(lengths, 5)
    emissions = torch.randn(3, 5, 3, dtype=torch.float64, requires_grad=True)
    tags = torch.randint(0, 3, (3, 5))
    parameters = tuple(crf.parameters())
    assert torch.autograd.gradcheck(lambda e, *_: crf.log_partition(e, mask), (emissions, *parameters))
    assert torch.autograd.gradcheck(lambda e, *_: crf.log_likelihood(e, tags, mask), (emissions, *parameters))


@pytest.mark.parametrize("junk", [1e30, float("nan"), float("-inf")])
def test_padding_contents_do_not_matter(junk: float, device: str) -> None:
    lengths = [5, 1, 3]
    crf, mask = crf_of(4).to(device), mask_of(lengths).to(device)
    emissions = torch.randn(3, 5, 4, dtype=torch.float64, device=device)
    tags = torch.randint(0, 4, (3, 5), device=device).where(mask, -1)
    results = []
    for filling, tag in ((0.0, 0), (junk, 999)):
        e = emissions.where(mask.unsqueeze(2), filling).requires_grad_()
        likelihood = crf.log_likelihood(e, tags.where(mask, tag), mask)
        gradients = torch.autograd.grad(likelihood.sum(), [e, *crf.parameters()])
        results.append([likelihood, *gradients, *crf.viterbi(e, mask), crf.marginals(e, mask)])
    for clean, dirty in zip(*results, strict=True):
        torch.testing.assert_close(dirty, clean, atol=0, rtol=0)


def test_results_do_not_depend_on_the_batch(device: str) -> None:
    lengths = [7, 1, 4, 7, 2]
    crf, mask = crf_of(6, dtype=torch.float32).to(device), mask_of(lengths, 9).to(device)
    emissions, tags = torch.randn(5, 9, 6, device=device), torch.randint(0, 6, (5, 9), device=device)
    likelihood, marginals = crf.log_likelihood(emissions, tags, mask), crf.marginals(emissions, mask)
    best, scores = crf.viterbi(emissions, mask)
    for row, n in enumerate(lengths):
        one, alone = emissions[row : row + 1, :n], mask[row : row + 1, :n]
        torch.testing.assert_close(
            crf.log_likelihood(one, tags[row : row + 1, :n], alone), likelihood[row : row + 1]
        )
        torch.testing.assert_close(crf.marginals(one, alone)[0], marginals[row, :n], atol=1e-6, rtol=1e-5)
        path, score = crf.viterbi(one, alone)
        assert torch.equal(path[0], best[row, :n])
        torch.testing.assert_close(score, scores[row : row + 1])


def test_training_learns_transitions_if_emissions_are_uninformative() -> None:
    """The tags alternate and all emissions are 0, so that only transitions can predict them."""
    crf, mask = CRF(2), torch.ones(4, 6, dtype=torch.bool)
    emissions, tags = torch.zeros(4, 6, 2), torch.arange(6).remainder(2).expand(4, 6)
    optimizer = torch.optim.SGD(crf.parameters(), lr=0.5)
    for _ in range(60):
        optimizer.zero_grad()
        (-crf.log_likelihood(emissions, tags, mask).mean()).backward()
        optimizer.step()
    assert torch.equal(crf.viterbi(emissions, mask)[0], tags)
    assert crf.transitions[0, 1] > crf.transitions[0, 0]  # indexed [from, to]


LABELS = ["known", "ambiguous", "unknown"]


def options_of(labels: str, paths: Tensor, num_tags: int) -> Tensor:
    """Return options (B, T, K) that include at least the tags of ``paths`` (B, T)."""
    options = torch.nn.functional.one_hot(paths.clamp(min=0), num_tags).bool()
    share = {"known": 0.0, "ambiguous": 0.4, "unknown": 1.0}[labels]
    return options | (torch.rand(options.shape) < share)


def partial_case(
    constrained: bool, constrain_training: bool, labels: str
) -> tuple[CRF, Tensor, Tensor, Tensor]:
    """Return a CRF of three tags, emissions, options that allow some path, and a mask of lengths 4, 1, 3."""
    allowed = Constraints(
        torch.tensor([[True, False, True], [True, True, False], [True, True, True]]),
        torch.tensor([True, True, False]),
        torch.tensor([True, False, True]),
    )
    crf = CRF(3, allowed=allowed if constrained else None, constrain_training=constrain_training).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    mask = mask_of([4, 1, 3], 5)
    emissions = torch.randn(3, 5, 3, dtype=torch.float64)
    paths = crf.sample(emissions, mask, 1)[:, 0]  # (B, T), allowed paths
    return crf, emissions, options_of(labels, paths, 3), mask


def is_allowed(path: tuple[int, ...], allowed: Constraints) -> bool:
    moves = all(bool(allowed.transitions[i, j]) for i, j in pairwise(path))
    return moves and bool(allowed.start[path[0]]) and bool(allowed.end[path[-1]])


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("constrain_training", [False, True])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("run", [engine, scan_alone], ids=["fastest", "scan"])
def test_partial_labels_equal_enumeration(
    run: Callable[..., ChainEngine],
    constrained: bool,
    constrain_training: bool,
    labels: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Numerator: paths that fit the options and are allowed. Denominator: all paths, or the allowed ones."""
    monkeypatch.setattr(layer, "engine", run)
    crf, emissions, options, mask = partial_case(constrained, constrain_training, labels)
    inputs = [emissions.requires_grad_(), *crf.parameters()]
    rows = []
    for row, n in enumerate((4, 1, 3)):
        fitting, every = [], []
        for path in brute.paths(n, 3):
            score = brute.path_score(emissions[row, :n], path, crf.chain())
            valid = is_allowed(path, crf.allowed())
            if valid or not constrain_training:
                every.append(score)
            if valid and all(options[row, t, tag] for t, tag in enumerate(path)):
                fitting.append(score)
        rows.append(torch.stack(fitting).logsumexp(0) - torch.stack(every).logsumexp(0))
    slow, fast = torch.stack(rows), crf.partial_log_likelihood(emissions, options, mask)
    torch.testing.assert_close(fast, slow)
    weights = torch.randn(3, dtype=torch.float64)
    gradients = (torch.autograd.grad(value @ weights, inputs, retain_graph=True) for value in (fast, slow))
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert torch.autograd.gradcheck(lambda e, *_: crf.partial_log_likelihood(e, options, mask), inputs)


@pytest.mark.parametrize("constrain_training", [False, True])
def test_fully_known_labels_give_the_plain_likelihood(constrain_training: bool) -> None:
    crf, emissions, options, mask = partial_case(True, constrain_training, "known")
    part = crf.partial_log_likelihood(emissions, options, mask)
    torch.testing.assert_close(part, crf.log_likelihood(emissions, options.int().argmax(2), mask))


def test_unlabelled_sentences_train_the_constraints() -> None:
    """The value is log p(allowed). It rises to 0 although training is not constrained."""
    crf, emissions, _, mask = partial_case(True, False, "unknown")
    options = torch.ones_like(emissions, dtype=torch.bool)
    optimizer = torch.optim.SGD(crf.parameters(), lr=0.5)
    values = []
    for _ in range(200):
        optimizer.zero_grad()
        value = crf.partial_log_likelihood(emissions, options, mask).mean()
        (-value).backward()
        optimizer.step()
        values.append(value.item())
    assert values[0] < -1.0
    assert -0.1 < values[-1] < 0.0
    assert crf.transitions[0, 1] < crf.transitions[0, 0]  # from 0 to 1 is not allowed


def test_labels_that_no_allowed_path_fits_have_probability_0() -> None:
    crf, emissions, options, mask = partial_case(True, False, "unknown")
    options[0, 1], options[0, 2] = torch.tensor([[True, False, False], [False, True, False]])  # 0, then 1
    value = crf.partial_log_likelihood(emissions, options, mask)
    assert value[0] == -torch.inf
    assert value[1:].isfinite().all()


@pytest.mark.parametrize("with_edges", [False, True])
def test_unchecked_and_checked_likelihoods_are_identical(with_edges: bool) -> None:
    crf, emissions, options, mask = partial_case(True, False, "ambiguous")
    tags, weights = torch.randint(0, 3, mask.shape), torch.rand(3, dtype=torch.float64)
    edges = torch.randn(3, 4, 3, 3, dtype=torch.float64) if with_edges else None
    inputs = [emissions.requires_grad_(), *crf.parameters()]
    found = []
    for prefix in ("", "unchecked_"):
        values = [
            getattr(crf, f"{prefix}log_likelihood")(emissions, tags, mask, edges=edges),
            getattr(crf, f"{prefix}partial_log_likelihood")(emissions, options, mask, edges=edges),
            getattr(crf, f"{prefix}weighted_log_likelihood")(
                emissions, tags, mask, tag_weights=weights, edges=edges
            ),
        ]
        found.append([*values, *(g for value in values for g in torch.autograd.grad(value.sum(), inputs))])
    assert all(torch.equal(checked, unchecked) for checked, unchecked in zip(*found, strict=True))
