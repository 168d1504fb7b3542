"""Tests int8 products: they equal the quantised formula, are close to float32, and ignore the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gonie.export import int8_gates
from gonie.export.compact import LARGEST
from gonie.export.gates import FloatGates, GateInputs, Gates
from gonie.export.graph import Graph, GraphOutput
from gonie.export.int8_gates import Int8Gates
from gonie.export.ranges import Range
from gonie.nn.bilm import ProjectedLSTM

Array = NDArray[Any]


def layer(width: int, hidden: int, seed: int) -> ProjectedLSTM:
    torch.manual_seed(seed)
    part = ProjectedLSTM(width=width, hidden=hidden)
    with torch.no_grad():
        part.bias.normal_()
    return part


def computed(write: Callable[[Graph], GateInputs], x: Array, h: Array) -> Array:
    """Return the gates (B, 4H) that a graph computes from x and h."""
    graph = Graph()
    gates = write(graph)(graph, graph.weight(x), graph.weight(h))
    results = {name: GraphOutput(gate, ("B", "H")) for name, gate in zip("ifgo", gates, strict=True)}
    session = onnxruntime.InferenceSession(
        graph.serialize("gates", results), providers=["CPUExecutionProvider"]
    )
    return np.concatenate(session.run(list("ifgo"), {}), axis=1)


def as_byte(x: Array, largest: float) -> Array:
    """Return numbers in quantisation steps, clipped."""
    return np.clip(np.rint(x / np.float32(largest / 63)), -64, 63)


def by_hand(parts: list[tuple[Array, Array, float]]) -> Array:
    """Return Σ W x of quantised weights (4H, D) and quantised numbers (B, D), each with its range."""
    weight = np.concatenate([w * np.float32(largest / 63) for w, _, largest in parts], axis=1)
    scales = np.abs(weight).max(1) / 127
    whole = np.rint(weight / scales[:, None])
    numbers = np.concatenate([as_byte(x, largest) for _, x, largest in parts], axis=1)
    return (numbers @ whole.T) * scales


@settings(deadline=None, max_examples=25)
@given(
    rows=st.integers(1, 5),
    width=st.integers(1, 7),
    hidden=st.integers(1, 6),
    seed=st.integers(0, 10_000),
    far=st.floats(0.2, 3.0),
)
def test_int8_sums_equal_the_quantised_formula(
    rows: int, width: int, hidden: int, seed: int, far: float
) -> None:
    """Numbers of up to ``far`` times the measured range are included. They are clipped to the range."""
    random = np.random.default_rng(seed)
    part, sizes = layer(width, hidden, seed), Range(input=0.7, state=0.3)
    x = random.uniform(-0.7 * far, 0.7 * far, (rows, width)).astype(np.float32)
    h = random.uniform(-0.3 * far, 0.3 * far, (rows, width)).astype(np.float32)
    W, U, b = (weight.detach().numpy() for weight in (part.input_weight, part.state_weight, part.bias))
    found = computed(lambda graph: Int8Gates({part: sizes}).over_states(graph, part), x, h)
    np.testing.assert_allclose(found, by_hand([(W, x, 0.7), (U, h, 0.3)]) + b, atol=2e-5)


def both(part: ProjectedLSTM, sizes: Range) -> list[Gates]:
    return [FloatGates(), Int8Gates({part: sizes})]


def test_int8_products_are_close_to_float_products() -> None:
    """Each number and weight is off by at most half a step. The mean error is much smaller."""
    random = np.random.default_rng(0)
    part = layer(64, 32, seed=1)
    x, h = (random.normal(0, 0.3, (8, 64)).astype(np.float32) for _ in range(2))
    sizes = Range(float(np.abs(x).max()), float(np.abs(h).max()))
    true, found = (computed(lambda graph, g=g: g.over_states(graph, part), x, h) for g in both(part, sizes))
    assert 0 < np.abs(true - found).mean() < 0.01 * true.std()


def test_word_tables_are_not_quantised() -> None:
    """The word itself matters most for its tag, so its part of the sum is never rounded."""
    random = np.random.default_rng(0)
    part = layer(16, 8, seed=2)
    words = random.normal(0, 0.3, (5, 16)).astype(np.float32)
    forms, h = np.array([4, 0, 4]), np.zeros((3, 16), dtype=np.float32)
    true, found = (
        computed(lambda graph, g=g: g.over_words(graph, part, graph.weight(words)), forms, h)
        for g in both(part, Range(1.0, 1.0))
    )
    np.testing.assert_allclose(found, true, atol=1e-6)


def test_gates_do_not_depend_on_the_batch() -> None:
    """The gates are identical. With a scale per batch, one sentence could change the tags of another."""
    random = np.random.default_rng(0)
    part, sizes = layer(16, 8, seed=3), Range(1.0, 1.0)
    x, h = (random.normal(0, 0.3, (6, 16)).astype(np.float32) for _ in range(2))
    x[5] *= 100  # large values

    def seen(rows: slice) -> Array:
        return computed(lambda graph: Int8Gates({part: sizes}).over_states(graph, part), x[rows], h[rows])

    assert np.array_equal(seen(slice(0, 2)), seen(slice(0, 6))[:2])


def test_a_layer_of_zero_weights_gives_its_bias() -> None:
    part = layer(4, 3, seed=4)
    with torch.no_grad():
        part.input_weight.zero_()
        part.state_weight.zero_()
    nothing = np.zeros((2, 4), dtype=np.float32)
    found = computed(lambda graph: Int8Gates({part: Range()}).over_states(graph, part), nothing, nothing)
    np.testing.assert_array_equal(found, np.broadcast_to(part.bias.detach().numpy(), (2, 12)))


def test_sums_of_two_products_fit_16_bits() -> None:
    """Older processors saturate larger sums at 16 bits, so that tags would depend on the machine."""
    assert 2 * int8_gates.MOST * LARGEST < 2**15
