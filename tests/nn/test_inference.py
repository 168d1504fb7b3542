"""If these fail, evaluating a model during training changes the rest of its training."""

from __future__ import annotations

import pytest
from torch import nn

from gonie.nn.inference import evaluating


@pytest.mark.parametrize("training", [True, False])
def test_evaluating_restores_the_training_mode(training: bool) -> None:
    model = nn.Sequential(nn.Dropout(0.5)).train(training)
    with evaluating(model):
        assert not model[0].training
    assert model.training is model[0].training is training
    with pytest.raises(ZeroDivisionError), evaluating(model):
        _ = 1 / 0
    assert model.training is model[0].training is training
