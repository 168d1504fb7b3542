"""Standard one-way LSTM layer without peepholes: cuDNN on a GPU, compiled loops on a CPU."""

from __future__ import annotations

import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.available import has_numba
from gonie.nn.dropout import checked_rate
from gonie.nn.initial import forget_bias_, glorot_, orthogonal_


class LSTM(nn.Module):
    """One forward LSTM layer, Hochreiter & Schmidhuber 1997 with the forget gate of Gers et al. 2000.

    i, f, o = σ(W x[t] + U h[t-1] + b);  c[t] = f ∘ c[t-1] + i ∘ tanh(W x[t] + U h[t-1] + b);
    h[t] = o ∘ tanh(c[t]);  each of the four with its own W, U, b. States start at 0 in each sentence.

    Weights are those of ``torch.nn.LSTM``, gates in the order i, f, cell, o. Initial weights: W Glorot, U
    orthogonal, b 1 for f and 0 otherwise (see ``initial``). In float32 on a CPU it runs in ``lstm_cpu``
    (which needs Numba). Elsewhere torch's LSTM runs on the padded tensors. Their padding is on the right and
    cannot affect earlier steps. ``dropout`` is applied to U, with one mask for all sentences and steps of a
    batch (Merity et al. 2018, arXiv:1708.02182, §3).

    Shape: (B, T, width) -> (B, T, hidden).
    """

    def __init__(self, *, width: int, hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.input_width = width
        self.width = hidden
        self.dropout = checked_rate(dropout)
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights."""
        weights = dict(self.lstm.named_parameters())
        glorot_(weights["weight_ih_l0"], gates=4)
        orthogonal_(weights["weight_hh_l0"], gates=4)
        forget_bias_(weights["bias_ih_l0"])
        nn.init.zeros_(weights["bias_hh_l0"])

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the hidden states, zero at padding."""
        if supports_lstm_cpu(x):
            return run_lstm_cpu(x, mask, self)
        nothing = x.new_zeros(1, x.shape[0], self.width)
        with warnings.catch_warnings():  # weights with dropout are not contiguous, so cuDNN copies them
            warnings.filterwarnings("ignore", message=".*single contiguous chunk")
            states, _, _ = torch.lstm(
                x, (nothing, nothing), self.weights(), True, 1, 0.0, self.training, False, True
            )  # has_biases, num_layers, dropout, train, bidirectional, batch_first; (B, T, H)
        return states.masked_fill(~mask.unsqueeze(-1), 0.0)

    def weights(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return W (4H, D), U (4H, H) with dropout in training, and b (4H,) in two parts."""
        W, U, b, c = self.lstm.parameters()
        return W, F.dropout(U, self.dropout) if self.training and self.dropout else U, b, c


def supports_lstm_cpu(x: Tensor) -> bool:
    """Return whether the compiled loops support these vectors: float32 on a CPU with Numba."""
    return x.is_cpu and x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu") and has_numba()


def run_lstm_cpu(x: Tensor, mask: Tensor, *layers: LSTM) -> Tensor:
    """Return the states of one layer, or of two side by side. The second of two reads backwards.

    Shape: (B, T, width), (B, T) -> (B, T, len(layers) * hidden), zero at padding.
    """
    from gonie.nn.encoders.lstm_cpu import lstm  # imported here, so that a GPU machine needs no Numba

    return lstm(x, mask, *(layer.weights() for layer in layers))
