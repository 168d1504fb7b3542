"""The torch half of classification (``gonie.tasks.torch.task``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gonie.features.text_encoding import TextEncoding
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.explanation import TextAnswer
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch.build import build_classifier
from gonie.tasks.classification.torch.data import read_text_data, read_text_dev, text_data_key
from gonie.tasks.classification.torch.exportable import TextExportable
from gonie.tasks.classification.torch.gradients import label_odds_path
from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.classification.torch.mc_dropout import dropout_passes as passes
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.classification.torch.synthetic import synthetic_classifier as synthetic
from gonie.tasks.classification.torch.teaching import answer_request, held_out, predict, score, teacher_of
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.contextual import Sources
from gonie.tasks.torch.job import Note
from gonie.tasks.torch.task import OddsPath, RunContext
from gonie.text.labelled_text import LabelledText

__all__ = [
    "answer_request",
    "build",
    "data_key",
    "exportable",
    "held_out",
    "odds_path",
    "passes",
    "predict",
    "prepare",
    "read_dev",
    "read_encoding",
    "score",
    "synthetic",
    "teacher_of",
]


def prepare(recipe: TextRecipe, context: RunContext) -> TextJob:
    """Read and encode the data of a recipe."""
    return TextJob(recipe, read_text_data(recipe, context.note, context.start))


def read_dev(recipe: TextRecipe, note: Note) -> Sequence[LabelledText]:
    """Read only the dev texts."""
    return read_text_dev(recipe, note)


def data_key(recipe: TextRecipe) -> str:
    """Return the part of a recipe that ``prepare`` depends on."""
    return text_data_key(recipe)


def read_encoding(saved: Mapping[str, Any]) -> TextEncoding:
    """Return the encoding saved in a run folder."""
    return TextEncoding.from_json(saved)


def build(
    recipe: TextRecipe, encoding: TextEncoding, words: WordTable | None, sources: Sources
) -> ClassifyingNetwork:
    """Build an untrained classifier."""
    return build_classifier(recipe.model, encoding, words, sources=sources)


def exportable(
    model: ClassifyingNetwork, bundle: TextBundle, examples: Sequence[LabelledText]
) -> TextExportable:
    """Return a trained classifier with the contents of its bundle, and held-out texts."""
    return TextExportable(model, bundle, examples)


def odds_path(network: ClassifyingNetwork, model: TextClassifier, answer: TextAnswer) -> OddsPath:
    """Return the log-odds of a label as a differentiable function."""
    number = model.labels.index(answer.label)
    return label_odds_path(network, model.encoding, answer.passage, number, temperature=model.temperature)
