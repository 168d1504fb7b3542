"""Poolings: map states (B, T, H) and a mask (B, T) to a vector per row (B, P) and token weights (B, T)."""

from gonie.nn.poolings.attention import AdditiveAttention
from gonie.nn.poolings.dot import DotAttention
from gonie.nn.poolings.joined import Joined
from gonie.nn.poolings.last import Last
from gonie.nn.poolings.max import Max
from gonie.nn.poolings.mean import Mean
from gonie.nn.poolings.normalized import Normalized

__all__ = ["AdditiveAttention", "DotAttention", "Joined", "Last", "Max", "Mean", "Normalized"]
