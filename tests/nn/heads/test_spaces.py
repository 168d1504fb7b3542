"""Spaces of distances: directions, and directions scaled by their spread."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from gonie.nn.heads import Cosine, Mahalanobis, PrototypeScores
from gonie.nn.heads.spaces import SHRINKAGE

WIDTH, TAGS = 5, 3


def support() -> tuple[torch.Tensor, torch.Tensor]:
    tags = torch.arange(60) % TAGS
    return torch.randn(60, WIDTH) + 2 * torch.randn(TAGS, WIDTH)[tags], tags


def test_squared_distances_are_those_of_the_shrunk_covariance() -> None:
    states, tags = support()
    space = Mahalanobis(width=WIDTH)
    space.fit(states, tags)
    units = F.normalize(states, dim=1).double().numpy()
    rest = np.concatenate([units[tags == k] - units[tags == k].mean(0) for k in range(TAGS)])
    covariance = rest.T @ rest / len(rest)
    shrunk = (1 - SHRINKAGE) * covariance + SHRINKAGE * np.trace(covariance) / WIDTH * np.eye(WIDTH)
    difference = units[0] - units[1]
    wanted = difference @ np.linalg.solve(shrunk, difference)
    got = (space(states[0]) - space(states[1])).square().sum()
    np.testing.assert_allclose(float(got), wanted, rtol=1e-4)


def test_prototypes_in_this_space_are_linear_discriminant_analysis() -> None:
    states, tags = support()
    scores = PrototypeScores(width=WIDTH, num_tags=TAGS, space=Mahalanobis(width=WIDTH))
    scores.fit(states, tags, torch.zeros(60, dtype=torch.int64))  # one example: the scale stays 1 / 2
    units = F.normalize(states, dim=1).numpy()
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=SHRINKAGE, priors=np.full(TAGS, 1 / TAGS))
    peer.fit(units, tags.numpy())
    asked = torch.randn(20, WIDTH)
    wanted = peer.predict_proba(F.normalize(asked, dim=1).numpy())
    np.testing.assert_allclose(scores(asked).softmax(1).numpy(), wanted, atol=1e-3)


def test_support_without_spread_keeps_finite_distances() -> None:
    space = Mahalanobis(width=WIDTH)
    space.fit(torch.eye(WIDTH)[:2], torch.tensor([0, 1]))
    assert torch.isfinite(space(torch.randn(4, WIDTH))).all()


def test_a_state_of_zeros_has_no_direction() -> None:
    assert torch.equal(Cosine()(torch.zeros(2, 3)), torch.zeros(2, 3))
