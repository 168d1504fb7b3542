"""Heads: map states (B, T, H) to scores (B, T, K), or text vectors (N, P) to (N, K), and scores to a loss."""

from gonie.nn.heads.crf import CRFHead
from gonie.nn.heads.multi_label import MultiLabelHead
from gonie.nn.heads.nearest_scores import NearestScores
from gonie.nn.heads.part_scores import PartScores
from gonie.nn.heads.prototype_scores import PrototypeScores
from gonie.nn.heads.scores import Scores
from gonie.nn.heads.sigmoid import SigmoidHead
from gonie.nn.heads.softmax import SoftmaxHead
from gonie.nn.heads.spaces import Cosine, Euclidean, Mahalanobis
from gonie.nn.heads.support import SupportHead
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.heads.text_sigmoid import TextSigmoidHead
from gonie.nn.heads.text_softmax import TextSoftmaxHead
from gonie.nn.heads.text_support import TextSupportHead

__all__ = [
    "CRFHead",
    "Cosine",
    "Euclidean",
    "Mahalanobis",
    "MultiLabelHead",
    "NearestScores",
    "PartScores",
    "PrototypeScores",
    "Scores",
    "SigmoidHead",
    "SoftmaxHead",
    "SupportHead",
    "TextScores",
    "TextSigmoidHead",
    "TextSoftmaxHead",
    "TextSupportHead",
]
