"""The torch half of text pairs (``gonie.tasks.torch.task``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gonie.tasks.classification.explanation import TextAnswer
from gonie.tasks.classification.torch.gradients import label_odds_path
from gonie.tasks.pairs.bundle import PairBundle
from gonie.tasks.pairs.classifier import PairClassifier
from gonie.tasks.pairs.encoding import PairEncoding
from gonie.tasks.pairs.recipe import PairRecipe
from gonie.tasks.pairs.torch.build import build_pair_network
from gonie.tasks.pairs.torch.data import pair_data_key, read_pair_data, read_pair_dev
from gonie.tasks.pairs.torch.exportable import PairExportable
from gonie.tasks.pairs.torch.gradients import value_odds_path
from gonie.tasks.pairs.torch.job import PairJob
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.pairs.torch.synthetic import synthetic_pair_model as synthetic
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.contextual import Sources
from gonie.tasks.torch.job import Note
from gonie.tasks.torch.task import OddsPath, RunContext
from gonie.text.labelled_text import LabelledPair

__all__ = [
    "build",
    "data_key",
    "exportable",
    "odds_path",
    "prepare",
    "read_dev",
    "read_encoding",
    "synthetic",
]


def prepare(recipe: PairRecipe, context: RunContext) -> PairJob:
    """Read and encode the data of a recipe."""
    return PairJob(recipe, read_pair_data(recipe, context.note, context.start))


def read_dev(recipe: PairRecipe, note: Note) -> Sequence[LabelledPair]:
    """Read only the dev pairs."""
    return read_pair_dev(recipe, note)


def data_key(recipe: PairRecipe) -> str:
    """Return the part of a recipe that ``prepare`` depends on."""
    return pair_data_key(recipe)


def read_encoding(saved: Mapping[str, Any]) -> PairEncoding:
    """Return the encoding saved in a run folder."""
    return PairEncoding.from_json(saved)


def build(
    recipe: PairRecipe, encoding: PairEncoding, words: WordTable | None, sources: Sources
) -> PairNetwork:
    """Build an untrained network."""
    return build_pair_network(recipe.model, encoding, words, sources=sources)


def exportable(model: PairNetwork, bundle: PairBundle, examples: Sequence[LabelledPair]) -> PairExportable:
    """Return a trained network with the contents of its bundle, and held-out pairs."""
    return PairExportable(model, bundle, examples)


def odds_path(network: PairNetwork, model: PairClassifier, answer: TextAnswer) -> OddsPath:
    """Return the log-odds of a label or a value as a differentiable function."""
    scale = model.pair_encoding.scale
    if scale is not None:
        return value_odds_path(network, model.pair_encoding, scale, answer.passage)
    number = model.labels.index(answer.label)
    return label_odds_path(network, model.encoding, answer.passage, number, temperature=model.temperature)
