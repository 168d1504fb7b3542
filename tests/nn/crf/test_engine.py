"""Tests each CRF implementation on long sentences, forbidden transitions, large scores and low precision.

Without a GPU the Triton kernels run in Triton's interpreter, number by number, on small cases only.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
import torch
from torch import Tensor

from gonie.errors import InputError
from gonie.nn import CRF
from gonie.nn.available import has_numba
from gonie.nn.crf import brute_force as brute
from gonie.nn.crf import layer, scan
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.engine import SCAN, ChainEngine, choose, triton_kernels
from gonie.nn.crf.path_score import path_score

HAS_GPU = torch.cuda.is_available()
if not HAS_GPU:
    os.environ["TRITON_INTERPRET"] = "1"  # read when the kernels are first imported, below
COMPILED, _ = choose(torch.zeros(1, 1, 1), torch.float32)
TRITON = triton_kernels() if find_spec("triton") else SCAN
needs_numba = pytest.mark.skipif(not has_numba(), reason="Numba is not installed")
needs_triton = pytest.mark.skipif(not find_spec("triton"), reason="Triton is not installed")
EVERYWHERE = [
    pytest.param(SCAN, "cpu", id="scan"),
    pytest.param(
        SCAN, "cuda", id="scan-cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
    ),
    pytest.param(COMPILED, "cpu", id="compiled", marks=needs_numba),
]


@pytest.fixture(params=[SCAN, pytest.param(COMPILED, marks=needs_numba)], ids=["scan", "compiled"])
def engine(request: pytest.FixtureRequest) -> ChainEngine:
    found: ChainEngine = request.param
    return found


def chain_of(num_tags: int, *, dtype: torch.dtype = torch.float64, scale: float = 1.0) -> Chain:
    return Chain(
        *(scale * torch.randn(*shape, dtype=dtype) for shape in ((num_tags,) * 2, (num_tags,), (num_tags,)))
    )


def learned(chain: Chain) -> Chain:
    return Chain(*(part.clone().requires_grad_() for part in chain))


def full(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def test_log_partition_is_the_same_with_and_without_gradient(engine: ChainEngine) -> None:
    """Training runs both directions at once, evaluation only one."""
    chain, emissions = chain_of(5), torch.randn(3, 7, 5, dtype=torch.float64)
    mask = torch.arange(7) < torch.tensor([[7], [2], [5]])
    with_gradient = engine.log_partition(emissions, mask, learned(chain))
    assert with_gradient.requires_grad
    torch.testing.assert_close(engine.log_partition(emissions, mask, chain), with_gradient.detach())


@pytest.mark.parametrize(("engine", "device"), EVERYWHERE)
def test_marginals_of_a_long_sentence_stay_precise(engine: ChainEngine, device: str) -> None:
    """In float32, a naive sum over 3,000 steps gives marginals with only two correct digits."""
    chain, emissions, mask = chain_of(6), 5 + torch.randn(2, 3000, 6, dtype=torch.float64), full(2, 3000)
    exact = engine.marginals(emissions, mask, chain)
    short = Chain(*(part.float().to(device) for part in chain))
    got = engine.marginals(emissions.float().to(device), mask.to(device), short).cpu()
    torch.testing.assert_close(got.sum(2), torch.ones(2, 3000), atol=1e-5, rtol=0)
    torch.testing.assert_close(got.double(), exact, atol=1e-5, rtol=0)
    log_z = engine.log_partition(emissions.float().to(device), mask.to(device), short).cpu()
    torch.testing.assert_close(
        log_z.double(), engine.log_partition(emissions, mask, chain), rtol=1e-6, atol=0
    )


def test_scores_far_apart_do_not_underflow(engine: ChainEngine) -> None:
    """A path counts even if exp of its transition score underflows in float32."""
    chain = Chain(
        torch.tensor([[0.0, -1000.0], [-1000.0, 0.0]]),
        torch.tensor([0.0, -500.0]),
        torch.tensor([-5000.0, 0.0]),
    )
    emissions = torch.zeros(1, 3, 2)
    expected = brute.log_partition(emissions[0].double(), Chain(*(part.double() for part in chain)))
    got = engine.log_partition(emissions, full(1, 3), chain)
    torch.testing.assert_close(got[0].double(), expected)
    assert not engine.marginals(emissions, full(1, 3), chain).isnan().any()


def test_forbidden_transitions_have_no_probability_and_no_gradient(engine: ChainEngine) -> None:
    chain = chain_of(3)
    chain.transitions[0, 1] = -torch.inf
    chain.start[2] = -torch.inf
    emissions = torch.randn(2, 4, 3, dtype=torch.float64)
    emissions[0, 2, 0] = -torch.inf
    mask = torch.arange(4) < torch.tensor([[4], [3]])
    marginals = engine.marginals(emissions, mask, chain)
    for row, length in enumerate((4, 3)):
        torch.testing.assert_close(marginals[row, :length], brute.marginals(emissions[row, :length], chain))
    parameters = learned(chain)
    engine.log_partition(emissions, mask, parameters).sum().backward()
    assert parameters.transitions.grad is not None
    assert parameters.transitions.grad[0, 1] == 0
    assert all(part.grad is not None and part.grad.isfinite().all() for part in parameters)


def test_log_partition_is_very_low_if_no_path_is_possible(engine: ChainEngine) -> None:
    emissions = torch.zeros(2, 3, 2)
    emissions[1, 1] = -torch.inf
    log_z = engine.log_partition(emissions, full(2, 3), chain_of(2, dtype=torch.float32))
    assert log_z[0].isfinite()
    assert log_z[1] < -1e38


def test_transition_gradients_do_not_depend_on_the_chunk_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long batches are summed a few steps at a time, and no step may be skipped."""
    emissions, mask = (
        torch.randn(3, 8, 4, dtype=torch.float64),
        torch.arange(8) < torch.tensor([[8], [3], [6]]),
    )
    counts = []
    for at_once in (1 << 22, 1, 100):
        monkeypatch.setattr(scan, "PAIRS_AT_ONCE", at_once)
        torch.manual_seed(0)
        chain = learned(chain_of(4))
        scan.log_partition(emissions, mask, chain).sum().backward()
        counts.append(chain.transitions.grad)
    for other in counts[1:]:
        torch.testing.assert_close(other, counts[0])
    assert counts[0] is not None
    torch.testing.assert_close(
        counts[0].sum(), torch.tensor(7.0 + 2.0 + 5.0, dtype=torch.float64)
    )  # number of transitions


def test_marginals_equal_the_gradient_of_the_partition(engine: ChainEngine) -> None:
    chain, emissions = chain_of(4), torch.randn(2, 5, 4, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(5) < torch.tensor([[5], [2]])
    (gradient,) = torch.autograd.grad(engine.log_partition(emissions, mask, chain).sum(), emissions)
    torch.testing.assert_close(gradient, engine.marginals(emissions, mask, chain))


@pytest.mark.parametrize(("engine", "device"), EVERYWHERE)
def test_low_precision_scores_are_summed_in_the_parameters_precision(
    engine: ChainEngine, device: str
) -> None:
    """In bf16 training, the CRF gets bf16 scores, inside autocast or not."""
    chain = Chain(*(part.float().to(device) for part in chain_of(4)))
    emissions, mask = torch.randn(2, 6, 4, device=device).bfloat16(), full(2, 6).to(device)
    expected = engine.log_partition(emissions.float(), mask, chain)
    with torch.autocast(device, dtype=torch.bfloat16):
        parameters = learned(chain)
        got = engine.log_partition(emissions.requires_grad_(), mask, parameters)
        got.sum().backward()
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, expected)
    assert emissions.grad is not None
    assert emissions.grad.dtype == torch.bfloat16
    exact = learned(chain)
    engine.log_partition(emissions.detach().float(), mask, exact).sum().backward()
    torch.testing.assert_close(parameters.transitions.grad, exact.transitions.grad)


@pytest.mark.parametrize("length", [50, 10_000])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_float32_marginals_are_close_to_float64_marginals(
    engine: ChainEngine, length: int, scale: float
) -> None:
    chain = Chain(*(part.float().double() for part in chain_of(5, scale=scale)))
    emissions, mask = (scale * torch.randn(2, length, 5)).double(), full(2, length)
    exact = SCAN.marginals(emissions, mask, chain)
    got = engine.marginals(emissions.float(), mask, Chain(*(part.float() for part in chain)))
    torch.testing.assert_close(got.double(), exact, atol=1e-3, rtol=0)


@pytest.mark.parametrize("scale", [0.0, 0.1, 10.0])
def test_many_similar_tags_over_a_long_sentence_do_not_overflow(engine: ChainEngine, scale: float) -> None:
    """With equal scores, Z is K^T. Sums that grow at every step must not overflow."""
    chain, emissions = chain_of(17, dtype=torch.float32, scale=scale), scale * torch.randn(3, 900, 17)
    log_z = engine.log_partition(emissions, full(3, 900), chain)
    exact = Chain(*(part.double() for part in chain))
    expected = SCAN.log_partition(emissions.double(), full(3, 900), exact)
    torch.testing.assert_close(log_z.double(), expected, rtol=1e-6, atol=1e-3)


@needs_numba
def test_rows_in_log_space_and_other_rows_share_a_batch() -> None:
    """Rows that the compiled loops compute in log space keep their position, value and gradient."""
    torch.manual_seed(1)
    chain = chain_of(4, dtype=torch.float32)
    chain.transitions[2] = -torch.inf  # tag 2 is a dead end
    chain.transitions[:, 2] = 0.0
    emissions, tags = torch.randn(6, 9, 4), torch.randint(0, 2, (6, 9))
    emissions[1, 3, 2] = 80.0  # all the probability goes to the dead end
    emissions[4] *= 200.0
    mask = torch.arange(9) < torch.tensor([[9], [7], [1], [9], [8], [4]])
    weights = torch.randn(6)
    found = []
    for run, kind in ((COMPILED, torch.float32), (SCAN, torch.float64)):
        e, parameters = (
            emissions.clone().to(kind).requires_grad_(),
            learned(Chain(*(p.to(kind) for p in chain))),
        )
        value = run.log_likelihood(e, tags, mask, parameters)
        (value @ weights.to(kind)).backward()
        found.append([value, e.grad, *(p.grad for p in parameters), run.marginals(e, mask, parameters)])
    for ours, exact in zip(*found, strict=True):
        assert ours is not None
        assert exact is not None
        torch.testing.assert_close(ours.double(), exact, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("scale", [1.0, 30.0, 100.0, 1e4])
@pytest.mark.parametrize("rows", [1, 5, 16, 17])
def test_gradients_of_large_scores_are_correct(engine: ChainEngine, rows: int, scale: float) -> None:
    """The counts of a row do not depend on the other rows of the batch."""
    torch.manual_seed(rows)
    chain = Chain(*(part.float().double() for part in chain_of(7, scale=scale)))
    emissions, tags = (scale * torch.randn(rows, 30, 7)).double(), torch.randint(0, 7, (rows, 30))
    mask = torch.arange(30) < torch.randint(1, 31, (rows, 1))
    found = []
    for run, kind in ((engine, torch.float32), (SCAN, torch.float64)):
        e = emissions.to(kind).requires_grad_()
        parameters = learned(Chain(*(part.to(kind) for part in chain)))
        value = run.log_likelihood(e, tags, mask, parameters)
        found.append(torch.autograd.grad(value.sum(), [e, *parameters]))
    for ours, exact in zip(*found, strict=True):
        torch.testing.assert_close(ours.double(), exact, atol=1e-2, rtol=1e-4)


@needs_numba
def test_results_do_not_depend_on_the_number_of_threads() -> None:
    chain, emissions = chain_of(37, dtype=torch.float32), torch.randn(70, 31, 37)
    tags, mask = torch.randint(0, 37, (70, 31)), torch.arange(31) < torch.randint(1, 32, (70, 1))
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 5):
            torch.set_num_threads(threads)
            e, parameters = emissions.clone().requires_grad_(), learned(chain)
            value = COMPILED.log_likelihood(e, tags, mask, parameters)
            value.sum().backward()
            found.append([value, e.grad, parameters.transitions.grad, *COMPILED.viterbi(e, mask, chain)])
    finally:
        torch.set_num_threads(before)
    for one, many in zip(*found, strict=True):
        torch.testing.assert_close(one, many, rtol=1e-5, atol=1e-4)
    best, scores = SCAN.viterbi(emissions, mask, chain)
    assert torch.equal(found[0][3], best)
    torch.testing.assert_close(found[0][4], scores)
    torch.testing.assert_close(
        found[0][0], SCAN.log_likelihood(emissions, tags, mask, chain), rtol=1e-5, atol=1e-4
    )


def test_the_best_path_of_a_long_sentence_is_exact(engine: ChainEngine) -> None:
    """Rounding in float32 sums of 10,000 scores must not change which path is best."""
    chain, emissions, mask = chain_of(5), 20 + torch.randn(1, 10_000, 5, dtype=torch.float64), full(1, 10_000)
    exact, _ = SCAN.viterbi(emissions, mask, chain)
    short = Chain(*(part.float() for part in chain))
    tags, _ = engine.viterbi(emissions.float(), mask, short)
    score = [path_score(emissions, path, mask, chain).item() for path in (tags, exact)]
    assert score[0] >= score[1] - 1e-3


@needs_numba
def test_scores_changed_before_the_backward_pass_are_an_error() -> None:
    """The compiled loops read the scores again in the backward pass, and must not give a wrong gradient."""
    scores, mask = torch.zeros(1, 3, 2, requires_grad=True), full(1, 3)
    emissions = scores * 2
    value = COMPILED.log_partition(emissions, mask, chain_of(2, dtype=torch.float32))
    emissions += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.sum().backward()


def test_an_empty_batch_gives_empty_results_and_zero_gradients(engine: ChainEngine) -> None:
    """The last shard of a corpus may be empty."""
    emissions, mask = torch.zeros(0, 4, 3, requires_grad=True), full(0, 4)
    tags = torch.zeros(0, 4, dtype=torch.int64)
    chain = learned(chain_of(3, dtype=torch.float32))
    engine.log_likelihood(emissions, tags, mask, chain).sum().backward()
    assert chain.transitions.grad is not None
    assert not chain.transitions.grad.any()
    assert engine.viterbi(emissions, mask, chain)[0].shape == (0, 4)
    assert engine.marginals(emissions, mask, chain).shape == (0, 4, 3)


def test_nan_scores_give_nan_for_their_row_only(engine: ChainEngine) -> None:
    emissions = torch.randn(3, 4, 5)
    emissions[1, 2, 3] = torch.nan
    value = engine.log_partition(emissions, full(3, 4), chain_of(5, dtype=torch.float32))
    assert value.isnan().tolist() == [False, True, False]


@needs_numba
def test_choose_returns_the_implementation_and_the_reason() -> None:
    chosen, reason = choose(torch.zeros(1, 1, 2), torch.float32)
    assert (chosen.name, reason) == ("compiled", "torch.float32 on a CPU")
    chosen, reason = choose(torch.zeros(1, 1, 2, device="meta"), torch.float32)
    assert chosen.name == "scan"
    assert "on meta" in reason
    assert choose(torch.zeros(1, 1, 2), torch.bfloat16)[0].name == "scan"
    assert CRF(2).why(torch.zeros(1, 1, 2)) == "compiled: torch.float32 on a CPU"


@needs_triton
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # the interpreter's log of 0
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("num_tags", [1, 5, 17])
def test_the_triton_kernels_equal_the_scan(num_tags: int, kind: torch.dtype) -> None:
    device = "cuda" if HAS_GPU else "cpu"
    chain = Chain(*(part.to(device) for part in chain_of(num_tags, dtype=kind)))
    if num_tags > 1:
        chain.transitions[0, 1] = -torch.inf
        chain.start[1] = -torch.inf
    emissions = torch.randn(3, 6, num_tags, dtype=kind, device=device)
    emissions[0, 2, 0] = 300.0
    mask = torch.arange(6, device=device) < torch.tensor([[6], [1], [4]], device=device)
    emissions = emissions.masked_fill(~mask.unsqueeze(2), torch.nan)
    tags, weights = torch.zeros(3, 6, dtype=torch.int64, device=device), torch.tensor([1.0, -2.0, 0.5])
    tags = tags.masked_fill(~mask, 999)
    found = []
    for run in (TRITON, SCAN):
        results: list[Tensor] = []
        for value_of in (
            lambda e, c, run=run: run.log_likelihood(e, tags, mask, c),
            lambda e, c, run=run: run.log_partition(e, mask, c),
        ):
            e, parameters = emissions.clone().requires_grad_(), learned(chain)
            value = value_of(e, parameters)
            gradients = torch.autograd.grad(value @ weights.to(value), [e, *parameters])
            results += [value.detach(), *gradients]
        best, scores = run.viterbi(emissions, mask, chain)
        found.append([*results, run.marginals(emissions, mask, chain), best, scores])
    exact = {"rtol": 1e-9, "atol": 1e-10} if kind == torch.float64 else {"rtol": 1e-4, "atol": 1e-4}
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, **exact)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize(
    "run",
    [SCAN, pytest.param(COMPILED, marks=needs_numba), pytest.param(TRITON, marks=needs_triton)],
    ids=["scan", "compiled", "triton"],
)
def test_each_implementation_detects_invalid_masks_and_tags(run: ChainEngine) -> None:
    device = "cuda" if HAS_GPU and run.name == "triton" else "cpu"
    chain = Chain(*(part.to(device) for part in chain_of(3)))

    def fits(given: list[list[int]], given_tags: list[list[int]] | None = None) -> bool:
        mask = torch.tensor(given, device=device).bool()
        tags = None if given_tags is None else torch.tensor(given_tags, device=device)
        if not run.marks:
            return run.fits(mask, tags, 3)
        emissions = torch.zeros(*mask.shape, 3, dtype=torch.float64, device=device)
        if tags is not None:
            return not run.log_likelihood(emissions, tags, mask, chain).isinf().any()
        values = run.log_partition(emissions, mask, chain), run.viterbi(emissions, mask, chain)[1]
        assert torch.equal(*(each.isinf() for each in values))
        return not values[0].isinf().any()

    assert fits([[1, 1, 1], [1, 0, 0]])
    assert not fits([[1, 1, 1], [0, 0, 0]])  # an empty row
    assert not fits([[1, 0, 1], [1, 1, 1]])  # a token after padding
    assert not fits([[0, 1, 1], [1, 1, 1]])  # padding on the left
    assert fits([[1, 1, 1], [1, 0, 0]], [[0, 1, 2], [2, -1, 99]])  # tags at padding are ignored
    assert not fits([[1, 1, 1], [1, 0, 0]], [[0, 1, 3], [2, 0, 0]])
    assert not fits([[1, 1, 1], [1, 0, 0]], [[0, 1, 2], [-1, 0, 0]])
    rows = 2 if run is TRITON and not HAS_GPU else 20  # Triton's interpreter is slow
    many = [[1] * 150 for _ in range(rows)]
    assert fits(many)
    many[-1][130] = 0
    assert not fits(many)


@needs_triton
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_the_layer_names_the_row_that_the_kernels_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels detect the row while they compute. The error must come before the value is used."""
    device = "cuda" if HAS_GPU else "cpu"
    monkeypatch.setattr(layer, "engine", lambda emissions, parameters: TRITON)
    crf, emissions = CRF(3).to(device), torch.zeros(2, 3, 3, device=device)
    tags, mask = torch.zeros(2, 3, dtype=torch.int64, device=device), full(2, 3).to(device)
    assert crf.log_likelihood(emissions, tags, mask).isfinite().all()
    stray = mask.clone()
    stray[1, 1] = False
    for ask in (
        lambda: crf.log_likelihood(emissions, tags, stray),
        lambda: crf.log_partition(emissions, stray),
        lambda: crf.viterbi(emissions, stray),
        lambda: crf.marginals(emissions, stray),
    ):
        with pytest.raises(InputError, match="a token after padding in row 1"):
            ask()
    with pytest.raises(InputError, match="5 in row 0 at token 0"):
        crf.log_likelihood(emissions, tags + 5, mask)


@needs_triton
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_the_triton_kernels_accept_one_gradient_for_all_rows() -> None:
    """The gradient of a mean is one number expanded to all rows, not one number per row."""
    device = "cuda" if HAS_GPU else "cpu"
    chain = Chain(*(part.to(device) for part in chain_of(3)))
    emissions = torch.randn(4, 5, 3, dtype=torch.float64, device=device)
    found = []
    for run in (TRITON, SCAN):
        e = emissions.clone().requires_grad_()
        found += torch.autograd.grad(run.log_partition(e, full(4, 5).to(device), chain).mean(), e)
    torch.testing.assert_close(*found)


@needs_triton
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_the_triton_kernels_accept_low_precision_scores() -> None:
    device = "cuda" if HAS_GPU else "cpu"
    chain = Chain(*(part.float().to(device) for part in chain_of(4)))
    emissions, mask = torch.randn(2, 5, 4, device=device).bfloat16().requires_grad_(), full(2, 5).to(device)
    value = TRITON.log_partition(emissions, mask, chain)
    torch.testing.assert_close(value, SCAN.log_partition(emissions.detach().float(), mask, chain))
    value.sum().backward()
    assert emissions.grad is not None
    assert emissions.grad.dtype == torch.bfloat16
