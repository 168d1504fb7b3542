"""Tests the compiled loops at the sizes and precisions used in training."""

from __future__ import annotations

import numpy as np
import pytest
from numba.typed import List

from gonie.nn.window.by_hand import cost, gradients, initial
from gonie.nn.window.loops import Network, WindowTokens, run


def network(kind: type, *, hidden: int = 100, width: int = 100, outputs: int = 1, seed: int = 0) -> Network:
    generator = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return generator.uniform(-0.1, 0.1, shape).astype(kind)

    return Network(
        learned=List([drawn(50, width)]),
        fixed=List([np.zeros((0, width), kind)]),
        edges=drawn(2, width),
        weights=List([drawn(hidden, 5 * width)]),
        biases=List([np.zeros(hidden, kind)]),
        output=drawn(outputs, hidden),
        output_bias=np.zeros(outputs, kind),
    )


def tokens(number: int = 400, outputs: int = 1) -> WindowTokens:
    generator = np.random.default_rng(1)
    places = np.arange(number)
    return WindowTokens(
        ids=List([generator.integers(0, 50, number)]),
        offsets=List([np.arange(number + 1)]),
        first=places // 20 * 20,
        last=places // 20 * 20 + 19,
        tags=generator.integers(0, max(2, outputs), number),
    )


@pytest.mark.parametrize("outputs", [1, 5])
@pytest.mark.parametrize(("hidden", "width"), [(100, 100), (7, 13)])
def test_float32_training_stays_close_to_float64(outputs: int, hidden: int, width: int) -> None:
    """Runs 400 updates, also at sizes that are not a multiple of the four rows computed at a time."""
    order = np.random.default_rng(2).permutation(400)
    made = [network(kind, hidden=hidden, width=width, outputs=outputs) for kind in (np.float32, np.float64)]
    costs = [run(order, tokens(outputs=outputs), part, 0.01, 0.001) for part in made]
    assert costs[0] == pytest.approx(costs[1], rel=1e-4)
    np.testing.assert_allclose(made[0].weights[0], made[1].weights[0], atol=1e-4)
    np.testing.assert_allclose(made[0].learned[0], made[1].learned[0], atol=1e-4)


@pytest.mark.parametrize("weight_decay", [1e-5, 1e-3, 1.0, 400.0, 900.0, 1000.0, 1500.0])
def test_weight_decay_has_an_effect_at_any_strength(weight_decay: float) -> None:
    """In float32, 1 - α λ/m rounds to 1 for usual λ, so that the penalty would have no effect."""
    order = np.random.default_rng(2).permutation(400)
    made = [network(kind, hidden=7, width=13) for kind in (np.float32, np.float64)]
    free = [network(kind, hidden=7, width=13) for kind in (np.float32, np.float64)]
    for part, other in zip(made, free, strict=True):
        run(order, tokens(), part, 0.001, weight_decay)
        run(order, tokens(), other, 0.001, 0.0)
    pulled, expected = (
        np.linalg.norm(part.weights[0]) / np.linalg.norm(other.weights[0]) - 1
        for part, other in zip(made, free, strict=True)
    )
    assert expected < 0
    assert pulled == pytest.approx(expected, rel=0.05, abs=2e-8)
    np.testing.assert_allclose(made[0].output, made[1].output, atol=1e-5)


@pytest.mark.parametrize("bias", [-60.0, 60.0])
@pytest.mark.parametrize("outputs", [1, 3])
def test_large_scores_have_the_correct_cost(bias: float, outputs: int) -> None:
    """A confident error costs its score, a confident hit costs 0, and neither overflows."""
    part = network(np.float32, outputs=outputs)
    part.output[:] = 0.0
    part.output_bias[-1] = bias
    data = tokens()
    data.tags[:] = 1 if outputs == 1 else outputs - 1
    cost = run(np.arange(1), data, part, 0.0, 0.0)
    others = np.log(max(1, outputs - 1))  # which share the probability equally
    assert cost == pytest.approx(60.0 + others if bias < 0 else 0.0, abs=1e-5)


def test_no_windows_change_nothing() -> None:
    part = network(np.float32)
    before = part.weights[0].copy()
    assert run(np.arange(0), tokens(), part, 0.1, 0.1) == 0.0
    assert np.array_equal(part.weights[0], before)


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("depth", [1, 2])
def test_an_update_equals_the_hand_derived_gradient(outputs: int, depth: int) -> None:
    """Each window of a sentence is one update with λ/m. The edges are two more words."""
    generator = np.random.default_rng(5)
    words, width, hidden, length, lam, rate = 6, 3, 5, 7, 0.4, 0.1
    vectors = generator.normal(size=(words + 2, width))
    p = initial(vectors, window=5, hidden=[hidden] * depth, classes=outputs, generator=generator)
    sentence = generator.integers(0, words, length)
    padded = np.concatenate([[words] * 2, sentence, [words + 1] * 2])
    tags = generator.integers(0, max(2, outputs), length)
    for at in range(length):
        part = Network(
            learned=List([p.L[:words].copy()]),
            fixed=List([np.zeros((0, width))]),
            edges=p.L[words:].copy(),
            weights=List([W.copy() for W in p.W]),
            biases=List([b.copy() for b in p.b]),
            output=p.U.copy(),
            output_bias=p.c.copy(),
        )
        data = WindowTokens(
            ids=List([sentence]),
            offsets=List([np.arange(length + 1)]),
            first=np.zeros(length, np.int64),
            last=np.full(length, length - 1),
            tags=tags,
        )
        windows, gold = padded[None, at : at + 5], tags[at : at + 1]
        cost_met = run(np.array([at]), data, part, rate, lam / length)
        assert cost_met == pytest.approx(cost(p, windows, gold), rel=1e-12)
        d = gradients(p, windows, gold, lam=lam / length)
        pairs = [
            (part.learned[0], p.L[:words], d.L[:words]),
            (part.edges, p.L[words:], d.L[words:]),
            (part.output, p.U, d.U),
            (part.output_bias, p.c, d.c),
            *zip(part.weights, p.W, d.W, strict=True),
            *zip(part.biases, p.b, d.b, strict=True),
        ]
        for after, before, gradient in pairs:
            np.testing.assert_allclose(after, before - rate * gradient, rtol=1e-10, atol=1e-13)
