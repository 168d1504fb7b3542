"""Encoders: map vectors (B, T, D) and a mask (B, T) to states (B, T, H).

One layer per file, and combinators.
"""

from gonie.nn.encoders.adapter import Adapted, Adapter
from gonie.nn.encoders.bidirectional import Bidirectional
from gonie.nn.encoders.bypass import Bypass
from gonie.nn.encoders.convolution import Convolution
from gonie.nn.encoders.deep import Deep
from gonie.nn.encoders.elman import Elman
from gonie.nn.encoders.lstm import LSTM
from gonie.nn.encoders.none import NoEncoder
from gonie.nn.encoders.peephole import PeepholeLSTM
from gonie.nn.encoders.window import Window

__all__ = [
    "LSTM",
    "Adapted",
    "Adapter",
    "Bidirectional",
    "Bypass",
    "Convolution",
    "Deep",
    "Elman",
    "NoEncoder",
    "PeepholeLSTM",
    "Window",
]
