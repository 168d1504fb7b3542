"""Matchings: map the states of two texts, (N, T1, H) and (N, T2, H), to one vector per pair, (N, P)."""

from gonie.nn.matching.aligned import AlignedMatching
from gonie.nn.matching.co_attention import CoAttention, SoftAlignment
from gonie.nn.matching.comparison import HeuristicMatching
from gonie.nn.matching.enhancement import Enhancement
from gonie.nn.matching.pair_dropout import PairDropout
from gonie.nn.matching.pooled import PooledMatching
from gonie.nn.matching.projection import Projection
from gonie.nn.matching.protocol import Matched, Matching

__all__ = [
    "AlignedMatching",
    "CoAttention",
    "Enhancement",
    "HeuristicMatching",
    "Matched",
    "Matching",
    "PairDropout",
    "PooledMatching",
    "Projection",
    "SoftAlignment",
]
