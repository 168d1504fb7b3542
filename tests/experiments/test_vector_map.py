"""Tests the projection of word vectors to two dimensions, and nearest neighbours."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import MissingExtraError
from gonie.experiments.vector_map import cosines, map_together, mapper, nearest, pca, tsne


def points(seed: int, number: int, width: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(number, width)) * np.arange(1, width + 1)


@given(st.integers(0, 10_000), st.integers(3, 12), st.integers(2, 6))
def test_pca_projects_to_the_directions_of_largest_variance(seed: int, number: int, width: int) -> None:
    """Compares the result with the eigenvalues of the covariance matrix."""
    x = points(seed, number, width)
    places = pca(x)
    largest = np.linalg.eigvalsh(np.cov(x.T))[::-1][:2]
    assert places.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    covariance = np.cov(places.T)
    assert np.diag(covariance) == pytest.approx(largest)
    assert covariance[0, 1] == pytest.approx(0, abs=1e-9 * max(1, largest[0]))


def test_the_signs_of_pca_do_not_depend_on_the_order_of_points() -> None:
    x = points(1, 9, 4)
    order = np.random.default_rng(2).permutation(9)
    assert np.allclose(pca(x)[order], pca(x[order]))


@pytest.mark.parametrize("shape", [(1, 3), (5, 1), (2, 2), (1, 1)])
@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_few_points_and_narrow_vectors_are_projected(method: str, shape: tuple[int, int]) -> None:
    before, after = map_together(
        points(1, *shape),
        points(2, *shape),
        mapper(method, seed=1),  # type: ignore[arg-type]
    )
    assert before.shape == after.shape == (shape[0], 2)
    assert np.isfinite([before, after]).all()


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_vectors_that_did_not_change_keep_their_position(method: str) -> None:
    """Without shared axes, an unchanged word would seem to have moved."""
    x = points(3, 12, 5)
    before, after = map_together(x, x, mapper(method, seed=1))  # type: ignore[arg-type]
    reach = np.ptp(before, axis=0).max()
    assert np.abs(before - after).max() < 0.05 * reach


def test_identical_points_are_projected() -> None:
    same = np.ones((4, 3))
    for method in ("pca", "tsne"):
        assert np.isfinite(map_together(same, same, mapper(method, seed=1))).all()  # type: ignore[arg-type]


def test_tsne_is_deterministic() -> None:
    x = points(4, 60, 8)
    assert np.array_equal(tsne(x, seed=1), tsne(x, seed=1))


def test_tsne_keeps_groups_together() -> None:
    groups = np.repeat(np.eye(3) * 50, 10, axis=0) + points(5, 30, 3)
    places = tsne(groups, seed=1)
    for place, own in zip(places, np.repeat(range(3), 10), strict=True):
        order = np.argsort(((places - place) ** 2).sum(axis=1))[1:6]
        assert (order // 10 == own).all()


def test_without_scikit_learn_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    with pytest.raises(MissingExtraError, match=r"unlike --method pca, needs scikit-learn.*gonie\[explain\]"):
        mapper("tsne", seed=1)
    assert mapper("pca", seed=1) is pca


def test_cosines_ignore_length_and_are_0_for_zero_vectors() -> None:
    one = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    other = np.array([[5.0, 0.0], [-2.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    assert cosines(one, other) == pytest.approx([1.0, -1.0, np.sqrt(0.5), 0.0])


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 5), st.integers(1, 4))
def test_neighbours_equal_a_naive_search(seed: int, number: int, width: int, count: int) -> None:
    table = points(seed, number, width)
    among = np.arange(1, number)
    found = nearest(table, 1, among, count).tolist()

    def likeness(at: int) -> float:
        return float(table[1] @ table[at] / np.linalg.norm(table[1]) / np.linalg.norm(table[at]))

    others = [at for at in among.tolist() if at != 1]
    best = sorted(map(likeness, others), reverse=True)[:count]
    assert [likeness(at) for at in found] == pytest.approx(best)
    assert 1 not in found
