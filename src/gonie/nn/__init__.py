"""Neural network modules in torch, one per file, with formula, paper and shapes. Independent of data.

The shape defines the role of a module (``protocols``). An embedding maps a batch to (B, T, D), an encoder
(B, T, D) to (B, T, H), and a head (B, T, H) to scores (B, T, K) and a loss. For texts, a pooling maps
(B, T, H) to (B, P), and a head (B, P) to (B, K). Modules of the same role are interchangeable.
"""

import warnings
from typing import Any

from gonie.nn.bag import Bag
from gonie.nn.batch_norm import BatchNorm
from gonie.nn.crf import CRF, Chain, Constraints
from gonie.nn.dropout import VariationalDropout, WordDropout
from gonie.nn.embeddings import (
    CharCNN,
    CharLSTM,
    ElmoEmbedding,
    ExternalEmbedding,
    FeatureEmbedding,
    NoEmbedding,
    ScalarMix,
    Stack,
    WordEmbedding,
)
from gonie.nn.encoders import (
    LSTM,
    Adapted,
    Adapter,
    Bidirectional,
    Bypass,
    Convolution,
    Deep,
    Elman,
    NoEncoder,
    PeepholeLSTM,
    Window,
)
from gonie.nn.heads import (
    CRFHead,
    MultiLabelHead,
    Scores,
    SigmoidHead,
    SoftmaxHead,
    TextScores,
    TextSigmoidHead,
    TextSoftmaxHead,
)
from gonie.nn.low_rank import LowRank
from gonie.nn.poolings import AdditiveAttention, DotAttention, Joined, Last, Max, Mean, Normalized
from gonie.nn.protocols import Batch, Embedding, Encoder, Head, Pooling, TextHead

__all__ = [
    "CRF",
    "LSTM",
    "Adapted",
    "Adapter",
    "AdditiveAttention",
    "Bag",
    "Batch",
    "BatchNorm",
    "Bidirectional",
    "Bypass",
    "CRFHead",
    "Chain",
    "CharCNN",
    "CharLSTM",
    "Constraints",
    "Convolution",
    "Deep",
    "DotAttention",
    "Elman",
    "ElmoEmbedding",
    "Embedding",
    "Encoder",
    "ExternalEmbedding",
    "FeatureEmbedding",
    "Head",
    "Joined",
    "Last",
    "LowRank",
    "Max",
    "Mean",
    "MultiLabelHead",
    "NoEmbedding",
    "NoEncoder",
    "Normalized",
    "PeepholeLSTM",
    "Pooling",
    "ScalarMix",
    "Scores",
    "SigmoidHead",
    "SoftmaxHead",
    "Stack",
    "TextHead",
    "TextScores",
    "TextSigmoidHead",
    "TextSoftmaxHead",
    "VariationalDropout",
    "Window",
    "WordDropout",
    "WordEmbedding",
]

_RENAMED = {"Passing": Bypass, "TextLabelsHead": MultiLabelHead}


def __getattr__(name: str) -> Any:
    """Return a class by its name in 0.1, with a deprecation warning."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _RENAMED[name]
    warnings.warn(f"gonie.nn.{name} is deprecated; use {new.__name__}", DeprecationWarning, stacklevel=2)
    return new
