"""The parts networks are made of, one idea a file: formula, paper, shapes. Needs torch, and nothing of data.

Roles are told apart by shape (``protocols``): an embedding maps a batch to (B, T, D), an encoder (B, T, D)
to (B, T, H), a head (B, T, H) to scores (B, T, K) and a loss; for texts, a pooling maps (B, T, H) to (B, P),
and a head that to (B, K). Any part swaps for any other of its role.
"""

from gonie.nn.bag import Bag
from gonie.nn.batch_norm import BatchNorm
from gonie.nn.crf import CRF, Chain, Constraints
from gonie.nn.dropout import VariationalDropout, WordDropout
from gonie.nn.embeddings import (
    CharCNN,
    CharLSTM,
    ElmoEmbedding,
    FeatureEmbedding,
    NoEmbedding,
    ScalarMix,
    Stack,
    WordEmbedding,
)
from gonie.nn.encoders import (
    LSTM,
    Bidirectional,
    Convolution,
    Deep,
    Elman,
    NoEncoder,
    Passing,
    PeepholeLSTM,
    Window,
)
from gonie.nn.heads import (
    CRFHead,
    Scores,
    SigmoidHead,
    SoftmaxHead,
    TextLabelsHead,
    TextScores,
    TextSigmoidHead,
    TextSoftmaxHead,
)
from gonie.nn.poolings import AdditiveAttention, DotAttention, Joined, Last, Max, Mean, Normalized
from gonie.nn.protocols import Batch, Embedding, Encoder, Head, Pooling, TextHead

__all__ = [
    "CRF",
    "LSTM",
    "AdditiveAttention",
    "Bag",
    "Batch",
    "BatchNorm",
    "Bidirectional",
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
    "FeatureEmbedding",
    "Head",
    "Joined",
    "Last",
    "Max",
    "Mean",
    "NoEmbedding",
    "NoEncoder",
    "Normalized",
    "Passing",
    "PeepholeLSTM",
    "Pooling",
    "ScalarMix",
    "Scores",
    "SigmoidHead",
    "SoftmaxHead",
    "Stack",
    "TextHead",
    "TextLabelsHead",
    "TextScores",
    "TextSigmoidHead",
    "TextSoftmaxHead",
    "VariationalDropout",
    "Window",
    "WordDropout",
    "WordEmbedding",
]
