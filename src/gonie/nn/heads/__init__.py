"""Heads: states (B, T, H) to scores (B, T, K), and scores to a loss."""

from gonie.nn.heads.crf import CRFHead
from gonie.nn.heads.scores import Scores
from gonie.nn.heads.sigmoid import SigmoidHead
from gonie.nn.heads.softmax import SoftmaxHead

__all__ = ["CRFHead", "Scores", "SigmoidHead", "SoftmaxHead"]
