"""The linear-chain CRF: its layer, the batched scan, the gold score, Viterbi, a brute-force reference."""

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.layer import CRF

__all__ = ["CRF", "Chain"]
