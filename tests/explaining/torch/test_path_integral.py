"""If these fail, the numbers on a page are not integrated gradients."""

from __future__ import annotations

import sys

import pytest
import torch
from torch import Tensor

from gonie.errors import MissingExtraError
from gonie.explaining.torch import path_integral
from gonie.explaining.torch.path_integral import integrate


def curved(x: Tensor, y: Tensor) -> Tensor:
    return (x.flatten(1).sum(1) * y.flatten(1).prod(1)).tanh() + x.flatten(1).pow(2).sum(1)


def test_the_integral_of_a_linear_function_is_input_times_slope() -> None:
    slope, x = torch.randn(3, 2), torch.randn(3, 2)
    weights, rise = integrate(lambda points: (points * slope).sum((1, 2)) + 5, [x])
    torch.testing.assert_close(weights[0], slope * x)
    assert rise == pytest.approx(float((slope * x).sum()), abs=1e-5)


def test_the_integral_equals_a_plain_sum_along_the_path() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(2, 3), torch.randn(4)
    weights, rise = integrate(curved, [x, y])
    sums, parts = [torch.zeros_like(x), torch.zeros_like(y)], 4000
    for part in range(parts):
        point = [((part + 0.5) / parts * whole).unsqueeze(0).requires_grad_() for whole in (x, y)]
        slopes = torch.autograd.grad(curved(*point), point)
        sums = [total + slope[0] / parts for total, slope in zip(sums, slopes, strict=True)]
    torch.testing.assert_close(weights[0], sums[0] * x, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(weights[1], sums[1] * y, atol=1e-3, rtol=1e-3)
    assert rise == pytest.approx(float(weights[0].sum() + weights[1].sum()), abs=1e-3)


def test_a_large_input_is_integrated_a_few_points_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = torch.randn(2, 3), torch.randn(4)
    whole, _ = integrate(curved, [x, y])
    monkeypatch.setattr(path_integral, "BATCH_NUMBERS", 30)
    met = []

    def noted(*points: Tensor) -> Tensor:
        met.append(len(points[0]))
        return curved(*points)

    parts, _ = integrate(noted, [x, y])
    assert max(met) <= 3
    torch.testing.assert_close(parts, whole)


def test_an_input_of_width_0_has_no_weights() -> None:
    """A model that has only n-grams has word vectors of width 0."""
    weights, _ = integrate(lambda empty, x: x.sum(1), [torch.zeros(3, 0), torch.ones(2)])
    assert weights[0].shape == (3, 0)
    assert weights[1].tolist() == pytest.approx([1, 1])


def test_without_captum_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "captum.attr", None)
    with pytest.raises(MissingExtraError, match=r"captum.*gonie\[explain\]"):
        integrate(lambda x: x.sum(1), [torch.ones(2)])
