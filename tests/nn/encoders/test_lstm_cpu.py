"""Compares the compiled LSTM with torch's packed LSTM in float64."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from gonie.nn import LSTM, Bidirectional

pytest.importorskip("numba")
from gonie.nn.compiled import run_in_parallel
from gonie.nn.encoders import lstm_cpu as packed


def reference(layers: list[nn.LSTM], x: Tensor, lengths: Tensor, given: Tensor) -> list[Tensor]:
    """Return the states, and the gradients of x and of each weight."""
    both = nn.LSTM(
        x.shape[2], layers[0].hidden_size, batch_first=True, bidirectional=len(layers) == 2
    ).double()
    suffixes = ("", "_reverse")[: len(layers)]
    both.load_state_dict(
        {n + s: v for layer, s in zip(layers, suffixes, strict=True) for n, v in layer.state_dict().items()}
    )
    x = x.detach().double().requires_grad_()
    rows = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(both(rows)[0], batch_first=True, total_length=x.shape[1])
    states.backward(given.double())
    weights = dict(both.named_parameters())
    gradients = [
        weights[n + s].grad
        for layer, s in zip(layers, suffixes, strict=True)
        for n, _ in layer.named_parameters()
    ]
    return [states, x.grad, *gradients]


@settings(deadline=None, max_examples=40)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=40),
    more=st.integers(0, 3),  # padding past the longest row
    directions=st.integers(1, 2),
    width=st.integers(1, 20),
    hidden=st.integers(1, 35),
    threads=st.integers(1, 6),
    seed=st.integers(0, 2**31),
)
def test_states_and_gradients_equal_those_of_torch(
    *, lengths: list[int], more: int, directions: int, width: int, hidden: int, threads: int, seed: int
) -> None:
    torch.manual_seed(seed)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        layers = [nn.LSTM(width, hidden, batch_first=True) for _ in range(directions)]
        T = max(lengths) + more
        mask = torch.arange(T) < torch.tensor(lengths).unsqueeze(1)
        x = torch.randn(len(lengths), T, width)
        x = x.masked_fill(~mask.unsqueeze(2), torch.nan).requires_grad_()  # padding is never read
        states = packed.lstm(x, mask, *(layer.parameters() for layer in layers))
        given_gradient = torch.randn_like(states)
        states.backward(given_gradient)
    finally:
        torch.set_num_threads(before)
    got = [states, x.grad, *(p.grad for layer in layers for p in layer.parameters())]
    clean = x.detach().masked_fill(~mask.unsqueeze(2), 0.0)
    for ours, theirs in zip(
        got, reference(layers, clean, torch.tensor(lengths), given_gradient), strict=True
    ):
        assert ours is not None
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=2e-5)


def test_a_second_backward_pass_gives_the_same_gradient() -> None:
    part, mask = LSTM(width=3, hidden=4), torch.ones(2, 5, dtype=torch.bool)
    x = torch.randn(2, 5, 3, requires_grad=True)
    total = part(x, mask).square().sum()
    (first,) = torch.autograd.grad(total, x, retain_graph=True)
    (second,) = torch.autograd.grad(total, x)
    assert torch.equal(first, second)


def test_weights_changed_before_the_backward_pass_are_an_error() -> None:
    part, mask = LSTM(width=3, hidden=4), torch.ones(2, 5, dtype=torch.bool)
    states = part(torch.randn(2, 5, 3), mask)
    with torch.no_grad():
        part.lstm.weight_hh_l0.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        states.sum().backward()


def test_nan_input_gives_nan_states() -> None:
    """A run that diverges must show NaN in its loss."""
    part, mask = LSTM(width=3, hidden=4), torch.ones(2, 5, dtype=torch.bool)
    x = torch.randn(2, 5, 3)
    x[1, 2, 0] = torch.nan
    states = part(x, mask)
    assert states[1, 2:].isnan().all()
    assert states[0].isfinite().all()
    assert states[1, :2].isfinite().all()


def test_large_inputs_saturate_as_in_torch() -> None:
    part, mask = LSTM(width=3, hidden=4), torch.ones(2, 5, dtype=torch.bool)
    x = 1e4 * torch.randn(2, 5, 3)
    torch.testing.assert_close(part(x, mask), part.lstm(x)[0], atol=1e-5, rtol=1e-5)


def test_float64_states_equal_float32_states() -> None:
    part, mask = (
        Bidirectional(ahead=LSTM(width=3, hidden=4), back=LSTM(width=3, hidden=4)),
        torch.arange(5) < torch.tensor([[5], [2]]),
    )
    x = torch.randn(2, 5, 3)
    fast = part(x, mask)
    torch.testing.assert_close(part.double()(x.double(), mask), fast.double(), atol=1e-6, rtol=1e-5)


def test_rows_are_divided_among_spare_threads() -> None:
    lengths = np.arange(1, 33)
    parts = packed.plan(lengths, 32, directions=2, threads=4)
    assert [part.direction for part in parts] == [0, 0, 1, 1]
    for direction in (0, 1):
        cells = np.concatenate([part.cells for part in parts if part.direction == direction])
        expected = [row * 32 + t for row in range(32) for t in range(lengths[row])]
        assert sorted(cells.tolist()) == expected
    assert len(packed.plan(lengths[:8], 32, directions=2, threads=16)) == 2  # too few rows to divide


@pytest.mark.parametrize(("rows", "time"), [(3, 2), (3, 0), (0, 2)])
@pytest.mark.parametrize("directions", [1, 2])
def test_a_batch_without_tokens_has_no_states_and_no_gradients(rows: int, time: int, directions: int) -> None:
    """Regression: a length was read beyond the end of an empty array and used to allocate memory."""
    torch.manual_seed(1)
    layers = [nn.LSTM(4, 3) for _ in range(directions)]
    weights = [list(layer.parameters()) for layer in layers]
    x = torch.randn(rows, time, 4, requires_grad=True)
    states = packed.lstm(x, torch.zeros(rows, time, dtype=torch.bool), *weights)
    assert torch.equal(states, torch.zeros(rows, time, 3 * directions))
    states.sum().backward()
    for leaf in (x, *(weight for own in weights for weight in own)):
        assert leaf.grad is not None
        assert torch.equal(leaf.grad, torch.zeros_like(leaf))


def test_rows_without_tokens_do_not_change_other_rows() -> None:
    torch.manual_seed(1)
    layer, before = nn.LSTM(4, 3), torch.get_num_threads()
    x, mask = torch.randn(24, 2, 4), torch.zeros(24, 2, dtype=torch.bool)
    mask[5] = True
    torch.set_num_threads(3)  # two of the three groups of rows have no tokens
    try:
        states = packed.lstm(x, mask, list(layer.parameters()))
    finally:
        torch.set_num_threads(before)
    alone = packed.lstm(x[5:6], mask[5:6], list(layer.parameters()))
    torch.testing.assert_close(states[5:6], alone)
    assert not states[~mask].any()


def test_with_one_thread_tasks_run_in_the_calling_thread() -> None:
    """`train.threads=1` must leave the other cores to other processes."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert set(run_in_parallel([threading.get_ident] * 3)) == {threading.get_ident()}
        torch.set_num_threads(2)
        assert len(set(run_in_parallel([threading.get_ident] * 2))) == 2
    finally:
        torch.set_num_threads(before)


def test_an_error_in_any_thread_is_raised() -> None:
    def fail() -> None:
        raise ValueError("in a thread")

    for tasks in ([fail], [fail, int], [int, fail]):
        with pytest.raises(ValueError, match="in a thread"):
            run_in_parallel(tasks)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_its_own_threads() -> None:
    assert run_in_parallel([int, int, int]) == [0, 0, 0]
    child = os.fork()
    if child == 0:
        os._exit(0 if run_in_parallel([int, int, int]) == [0, 0, 0] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
