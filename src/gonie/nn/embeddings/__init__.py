"""Embeddings: map a batch of named tensors to vectors (B, T, D). One per file, and a stack of them."""

from gonie.nn.embeddings.char_cnn import CharCNN
from gonie.nn.embeddings.char_lstm import CharLSTM
from gonie.nn.embeddings.elmo import ElmoEmbedding
from gonie.nn.embeddings.external import ExternalEmbedding
from gonie.nn.embeddings.features import FeatureEmbedding
from gonie.nn.embeddings.none import NoEmbedding
from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.embeddings.stack import Stack
from gonie.nn.embeddings.words import WordEmbedding

__all__ = [
    "CharCNN",
    "CharLSTM",
    "ElmoEmbedding",
    "ExternalEmbedding",
    "FeatureEmbedding",
    "NoEmbedding",
    "ScalarMix",
    "Stack",
    "WordEmbedding",
]
