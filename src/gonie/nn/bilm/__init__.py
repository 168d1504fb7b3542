"""The bidirectional language model of ELMo, one module per file."""

from gonie.nn.bilm.bilm import BiLM, CarriedBoth
from gonie.nn.bilm.clipped_lstm import ClippedLSTM
from gonie.nn.bilm.direction import Direction
from gonie.nn.bilm.highway import Highway
from gonie.nn.bilm.projected_lstm import Carried, ProjectedLSTM
from gonie.nn.bilm.spelled_words import Filters, SpelledWords
from gonie.nn.bilm.word_softmax import WordSoftmax

__all__ = [
    "BiLM",
    "Carried",
    "CarriedBoth",
    "ClippedLSTM",
    "Direction",
    "Filters",
    "Highway",
    "ProjectedLSTM",
    "SpelledWords",
    "WordSoftmax",
]
