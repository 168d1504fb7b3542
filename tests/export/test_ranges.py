"""Tests the measured ranges of recurrent layers, and that measuring leaves no hooks."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gonie.export.ranges import Range, measure_ranges
from gonie.nn.bilm import ProjectedLSTM
from gonie.nn.encoders import LSTM, Bidirectional


def test_ranges_are_the_largest_absolute_values_of_all_batches(elmo: Any) -> None:
    torch.manual_seed(0)
    bilm = elmo().bilm.eval()
    batches = [torch.randn(5, 2, bilm.ahead.layers[0].width) * size for size in (0.5, 2.0, 1.0)]
    given: list[torch.Tensor] = []

    def read(x: torch.Tensor) -> None:
        with torch.no_grad():
            states, _ = bilm.ahead(x, bilm.ahead.start(x))
        given.append(states[0])

    found = measure_ranges(bilm, read, batches)
    first, second = bilm.ahead.layers
    assert found[first].input == max(float(x.abs().max()) for x in batches)
    assert found[first].state == max(float(y.abs().max()) for y in given)
    assert found[second].input == found[first].state
    assert all(found[layer] == Range() for layer in bilm.back.layers)  # without input


def test_no_hooks_are_left_on_the_model(elmo: Any) -> None:
    bilm = elmo().bilm

    def fails(batch: object) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        measure_ranges(bilm, fails, [0])
    assert not any(part._forward_hooks for part in bilm.modules())


@pytest.mark.parametrize("alike", [True, False])
def test_the_input_of_a_bidirectional_layer_is_measured(alike: bool) -> None:
    """The layer may run its two directions at once or one after the other."""
    part = Bidirectional(ahead=LSTM(width=3, hidden=4), back=LSTM(width=3, hidden=4 if alike else 5))
    x, mask = torch.randn(2, 5, 3) * 3, torch.ones(2, 5, dtype=torch.bool)
    with torch.no_grad():
        found = measure_ranges(part, lambda x: part(x, mask), [x])
    assert found[part].input == float(x.abs().max())
    assert 0 < found[part].state < 1


def test_a_model_without_recurrent_layers_has_no_ranges() -> None:
    assert measure_ranges(torch.nn.Linear(2, 2), lambda batch: None, [0]) == {}


def test_clipped_layers_are_measured_too(elmo: Any) -> None:
    bilm = elmo(clip=0.3).bilm
    layers = [part for part in bilm.modules() if isinstance(part, ProjectedLSTM)]
    assert set(measure_ranges(bilm, lambda batch: None, [])) == set(layers)
    assert len(layers) == 4
