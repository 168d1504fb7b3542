"""The L2 penalty applies only to weight matrices, not to biases, peepholes or transitions."""

from __future__ import annotations

import torch
from torch import nn

from gonie.nn import CRF, LSTM, PeepholeLSTM, Window
from gonie.tasks.torch.matrices import squared_norm


def test_only_matrices_are_penalised() -> None:
    window, linear = Window(width=3, hidden=4, size=3, layers=2), nn.Linear(4, 2)
    matrices = [window.linear()[0].weight, window.linear()[1].weight, linear.weight]
    expected = sum(float(weight.detach().square().sum()) for weight in matrices)
    assert float(squared_norm([window, linear]).detach()) == torch.tensor(expected)


def test_recurrent_matrices_are_penalised_but_not_peepholes_or_transitions() -> None:
    for layer in (LSTM(width=2, hidden=3), PeepholeLSTM(width=2, hidden=3)):
        names = [name for name, _ in layer.named_parameters() if "weight" in name]
        assert len(names) == 2
        expected = sum(float(dict(layer.named_parameters())[name].detach().square().sum()) for name in names)
        torch.testing.assert_close(float(squared_norm([layer]).detach()), expected, rtol=1e-6, atol=0)
    crf = CRF(3)
    nn.init.ones_(crf.transitions)
    assert float(squared_norm([crf])) == 0.0
