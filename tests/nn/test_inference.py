"""If these fail, evaluating a model during training changes the rest of its training."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from gonie.nn.dropout import VariationalDropout, has_dropout
from gonie.nn.encoders.lstm import LSTM
from gonie.nn.inference import dropping, evaluating


@pytest.mark.parametrize("training", [True, False])
def test_evaluating_restores_the_training_mode(training: bool) -> None:
    model = nn.Sequential(nn.Dropout(0.5)).train(training)
    with evaluating(model):
        assert not model[0].training
    assert model.training is model[0].training is training
    with pytest.raises(ZeroDivisionError), evaluating(model):
        _ = 1 / 0
    assert model.training is model[0].training is training


class Stage(nn.Module):
    """A part whose own training mode matters, such as batch normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        assert not self.training
        return self.dropout(x)  # type: ignore[no-any-return]


def test_dropping_enables_dropout_alone_and_repeats_it() -> None:
    model = Stage()
    before = torch.random.get_rng_state()
    found = []
    for seed in (1, 1, 2):
        with dropping(model, seed=seed) as device:
            assert device.type == "cpu"
            found.append(model(torch.ones(50)))
        assert model.training
        assert model.dropout.training
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
    assert set(found[0].tolist()) == {0.0, 2.0}
    assert torch.equal(before, torch.random.get_rng_state())


def test_frozen_parts_stay_frozen_while_dropping() -> None:
    class Frozen(Stage):
        def train(self, mode: bool = True) -> Frozen:
            return super().train(False)  # type: ignore[return-value]

    model = Frozen().eval()
    with dropping(model, seed=0):
        assert torch.equal(model(torch.ones(9)), torch.ones(9))


def test_without_a_rate_nothing_is_dropped() -> None:
    parts = [nn.Dropout(0.1), VariationalDropout(0.1), LSTM(width=2, hidden=2, dropout=0.1)]
    none = [nn.Dropout(0.0), VariationalDropout(0.0), LSTM(width=2, hidden=2), nn.Linear(2, 2)]
    assert all(map(has_dropout, parts))
    assert not any(map(has_dropout, none))
