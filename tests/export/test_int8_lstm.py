"""Tests the int8 LSTM: it follows the quantised formula, and does not depend on the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gonie.export import int8_lstm
from gonie.export.cells import Y_H, Y, cell, recur
from gonie.export.graph import INPUTS, Graph, GraphOutput
from gonie.export.int8_graph import Int8Graph
from gonie.nn.encoders import LSTM, PeepholeLSTM

Array = NDArray[Any]
WIDTH, HIDDEN, LARGEST = 5, 6, 2.0


def layer(kind: Any, seed: int) -> Any:
    torch.manual_seed(seed)
    made = kind(width=WIDTH, hidden=HIDDEN)
    with torch.no_grad():
        for weight in made.parameters():
            weight.normal_()
    return made


class Exported:
    """A graph that has only recurrent layers."""

    def __init__(self, graph: Graph, layers: list[Any], monkeypatch: pytest.MonkeyPatch, output: int) -> None:
        monkeypatch.setitem(INPUTS, "x", (1, ("T", "B", WIDTH)))
        direction = "bidirectional" if len(layers) == 2 else "forward"
        cells = [cell(part) for part in layers]
        states = recur(
            graph,
            graph.input("x"),
            graph.lengths("lengths"),
            cells,
            direction=direction,
            output=output,
            largest=LARGEST,
        )
        shape = ("B", "H") if output == Y_H else ("T", "B", "H")
        self._session = onnxruntime.InferenceSession(
            graph.serialize("layers", {"y": GraphOutput(states, shape)}), providers=["CPUExecutionProvider"]
        )

    def __call__(self, x: Array, lengths: list[int]) -> Array:
        return np.asarray(self._session.run(["y"], {"x": x, "lengths": np.array(lengths)})[0])


def steps(x: Array, largest: float) -> Array:
    """Return numbers clipped to their range and rounded to its 255 steps."""
    step = np.float32(2 * largest / 255)
    return np.rint(np.clip(x, -largest, largest) / step) * step


def rounded(weights: Array) -> Array:
    scales = np.abs(weights).max(1, keepdims=True) / int8_lstm.MAX_WEIGHT
    return np.rint(weights / scales) * scales


def by_hand(part: Any, x: Array) -> Array:
    """Return the states of one sentence (T, D) from an LSTM with quantised inputs and states."""
    weight_ih, weight_hh, *biases = (weight.detach().numpy() for weight in part.lstm.parameters())
    h, c, found = np.zeros(HIDDEN), np.zeros(HIDDEN), []
    for own in x:
        seen = rounded(weight_ih) @ steps(own, LARGEST) + rounded(weight_hh) @ steps(h, 1.0) + sum(biases)
        i, f, g, o = seen.reshape(4, HIDDEN)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        found.append(h)
    return np.array(found)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def numbers(shape: tuple[int, ...], seed: int, size: float = 1.0) -> Array:
    return np.random.default_rng(seed).normal(0, size, shape).astype(np.float32)


@settings(deadline=None, max_examples=20)
@given(T=st.integers(1, 9), seed=st.integers(0, 10_000), size=st.floats(0.1, 4.0))
def test_states_equal_the_quantised_formula(T: int, seed: int, size: float) -> None:
    """Numbers beyond the measured range are included. They are clipped to the range.

    A number halfway between two steps may round to either, so states may be off by a step of one input.
    """
    with pytest.MonkeyPatch.context() as patch:
        part = layer(LSTM, seed)
        x = numbers((T, 1, WIDTH), seed, size)
        found = Exported(Int8Graph(), [part], patch, Y)(x, [T])
        np.testing.assert_allclose(found[:, 0], by_hand(part, x[:, 0]), atol=0.05)


@pytest.mark.parametrize("output", [Y, Y_H])
@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("kind", [LSTM, PeepholeLSTM])
def test_states_are_close_to_those_of_the_float_lstm(
    kind: Any, ways: int, output: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = [layer(kind, seed) for seed in range(ways)]
    exact, near = (Exported(graph, layers, monkeypatch, output) for graph in (Graph(), Int8Graph()))
    x, lengths = numbers((7, 3, WIDTH), 1, 0.5), [7, 2, 5]
    wanted, found = exact(x, lengths), near(x, lengths)
    assert found.shape == wanted.shape
    assert 0 < np.abs(found - wanted).max() < 0.2
    assert np.abs(found - wanted).mean() < 0.02


@pytest.mark.parametrize("kind", [LSTM, PeepholeLSTM])
def test_states_are_identical_in_any_batch(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row is long and has large values, which would change scales computed per batch."""
    exported = Exported(Int8Graph(), [layer(kind, 1), layer(kind, 2)], monkeypatch, Y)
    x, lengths = numbers((1500, 4, WIDTH), 3, 0.2), [9, 1500, 3, 700]
    x[:, 1] *= 1000
    together = exported(x, lengths)
    for row, n in enumerate(lengths):
        np.testing.assert_array_equal(exported(x[:n, [row]], [n])[:, 0], together[:n, row])


def test_sums_of_two_products_fit_16_bits() -> None:
    """Older processors saturate larger sums at 16 bits, so that tags would depend on the machine."""
    assert 2 * 255 * int8_lstm.MAX_WEIGHT < 2**15
