"""The torch half of classification, as ``gonie.tasks.torch.task`` describes it."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.explanation import TextAnswer
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch.data import read_text_data, read_text_dev, text_data_key
from gonie.tasks.classification.torch.gradients import label_odds_path
from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.classification.torch.synthetic import make_text_specimen as synthetic
from gonie.tasks.torch.task import OddsPath
from gonie.tasks.torch.word_data import Note
from gonie.text.labelled_text import LabelledText

__all__ = ["data_key", "odds_path", "prepare", "read_dev", "synthetic"]


def prepare(recipe: TextRecipe, note: Note) -> TextJob:
    """Read, count and encode everything that the recipe names."""
    return TextJob(recipe, read_text_data(recipe, note))


def read_dev(recipe: TextRecipe, note: Note) -> Sequence[LabelledText]:
    """Read only the dev texts."""
    return read_text_dev(recipe, note)


def data_key(recipe: TextRecipe) -> str:
    """The part of a recipe that ``prepare`` depends on."""
    return text_data_key(recipe)


def odds_path(network: ClassifyingNetwork, model: TextClassifier, answer: TextAnswer) -> OddsPath:
    """The log-odds of a label, as gradients are taken of them."""
    number = model.labels.index(answer.label)
    return label_odds_path(network, model.encoding, answer.passage, number, temperature=model.temperature)
