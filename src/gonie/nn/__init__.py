"""The parts networks are made of, one idea a file: formula, paper, shapes. Needs torch, and nothing of data.

Roles are told apart by shape (``protocols``): an embedding maps a batch to (B, T, D), an encoder (B, T, D)
to (B, T, H), a head (B, T, H) to scores (B, T, K) and a loss. Any part swaps for any other of its role.
"""

from gonie.nn.crf import CRF, Chain, Constraints
from gonie.nn.dropout import VariationalDropout, WordDropout
from gonie.nn.embeddings import CharCNN, CharLSTM, FeatureEmbedding, NoEmbedding, Stack, WordEmbedding
from gonie.nn.encoders import LSTM, Bidirectional, Deep, Elman, NoEncoder, PeepholeLSTM, Window
from gonie.nn.heads import CRFHead, Scores, SigmoidHead, SoftmaxHead
from gonie.nn.protocols import Batch, Embedding, Encoder, Head

__all__ = [
    "CRF",
    "LSTM",
    "Batch",
    "Bidirectional",
    "CRFHead",
    "Chain",
    "CharCNN",
    "CharLSTM",
    "Constraints",
    "Deep",
    "Elman",
    "Embedding",
    "Encoder",
    "FeatureEmbedding",
    "Head",
    "NoEmbedding",
    "NoEncoder",
    "PeepholeLSTM",
    "Scores",
    "SigmoidHead",
    "SoftmaxHead",
    "Stack",
    "VariationalDropout",
    "Window",
    "WordDropout",
    "WordEmbedding",
]
