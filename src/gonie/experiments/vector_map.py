"""Two-dimensional maps of vectors, and figures that a map can hide: angles and neighbours.

Two sets of vectors are mapped together, so that points of both sets can be compared. They share the axes and,
for t-SNE, the neighbourhoods.
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
START = 1e-4  # standard deviation of the points at the start of t-SNE


HOW: Mapping[Method, str] = {
    "tsne": "t-SNE of the vectors of both panels: neighbours are similar, long distances mean little",
    "pca": "PCA of the vectors of both panels: the axes are the same",
}
"""A note for the reader of the map, by method."""


def mapper(method: Method, *, seed: int) -> Mapper:
    """Return a function that maps points (N, D) to a plane (N, 2). Raise at once if a library is missing."""
    if method == "pca":
        return pca
    _libraries()
    return partial(tsne, seed=seed)


def map_together(before: Floats, after: Floats, put: Mapper) -> tuple[Floats, Floats]:
    """Map both sets to one plane. Shape: (N, D), (N, D) -> (N, 2), (N, 2)."""
    places = put(np.concatenate([before, after]).astype(np.float64))  # (2N, 2)
    return places[: len(before)], places[len(before) :]


def pca(points: Floats) -> Floats:
    """Project to the two directions of greatest variance (Pearson 1901) by SVD. Shape: (N, D) -> (N, 2).

    Each axis is oriented so that its largest weight is positive, because the sign of a singular vector is
    arbitrary.
    """
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)  # (min(N, D), D)
    axes = axes[:2]
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    places = np.zeros((len(points), 2))
    places[:, : len(axes)] = centred @ axes.T
    return places


def tsne(points: Floats, *, seed: int) -> Floats:
    """Map points so that neighbours stay together (van der Maaten & Hinton 2008). Shape: (N, D) -> (N, 2).

    It starts from ``pca``, and the perplexity is lowered for few points. It uses one thread: sums over
    several threads would differ in their last digits from run to run, and t-SNE amplifies that.
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
    """Import t-SNE and the function that limits it to one thread."""
    try:
        from sklearn.manifold import TSNE
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise MissingExtraError(
            "scikit-learn", extra="explain", purpose="--method tsne, unlike --method pca,"
        ) from error
    return TSNE, threadpool_limits


def cosines(one: Floats, other: Floats) -> Floats:
    """Return the cosine similarity of each pair of rows, 0 if one is zero. Shape: (N, D), (N, D) -> (N,)."""
    similar: Floats = np.einsum("nd,nd->n", _unit(one), _unit(other))
    return similar


def nearest(table: Floats, row: int, among: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the ``count`` rows of ``among`` with the highest cosine to ``row``, nearest first.

    ``row`` itself is left out. Shape: table (V, D), among (A,) -> (count,) or fewer.
    """
    others = among[among != row]
    likeness = _unit(table[others]) @ _unit(table[row : row + 1])[0]  # (A,)
    best: NDArray[np.int64] = others[np.argsort(-likeness, kind="stable")[:count]]
    return best


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1.0, lengths)
