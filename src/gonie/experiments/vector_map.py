"""High-dimensional points on paper, and the plain figures that a map can hide: angles and neighbours.

Two sets of vectors are mapped together, so that a point of one and a point of the other can be compared: the
axes, and for t-SNE the neighbourhoods, are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gonie.errors import MissingExtraError

Floats = NDArray[np.floating]
Mapper = Callable[[Floats], Floats]
Method = Literal["tsne", "pca"]

PERPLEXITY = 30.0
START = 1e-4  # spread of the points where t-SNE begins


HOW: Mapping[Method, str] = {
    "tsne": "t-SNE of both panels' vectors together: neighbours are alike, long distances mean little",
    "pca": "PCA of both panels' vectors together: the same place means the same in both",
}
"""What a reader of the map must know."""


def mapper(method: Method, *, seed: int) -> Mapper:
    """What puts points (N, D) on a plane (N, 2); refused at once if it lacks a library."""
    if method == "pca":
        return pca
    _libraries()
    return partial(tsne, seed=seed)


def map_together(before: Floats, after: Floats, put: Mapper) -> tuple[Floats, Floats]:
    """Both sets on one plane. Shape: (N, D), (N, D) -> (N, 2), (N, 2)."""
    places = put(np.concatenate([before, after]).astype(np.float64))  # (2N, 2)
    return places[: len(before)], places[len(before) :]


def pca(points: Floats) -> Floats:
    """The two directions in which points differ most (Pearson 1901), by SVD. Shape: (N, D) -> (N, 2).

    Each axis points where its largest weight is positive: the sign of a singular vector means nothing.
    """
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)  # (min(N, D), D)
    axes = axes[:2]
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    places = np.zeros((len(points), 2))
    places[:, : len(axes)] = centred @ axes.T
    return places


def tsne(points: Floats, *, seed: int) -> Floats:
    """A map that keeps neighbours together (van der Maaten & Hinton 2008). Shape: (N, D) -> (N, 2).

    It starts from ``pca``, with a perplexity fit for few points. One thread: sums of several would differ
    from run to run in their last digits, and t-SNE makes those visible.
    """
    estimator, limits = _libraries()
    start = pca(points)
    spread = float(start[:, 0].std())
    perplexity = min(PERPLEXITY, (len(points) - 1) / 3)
    with limits(1):
        places: Floats = estimator(
            init=(start / spread * START if spread else start).astype(np.float32),
            perplexity=perplexity,
            learning_rate="auto",
            random_state=seed,
        ).fit_transform(points)
    return places


def _libraries() -> tuple[Any, Any]:
    """t-SNE, and what keeps it to one thread."""
    try:
        from sklearn.manifold import TSNE
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise MissingExtraError(
            "scikit-learn", extra="explain", purpose="a t-SNE map (--method pca does without)"
        ) from error
    return TSNE, threadpool_limits


def cosines(one: Floats, other: Floats) -> Floats:
    """How alike in direction the rows are, from -1 to 1; 0 if one is zero. Shape: (N, D), (N, D) -> (N,)."""
    similar: Floats = np.einsum("nd,nd->n", _unit(one), _unit(other))
    return similar


def nearest(table: Floats, row: int, among: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The ``count`` rows of ``among`` most alike in direction to ``row``, itself left out, the nearest first.

    Shape: table (V, D), among (A,) -> (count,) or fewer.
    """
    others = among[among != row]
    likeness = _unit(table[others]) @ _unit(table[row : row + 1])[0]  # (A,)
    best: NDArray[np.int64] = others[np.argsort(-likeness, kind="stable")[:count]]
    return best


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1.0, lengths)
