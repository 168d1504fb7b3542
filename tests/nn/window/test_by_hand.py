"""Compares hand-derived gradients with autograd and central differences, and tests known errors.

If one of these fails, the page that derives the gradients is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gonie.nn.window.by_hand import (
    Ints,
    Parameters,
    activations,
    cost,
    cross_entropy,
    gradients,
    initial,
    initial_range,
    probabilities,
)
from gonie.training.finite_differences import central_differences


def problem(
    *, seed: int, words: int, width: int, window: int, hidden: tuple[int, ...], classes: int, m: int
) -> tuple[Parameters, Ints, Ints]:
    """Return a network with random biases, windows in which words repeat, and their classes."""
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(words, width))
    p = initial(vectors, window=window, hidden=hidden, classes=classes, generator=generator)
    p = replace(
        p,
        b=tuple(generator.normal(size=b.shape) for b in p.b),
        c=generator.normal(size=p.c.shape),
    )
    windows = generator.integers(words, size=(m, window))
    return p, windows, generator.integers(max(2, classes), size=m)


SIZES = {
    "seed": st.integers(0, 10**6),
    "words": st.integers(1, 6),  # may be fewer than the window size, so that words repeat
    "width": st.integers(1, 3),
    "window": st.sampled_from([1, 3, 5]),
    "hidden": st.lists(st.integers(1, 4), min_size=1, max_size=2).map(tuple),
    "classes": st.sampled_from([1, 2, 4]),
    "m": st.integers(1, 4),
}
LAMS = st.sampled_from([0.0, 0.7])


def torch_cost(blocks: dict[str, Tensor], windows: Ints, targets: Ints, lam: float) -> Tensor:
    """Return the same cost for all windows at once, for autograd."""
    a = blocks["L"][torch.from_numpy(windows)].flatten(1)  # (m, n · window)
    weights = [name for name in blocks if name.startswith("W")]
    for name in weights:
        a = torch.tanh(a @ blocks[name].T + blocks["b" + name[1:]])
    z = a @ blocks["U"].T + blocks["c"]  # (m, K)
    y = torch.from_numpy(targets)
    if z.shape[1] == 1:
        loss = F.binary_cross_entropy_with_logits(z[:, 0], y.double())
    else:
        loss = F.cross_entropy(z, y)
    penalty = sum((blocks[name] ** 2).sum() for name in [*weights, "U"])
    return loss + lam / (2 * len(windows)) * penalty


@given(size=st.fixed_dictionaries(SIZES), lam=LAMS)
@settings(deadline=None)
def test_hand_gradients_equal_autograd(size: dict[str, object], lam: float) -> None:
    p, windows, targets = problem(**size)
    blocks = {name: torch.from_numpy(array).requires_grad_() for name, array in p.blocks().items()}
    loss = torch_cost(blocks, windows, targets, lam)
    loss.backward()
    assert cost(p, windows, targets, lam=lam) == pytest.approx(loss.item(), abs=1e-12)
    for name, found in gradients(p, windows, targets, lam=lam).blocks().items():
        np.testing.assert_allclose(found, blocks[name].grad.numpy(), rtol=0, atol=1e-10, err_msg=name)


def differences(
    p: Parameters, found: Parameters, windows: Ints, targets: Ints, lam: float = 0.0
) -> dict[str, float]:
    """Return the norm of the difference to the numerical gradient of each block, at ε = 1e-4."""
    result = {}
    for (name, array), gradient in zip(p.blocks().items(), found.blocks().values(), strict=True):
        numerical = central_differences(lambda: cost(p, windows, targets, lam=lam), array, epsilon=1e-4)
        result[name] = float(np.linalg.norm(gradient.ravel() - numerical))
    return result


@given(size=st.fixed_dictionaries(SIZES), lam=LAMS)
@settings(deadline=None, max_examples=40)
def test_hand_gradients_equal_numerical_ones(size: dict[str, object], lam: float) -> None:
    p, windows, targets = problem(**size)
    found = gradients(p, windows, targets, lam=lam)
    assert max(differences(p, found, windows, targets, lam).values()) < 1e-7


# --- known errors ----------------------------------------------------------------------------------------


def without_output_error(p: Parameters, windows: Ints, targets: Ints) -> Parameters:
    """Use δ = U (1 - a²) instead of (h - y) U (1 - a²), as in some derivations; one hidden layer."""
    right, dW, db = gradients(p, windows, targets), np.zeros_like(p.W[0]), np.zeros_like(p.b[0])
    for window in windows:
        x, a = activations(p, window)
        delta = p.U[0] * (1 - a**2)
        dW += np.outer(delta, x) / len(windows)
        db += delta / len(windows)
    return replace(right, W=(dW,), b=(db,))


def transposed(p: Parameters, windows: Ints, targets: Ints) -> Parameters:
    """Use ∂J/∂W = x δᵀ instead of δ xᵀ."""
    right = gradients(p, windows, targets)
    return replace(right, W=tuple(dW.T for dW in right.W))


SIGMOID = {"seed": 3, "words": 8, "classes": 1, "m": 5}


@pytest.mark.parametrize("wrong", [without_output_error, transposed])
def test_the_check_finds_known_errors_of_matching_shapes(
    wrong: Callable[[Parameters, Ints, Ints], Parameters],
) -> None:
    """With H = n · window, only the check can find the error, and it names the block."""
    p, windows, targets = problem(width=2, window=3, hidden=(6,), **SIGMOID)
    found = differences(p, wrong(p, windows, targets), windows, targets)
    assert found["W1"] > 1e-2
    assert {name for name, value in found.items() if value > 1e-7} <= {"W1", "b1"}


def test_a_transposed_gradient_fails_by_its_shape_or_by_its_values() -> None:
    """With H ≠ n · window, the update fails. Reshaped to fit, the gradient is still wrong."""
    p, windows, targets = problem(width=2, window=3, hidden=(4,), **SIGMOID)
    wrong = transposed(p, windows, targets)
    with pytest.raises(ValueError, match="broadcast"):
        p.W[0] - 0.1 * wrong.W[0]
    forced = replace(wrong, W=(wrong.W[0].reshape(p.W[0].shape),))
    assert differences(p, forced, windows, targets)["W1"] > 1e-2


def test_a_repeated_word_gets_the_sum_of_its_gradients() -> None:
    """``dL[window] = parts`` keeps only the last gradient. The check must find this error."""
    p, windows, targets = problem(width=2, window=3, hidden=(4,), **SIGMOID)
    windows[0] = [5, 1, 5]
    windows, targets = windows[:1], targets[:1]
    right = gradients(p, windows, targets)
    assert differences(p, right, windows, targets)["L"] < 1e-7
    apart = np.zeros_like(p.L)
    _, a = activations(p, windows[0])
    error = probabilities(p.U @ a + p.c) - targets[0]
    apart[windows[0]] = (p.W[0].T @ (p.U.T @ error * (1 - a**2))).reshape(3, -1)
    assert differences(p, replace(right, L=apart), windows, targets)["L"] > 1e-2


def test_the_check_does_not_find_a_wrong_initial_range() -> None:
    """√(6 / √(fanIn + fanOut)) leaves the gradients correct. Only the activations show the error."""
    generator = np.random.default_rng(1)
    p, windows, targets = problem(width=2, window=3, hidden=(6,), **SIGMOID)
    p = replace(p, W=(generator.uniform(-1, 1, p.W[0].shape) * np.sqrt(6 / np.sqrt(12)),))
    assert max(differences(p, gradients(p, windows, targets), windows, targets).values()) < 1e-7


# --- the rest --------------------------------------------------------------------------------------------


def test_gradients_of_single_windows_average_to_the_whole_gradient() -> None:
    """The penalty of a step is lam / m. With lam, the weights would shrink m times too fast."""
    p, windows, targets = problem(width=2, window=3, hidden=(4, 3), **SIGMOID)
    m, lam = len(windows), 0.5
    steps = [gradients(p, windows[i : i + 1], targets[i : i + 1], lam=lam / m).blocks() for i in range(m)]
    for name, whole in gradients(p, windows, targets, lam=lam).blocks().items():
        np.testing.assert_allclose(sum(step[name] for step in steps) / m, whole, atol=1e-14, err_msg=name)


def test_initial_range_is_root_6_over_root_of_the_fans() -> None:
    assert initial_range(250, 100) == pytest.approx(0.1309, abs=1e-4)


def test_initial_weights_fill_their_range_and_biases_are_zero() -> None:
    generator = np.random.default_rng(0)
    vectors = np.ones((4, 50))
    p = initial(vectors, window=5, hidden=(100, 30), classes=1, generator=generator)
    for weights, (fan_out, fan_in) in zip((*p.W, p.U), [(100, 250), (30, 100), (1, 30)], strict=True):
        assert weights.shape == (fan_out, fan_in)
        assert 0.8 * initial_range(fan_in, fan_out) < abs(weights).max() <= initial_range(fan_in, fan_out)
    assert not any(array.any() for array in (*p.b, p.c))
    p.L[0] = 0.0
    assert vectors.all(), "the vectors that were given are copied"


@pytest.mark.parametrize("z", [-800.0, 0.0, 800.0])
def test_scores_of_any_size_have_a_finite_cost(z: float) -> None:
    """A sigmoid written as 1 / (1 + exp(-z)) overflows here, and its logarithm is infinite."""
    one, two = np.array([z]), np.array([z, 0.0])
    assert probabilities(one)[0] == pytest.approx(probabilities(two)[0])
    assert cross_entropy(one, 1) == pytest.approx(cross_entropy(two, 0)) == pytest.approx(max(-z, 0), abs=0.7)
    assert probabilities(two).sum() == pytest.approx(1.0)
