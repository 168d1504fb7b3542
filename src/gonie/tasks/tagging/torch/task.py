"""The torch half of tagging (``gonie.tasks.torch.task``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gonie.features.encoding import Encoding
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.explanation import SpanAnswer
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.tagging.torch.data import read_tag_data, tag_data_key
from gonie.tasks.tagging.torch.exportable import TagExportable
from gonie.tasks.tagging.torch.files import read_tag_dev
from gonie.tasks.tagging.torch.gradients import span_odds_path
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.mc_dropout import dropout_passes as passes
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.tagging.torch.synthetic import synthetic_tagger as synthetic
from gonie.tasks.tagging.torch.teaching import answer_request, held_out, predict, score, teacher_of
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.contextual import Sources
from gonie.tasks.torch.job import Note
from gonie.tasks.torch.task import OddsPath, RunContext
from gonie.text.types import Sentence

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


def prepare(recipe: TagRecipe, context: RunContext) -> TagJob:
    """Read and encode the data of a recipe."""
    return TagJob(recipe, read_tag_data(recipe, context.note, context.start))


def read_dev(recipe: TagRecipe, note: Note) -> Sequence[Sentence]:
    """Read only the dev sentences."""
    return read_tag_dev(recipe, note)


def data_key(recipe: TagRecipe) -> str:
    """Return the part of a recipe that ``prepare`` depends on."""
    return tag_data_key(recipe)


def read_encoding(saved: Mapping[str, Any]) -> Encoding:
    """Return the encoding saved in a run folder."""
    return Encoding.from_json(saved)


def build(recipe: TagRecipe, encoding: Encoding, words: WordTable | None, sources: Sources) -> TaggingNetwork:
    """Build an untrained tagger."""
    return build_tagger(recipe.model, encoding, words, sources=sources)


def exportable(model: TaggingNetwork, bundle: TagBundle, examples: Sequence[Sentence]) -> TagExportable:
    """Return a trained tagger with the contents of its bundle, and held-out sentences."""
    return TagExportable(model, bundle, examples)


def odds_path(network: TaggingNetwork, model: Tagger, answer: SpanAnswer) -> OddsPath:
    """Return the log-odds of a span as a differentiable function."""
    return span_odds_path(network, model.encoding, model.decoder.calibrated, answer)
