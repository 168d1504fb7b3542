"""The torch half of tagging, as ``gonie.tasks.torch.task`` describes it."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.tasks.tagging.explanation import SpanAnswer
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.torch.data import read_tag_data, read_tag_dev, tag_data_key
from gonie.tasks.tagging.torch.gradients import span_odds_path
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.tagging.torch.synthetic import make_tag_specimen as synthetic
from gonie.tasks.torch.task import OddsPath
from gonie.tasks.torch.word_data import Note
from gonie.text.types import Sentence

__all__ = ["data_key", "odds_path", "prepare", "read_dev", "synthetic"]


def prepare(recipe: TagRecipe, note: Note) -> TagJob:
    """Read, count and encode everything that the recipe names."""
    return TagJob(recipe, read_tag_data(recipe, note))


def read_dev(recipe: TagRecipe, note: Note) -> Sequence[Sentence]:
    """Read only the dev sentences."""
    return read_tag_dev(recipe, note)


def data_key(recipe: TagRecipe) -> str:
    """The part of a recipe that ``prepare`` depends on."""
    return tag_data_key(recipe)


def odds_path(network: TaggingNetwork, model: Tagger, answer: SpanAnswer) -> OddsPath:
    """The log-odds of a span, as gradients are taken of them."""
    return span_odds_path(network, model.encoding, model.decoder.chain, answer)
