"""Build the parts of a language model from its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gonie.nn.bilm.bilm import BiLM
from gonie.nn.bilm.clipped_lstm import ClippedLSTM
from gonie.nn.bilm.direction import Direction
from gonie.nn.bilm.projected_lstm import ProjectedLSTM
from gonie.nn.bilm.spelled_words import Filters, SpelledWords
from gonie.nn.bilm.word_softmax import WordSoftmax
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.network import LanguageModel

if TYPE_CHECKING:
    from gonie.tasks.language_model.recipe import LanguageModelConfig


def build_bilm(config: BilmConfig) -> BiLM:
    """Build an untrained biLM of this shape."""
    words = SpelledWords(
        byte_width=config.byte_width,
        filters=[Filters(*pair) for pair in config.filters],
        highways=config.highways,
        width=config.width,
    )
    return BiLM(words=words, ahead=build_direction(config), back=build_direction(config))


def build_direction(config: BilmConfig) -> Direction:
    """Build one of its two stacks."""
    layers = [build_layer(config) for _ in range(config.layers)]
    return Direction(layers=layers, skip=config.skip, dropout=config.dropout)


def build_layer(config: BilmConfig) -> ProjectedLSTM:
    """Build a layer with clipping, or a faster one without."""
    if not config.cell_clip:
        return ProjectedLSTM(width=config.width, hidden=config.hidden)
    return ClippedLSTM(
        width=config.width, hidden=config.hidden, cell_clip=config.cell_clip, state_clip=config.state_clip
    )


def build_language_model(config: LanguageModelConfig, vocabulary: int) -> LanguageModel:
    """Build an untrained language model that predicts ``vocabulary`` words."""
    softmax = WordSoftmax(
        size=vocabulary,
        width=config.width,
        exact=config.softmax.exact,
        sampled=config.softmax.sampled,
    )
    return LanguageModel(bilm=build_bilm(config), softmax=softmax, dropout=config.dropout)
