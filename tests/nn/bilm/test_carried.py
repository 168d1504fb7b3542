"""What is carried on between stretches: the numbers stay, the way back for gradients ends."""

from __future__ import annotations

import torch

from gonie.nn.bilm import CarriedBoth


def test_no_gradient_flows_into_the_stretch_before() -> None:
    weight = torch.ones(2, 3, requires_grad=True)
    carried = CarriedBoth(ahead=[(2 * weight, 3 * weight)], back=[(4 * weight, 5 * weight)])
    cut = carried.detached()
    assert [tensor.requires_grad for layers in cut for pair in layers for tensor in pair] == [False] * 4
    assert torch.equal(cut.back[0][1], carried.back[0][1])
