"""Heads: map states (B, T, H) to scores (B, T, K), or text vectors (N, P) to (N, K), and scores to a loss."""

from gonie.nn.heads.crf import CRFHead
from gonie.nn.heads.multi_label import MultiLabelHead
from gonie.nn.heads.part_scores import PartScores
from gonie.nn.heads.scores import Scores
from gonie.nn.heads.sigmoid import SigmoidHead
from gonie.nn.heads.softmax import SoftmaxHead
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.heads.text_sigmoid import TextSigmoidHead
from gonie.nn.heads.text_softmax import TextSoftmaxHead

__all__ = [
    "CRFHead",
    "MultiLabelHead",
    "PartScores",
    "Scores",
    "SigmoidHead",
    "SoftmaxHead",
    "TextScores",
    "TextSigmoidHead",
    "TextSoftmaxHead",
]
