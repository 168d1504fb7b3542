"""The LSTM layer of today's libraries (no peepholes), one-way: cuDNN on a GPU, oneDNN on a CPU."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.initial import glorot_, orthogonal_, remember_


class LSTM(nn.Module):
    """One forward LSTM layer, Hochreiter & Schmidhuber 1997 with the forget gate of Gers et al. 2000.

    i, f, o = σ(W x[t] + U h[t-1] + b);  c[t] = f ∘ c[t-1] + i ∘ tanh(W x[t] + U h[t-1] + b);
    h[t] = o ∘ tanh(c[t]);  each of the four with its own W, U, b. States start at 0 in each sentence.

    It runs on padded tensors: right padding cannot reach back in time, and the padded call is what oneDNN
    speeds up (packed sequences measured 2-3 times slower on a CPU). Weights are those of ``torch.nn.LSTM``,
    gates in the order i, f, cell, o. W starts Glorot, U orthogonal, b 1 for f and else 0 (see ``initial``).

    Shape: (B, T, width) -> (B, T, hidden).
    """

    def __init__(self, *, width: int, hidden: int) -> None:
        super().__init__()
        self.input_width = width
        self.width = hidden
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws fresh weights."""
        weights = dict(self.lstm.named_parameters())
        glorot_(weights["weight_ih_l0"], gates=4)
        orthogonal_(weights["weight_hh_l0"], gates=4)
        remember_(weights["bias_ih_l0"])
        nn.init.zeros_(weights["bias_hh_l0"])

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Hidden states, zero at padding."""
        states: Tensor = self.lstm(x)[0]  # (B, T, H)
        return states.masked_fill(~mask.unsqueeze(-1), 0.0)
