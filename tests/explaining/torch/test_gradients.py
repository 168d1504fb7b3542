"""Tests integrated gradients of any task: they are those of its function, and the network keeps its mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gonie.explaining.torch.gradients import network_gradients
from gonie.tasks.torch.task import OddsPath


class Linear:
    """A task whose log-odds are a sum, so that the weights are known."""

    def odds_path(self, network: nn.Module, model: Any, answer: float) -> OddsPath:
        assert not network.training
        inputs = torch.tensor([[1.0, 2.0], [3.0, 4.0]]) * answer

        def words(weights: Any) -> Any:
            return weights[0].sum(1).numpy().astype(np.float64)

        return OddsPath(lambda points: points.flatten(1).sum(1) + 5, [inputs], words)


def test_gradients_are_those_of_the_function_of_the_task() -> None:
    network = nn.Dropout().train()
    found = network_gradients(Linear(), network, None)(2.0)  # type: ignore[arg-type]
    assert found.words.tolist() == pytest.approx([6.0, 14.0], abs=1e-5)
    assert found.gap == pytest.approx(0.0, abs=1e-5)
    assert network.training
