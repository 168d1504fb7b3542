"""SGD over windows, compiled for the CPU, with one update per window: no autograd, no copies.

For each window in the given order, the network of ``encoders.window`` under one output layer runs forward and
backward, and every weight is updated in place before the next window:

    forward    a0 = [x₋ … x₊],   al = tanh(Wl al-1 + bl),   p = g(U aN + c)
    back       e = p - y,   δN = (Uᵀ e)(1 - aN²),   δl-1 = (Wlᵀ δl)(1 - al-1²),   ∂x = W1ᵀ δ1
    update     W -= α (δ aᵀ + λ/m W),   b -= α δ,   and the rows of the tables that x was read from -= α ∂x

g is the sigmoid for one output, otherwise the softmax. ``by_hand`` derives the same for reading.

Performance: the first matrix (100 x 500 floats for H = 100, C = 5, D = 100) is too large for the L1 cache,
and an update reads it twice and writes it once, 600 KB. So its gradient is never stored. The backward pass
and the update are one pass, four rows at a time, with each value read once and written once.

Weight decay in float32: α λ/m is about 1e-9 of a weight, and 1 - 1e-9 rounds to 1. So the decay is
accumulated. The matrices are ``scale`` times the stored values, and each window reduces the scale. The scale
is multiplied into the matrices from time to time and at the end.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.nn.compiled import compiled, exp_in_place

Floats = NDArray[Any]
"""float32 or float64, the same for all arrays of a call."""
Ints = NDArray[np.int64]

HALF = 0.5
"""Lower limit of the scale of the matrices. A larger decay in one step is applied directly."""


class WindowTokens(NamedTuple):
    """A batch of sentences as a grid of P = B * T tokens, including padding."""

    ids: Any
    """A list with the rows that each part of a token's vector sums: (F,) Ints for each part."""
    offsets: Any
    """A list: part i of token p sums ids[i][offsets[i][p] : offsets[i][p + 1]]; (P + 1,) Ints each."""
    first: Ints
    """(P,) the first token of each token's sentence."""
    last: Ints
    """(P,) the last token of each token's sentence."""
    tags: Ints
    """(P,) the correct output; with one output 1 or 0."""


class Network(NamedTuple):
    """The weights, changed in place. D is the sum of the widths of n parts; N layers, K outputs."""

    learned: Any
    """A list of n tables (R, Di): rows from 0 on."""
    fixed: Any
    """A list of n tables (Q, Di): rows from R on, never changed."""
    edges: Floats
    """(2, D) the vectors before and after a sentence."""
    weights: Any
    """A list of N matrices: (H, C * D), then (H, H)."""
    biases: Any
    """A list of N vectors (H,)."""
    output: Floats
    """(K, H)"""
    output_bias: Floats
    """(K,)"""


@compiled
def run(order: Ints, tokens: WindowTokens, network: Network, rate: float, weight_decay: float) -> float:
    """Update the network once for each token of ``order``. Return the summed cross-entropy.

    ``rate`` is α, ``weight_decay`` λ/m. The result excludes the penalty.
    """
    edges, weights, output = network.edges, network.weights, network.output
    size = weights[0].shape[1] // edges.shape[1]
    depth, hidden = len(weights), output.shape[1]
    step, shrink = edges.dtype.type(rate), 1.0 - rate * weight_decay
    deferred = shrink > HALF
    keep = edges.dtype.type(1.0 if deferred else shrink)
    scale = 1.0  # the matrices are this times the stored values
    x, dx = np.empty_like(weights[0][0]), np.empty_like(weights[0][0])  # (C * D,)
    states = np.empty((depth, hidden), edges.dtype)
    errors = np.empty((depth, hidden), edges.dtype)  # first ∂J/∂a, then δ
    p = np.empty_like(network.output_bias)  # (K,)
    total = 0.0
    for token in order:
        now, scale = edges.dtype.type(scale), scale * shrink if deferred else scale
        move = edges.dtype.type(rate / scale)  # step of the stored values
        _read_window(x, token, size, tokens, network)
        for layer in range(depth):
            below = x if layer == 0 else states[layer - 1]
            _multiply(weights[layer], now, below, network.biases[layer], states[layer])
            _tanh_in_place(states[layer])
        _multiply(output, now, states[depth - 1], network.output_bias, p)
        total += _cross_entropy_errors(p, tokens.tags[token])
        _backpropagate(output, now, p, states[depth - 1], errors[depth - 1], move, keep)
        _subtract_step(network.output_bias, p, step)
        for layer in range(depth - 1, -1, -1):
            below, error = (x, dx) if layer == 0 else (states[layer - 1], errors[layer - 1])
            _times_tanh_slope(errors[layer], states[layer])
            _backpropagate(weights[layer], now, errors[layer], below, error, move, keep)
            _subtract_step(network.biases[layer], errors[layer], step)
        _write_window(dx, token, size, tokens, network, step)
        if scale < HALF:
            _apply_scale(network, scale)
            scale = 1.0
    _apply_scale(network, scale)
    return total


@compiled
def _apply_scale(network: Network, scale: float) -> None:
    """Multiply the scale into the stored matrices."""
    if scale == 1.0:
        return
    factor = network.output.dtype.type(scale)
    for weight in network.weights:
        weight[:] = factor * weight
    network.output[:] = factor * network.output


@compiled
def _read_window(x: Floats, token: int, size: int, tokens: WindowTokens, network: Network) -> None:
    """Set x to the vectors of the tokens around ``token``, concatenated."""
    width = network.edges.shape[1]
    for place in range(size):
        at, base = token + place - size // 2, place * width
        if at < tokens.first[token] or at > tokens.last[token]:
            side = 0 if at < tokens.first[token] else 1
            x[base : base + width] = network.edges[side]
            continue
        for part in range(len(network.learned)):
            learned, fixed = network.learned[part], network.fixed[part]
            ids, offsets = tokens.ids[part], tokens.offsets[part]
            stop = base + learned.shape[1]
            x[base:stop] = 0.0
            for i in range(offsets[at], offsets[at + 1]):
                row = ids[i]
                if row < len(learned):
                    x[base:stop] += learned[row]
                else:
                    x[base:stop] += fixed[row - len(learned)]
            base = stop


@compiled
def _write_window(
    dx: Floats, token: int, size: int, tokens: WindowTokens, network: Network, step: np.float32
) -> None:
    """Update the rows that ``_read_window`` read. A row that occurs twice in the window is updated twice."""
    width = network.edges.shape[1]
    for place in range(size):
        at, base = token + place - size // 2, place * width
        if at < tokens.first[token] or at > tokens.last[token]:
            side = 0 if at < tokens.first[token] else 1
            _subtract_step(network.edges[side], dx[base : base + width], step)
            continue
        for part in range(len(network.learned)):
            learned = network.learned[part]
            ids, offsets = tokens.ids[part], tokens.offsets[part]
            stop = base + learned.shape[1]
            for i in range(offsets[at], offsets[at + 1]):
                if ids[i] < len(learned):
                    _subtract_step(learned[ids[i]], dx[base:stop], step)
            base = stop


@compiled
def _multiply(weight: Floats, scale: np.float32, x: Floats, bias: Floats, result: Floats) -> None:
    """Compute result = scale weight x + bias, four rows at a time. Shape: (H, D), (), (D,), (H,), (H,)."""
    rows, width = weight.shape
    row = 0
    while row + 4 <= rows:
        w0, w1, w2, w3 = weight[row], weight[row + 1], weight[row + 2], weight[row + 3]
        s0 = s1 = s2 = s3 = weight.dtype.type(0.0)
        for i in range(width):
            s0 += w0[i] * x[i]
            s1 += w1[i] * x[i]
            s2 += w2[i] * x[i]
            s3 += w3[i] * x[i]
        result[row], result[row + 1] = scale * s0 + bias[row], scale * s1 + bias[row + 1]
        result[row + 2], result[row + 3] = scale * s2 + bias[row + 2], scale * s3 + bias[row + 3]
        row += 4
    for last in range(row, rows):
        w = weight[last]
        s = weight.dtype.type(0.0)
        for i in range(width):
            s += w[i] * x[i]
        result[last] = scale * s + bias[last]


@compiled
def _backpropagate(
    weight: Floats,
    scale: np.float32,
    error: Floats,
    x: Floats,
    dx: Floats,
    step: np.float32,
    keep: np.float32,
) -> None:
    """Compute dx = scale weightᵀ error with the old weight, then weight = keep weight - step error xᵀ."""
    rows, width = weight.shape
    dx[:] = 0.0
    row = 0
    while row + 4 <= rows:
        w0, w1, w2, w3 = weight[row], weight[row + 1], weight[row + 2], weight[row + 3]
        e0, e1, e2, e3 = error[row], error[row + 1], error[row + 2], error[row + 3]
        m0, m1, m2, m3 = step * e0, step * e1, step * e2, step * e3
        e0, e1, e2, e3 = scale * e0, scale * e1, scale * e2, scale * e3
        for i in range(width):
            v0, v1, v2, v3 = w0[i], w1[i], w2[i], w3[i]
            dx[i] += e0 * v0 + e1 * v1 + e2 * v2 + e3 * v3
            w0[i] = keep * v0 - m0 * x[i]
            w1[i] = keep * v1 - m1 * x[i]
            w2[i] = keep * v2 - m2 * x[i]
            w3[i] = keep * v3 - m3 * x[i]
        row += 4
    for last in range(row, rows):
        w, e, m = weight[last], scale * error[last], step * error[last]
        for i in range(width):
            v = w[i]
            dx[i] += e * v
            w[i] = keep * v - m * x[i]


@compiled
def _subtract_step(values: Floats, gradient: Floats, step: np.float32) -> None:
    """values -= step gradient."""
    for i in range(len(values)):
        values[i] -= step * gradient[i]


@compiled
def _tanh_in_place(z: Floats) -> None:
    """Apply tanh in place, as 2 / (1 + e^-2z) - 1."""
    for i in range(len(z)):
        z[i] = -(z[i] + z[i])
    exp_in_place(z)
    one = z.dtype.type(1.0)
    for i in range(len(z)):
        z[i] = (one + one) / (one + z[i]) - one


@compiled
def _times_tanh_slope(error: Floats, state: Floats) -> None:
    """error *= 1 - state²."""
    one = error.dtype.type(1.0)
    for i in range(len(error)):
        error[i] *= one - state[i] * state[i]


@compiled
def _cross_entropy_errors(scores: Floats, tag: int) -> float:
    """Replace scores by the errors p - y in place, and return -log p of the correct output."""
    if len(scores) == 1:  # sigmoid
        z = float(scores[0]) if tag == 1 else -float(scores[0])
        loss = log1p(exp(-z)) if z > 0.0 else log1p(exp(z)) - z
        wrong = -expm1(-loss)  # 1 - the probability of the correct output
        scores[0] = -wrong if tag == 1 else wrong
        return loss
    top = scores.max()
    total = 0.0
    for k in range(len(scores)):
        total += exp(float(scores[k] - top))
    loss = log(total) - float(scores[tag] - top)
    for k in range(len(scores)):
        scores[k] = exp(float(scores[k] - top)) / total
    scores[tag] -= 1.0
    return loss
