"""The window network in numpy with hand-derived gradients, for reading and as a reference for faster code.

A window is ``window`` word ids, and the middle word is classified. Padding is an ordinary word. With
x = [L[w₋] … L[w₊]], the vectors of its words side by side, one hidden layer and m windows:

    a = tanh(W x + b)                          h = g(U a + c),  g the sigmoid for one class, softmax for many
    J = 1/m Σ -log p(y | window) + lam/(2m) (‖W‖² + ‖U‖²)

where p(y | window) is h or 1 - h for one class, h[y] for many. Further hidden layers are stacked, each with
its own W and b. Biases and word vectors are not regularised.

Letters: V words, n the width of a vector, H hidden cells, K classes (1 for the sigmoid), m windows. The
literature writes C for the size of a window and for the strength of the penalty: here ``window`` and ``lam``.
docs/tutorials/gradients.md derives each line, and shows the effect of common errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """All learned parameters. Gradients have the same form."""

    L: Floats
    """(V, n) word vectors."""
    W: tuple[Floats, ...]
    """Of each hidden layer (H, D): D is n · window for the first, the H of the layer below for others."""
    b: tuple[Floats, ...]
    """Of each hidden layer (H,)."""
    U: Floats
    """(K, H) of the last hidden layer."""
    c: Floats
    """(K,)."""

    def blocks(self) -> dict[str, Floats]:
        """Return every array by its name. Layers are numbered from 1."""
        layers = {
            f"{name}{depth}": array
            for name, arrays in (("W", self.W), ("b", self.b))
            for depth, array in enumerate(arrays, start=1)
        }
        return {"L": self.L, **layers, "U": self.U, "c": self.c}


def initial_range(fan_in: int, fan_out: int) -> float:
    """Return √6 / √(fanIn + fanOut): Glorot & Bengio 2010, eq. 16. The roots are separate, not nested."""
    return sqrt(6.0) / sqrt(fan_in + fan_out)


def initial(
    L: Floats, *, window: int, hidden: Sequence[int], classes: int, generator: np.random.Generator
) -> Parameters:
    """Return new parameters over the vectors ``L`` (V, n).

    Weights are uniform in ±``initial_range``, biases 0.
    """
    sizes = (window * L.shape[1], *hidden, classes)
    shapes = list(zip(sizes[1:], sizes, strict=False))  # (H, D) of each layer, U's last
    drawn = [generator.uniform(-1, 1, shape) * initial_range(shape[1], shape[0]) for shape in shapes]
    biases = [np.zeros(shape[0]) for shape in shapes]
    return Parameters(L=L.copy(), W=tuple(drawn[:-1]), b=tuple(biases[:-1]), U=drawn[-1], c=biases[-1])


def activations(p: Parameters, window: Ints) -> list[Floats]:
    """Return the output of each layer for one window of word ids: [x₋ … x₊] (n · window,), then (H,)."""
    a = [p.L[window].ravel()]
    for W, b in zip(p.W, p.b, strict=True):
        a.append(np.tanh(W @ a[-1] + b))
    return a


def probabilities(z: Floats) -> Floats:
    """Return h = g(z): the sigmoid of a single score, otherwise the softmax. Shape: (K,) -> (K,)."""
    if len(z) == 1:
        return 0.5 * (1.0 + np.tanh(0.5 * z))  # 1 / (1 + e^-z), which would overflow
    e = np.exp(z - z.max())
    return np.asarray(e / e.sum())


def cross_entropy(z: Floats, y: int) -> float:
    """Return -log p(y), from the scores before g. Shape: ``z`` (K,)."""
    if len(z) == 1:
        return float(np.logaddexp(0.0, z[0]) - y * z[0])  # -y log h - (1 - y) log(1 - h)
    return float(np.logaddexp.reduce(z) - z[y])


def cost(p: Parameters, windows: Ints, targets: Ints, *, lam: float = 0.0) -> float:
    """Return J over the windows (m, window) with their classes (m,)."""
    m = len(windows)
    loss = sum(
        cross_entropy(p.U @ activations(p, window)[-1] + p.c, y)
        for window, y in zip(windows, targets, strict=True)
    )
    penalty = sum(float(np.sum(weights**2)) for weights in (*p.W, p.U))  # ‖W‖² of every layer, and ‖U‖²
    return loss / m + lam / (2 * m) * penalty


def gradients(p: Parameters, windows: Ints, targets: Ints, *, lam: float = 0.0) -> Parameters:
    """Return ∂J by every parameter, over the windows (m, window) with their classes (m,).

    For an SGD step on one window, pass lam / m, with m the number of all windows. After one epoch, the
    penalty has then been counted once, and not m times.
    """
    m, K = len(windows), len(p.c)
    dL, dU, dc = np.zeros_like(p.L), np.zeros_like(p.U), np.zeros_like(p.c)
    dW, db = [np.zeros_like(W) for W in p.W], [np.zeros_like(b) for b in p.b]
    for window, y in zip(windows, targets, strict=True):
        a = activations(p, window)
        h = probabilities(p.U @ a[-1] + p.c)  # (K,)
        gold = np.array([y]) if K == 1 else np.eye(K)[y]  # (K,)
        error = h - gold  # ∂J/∂z = h - y, with z = U a + c                                          (K,)
        dU += np.outer(error, a[-1])  # ∂J/∂U = (h - y) aᵀ                                           (K, H)
        dc += error  # ∂J/∂c = h - y                                                                 (K,)
        back = p.U.T @ error  # ∂J/∂a = Uᵀ (h - y)                                                   (H,)
        for layer in reversed(range(len(p.W))):
            above, below = a[layer + 1], a[layer]  # above = tanh(W below + b)
            delta = back * (1 - above**2)  # δ = ∂J/∂a ∘ (1 - a²), as tanh' = 1 - tanh²              (H,)
            dW[layer] += np.outer(delta, below)  # ∂J/∂W = δ xᵀ                                      (H, D)
            db[layer] += delta  # ∂J/∂b = δ                                                          (H,)
            back = p.W[layer].T @ delta  # ∂J/∂x = Wᵀ δ                                              (D,)
        for word, part in zip(window, back.reshape(len(window), -1), strict=True):
            dL[word] += part  # ∂J/∂L[w] = its part of ∂J/∂x; a word that occurs twice gets both     (n,)
    return Parameters(
        L=dL / m,
        W=tuple(dw / m + lam / m * W for dw, W in zip(dW, p.W, strict=True)),  # ∂(lam/2m ‖W‖²)/∂W = lam/m W
        b=tuple(d / m for d in db),
        U=dU / m + lam / m * p.U,
        c=dc / m,
    )
