"""Few-shot heads of a tagger: the transitions of their chain, and the types for episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import torch

from gonie.errors import GonieError, RecipeError
from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding
from gonie.nn.heads.support import SupportHead
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.data import TagData
from gonie.tasks.tagging.torch.files import read_model_tags
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.tagging.torch.shots import count_mentions
from gonie.tasks.torch.episode_batches import EpisodePool
from gonie.text.abstract_transitions import count_moves, transitions
from gonie.text.schemes import OUTSIDE


def set_transitions(
    model: TaggingNetwork, recipe: TagRecipe, data: TagData, note: Callable[[str], None]
) -> None:
    """Set the chain of a ``SupportHead`` to the transitions that the recipe names."""
    head, encoding = recipe.model.head, data.encoding
    if head.transitions == "none":
        return
    if not encoding.scheme.has_spans:
        raise RecipeError(['model.head.transitions: plain tags have no types; set it to "none"'])
    moves = count_moves(_sequences(recipe, data, note), encoding.scheme)
    chain = transitions(moves, encoding.labels, encoding.scheme, temperature=head.temperature)
    cast("SupportHead", model.head()).set_chain(*map(torch.from_numpy, map(np.ascontiguousarray, chain)))


def _sequences(recipe: TagRecipe, data: TagData, note: Callable[[str], None]) -> Iterable[Sequence[str]]:
    """Return the tag sequences to count transitions in."""
    own = (sentence.tags or () for sentence in data.sentences)
    if recipe.model.head.transitions == "support":
        return own
    if data.start is None:
        raise RecipeError(['model.head.transitions: "start" needs train.start; set it, or use "support"'])
    source = cast("TagRecipe", data.start.recipe)
    try:
        return list(read_model_tags(source, data.encoding.scheme))
    except GonieError as problem:
        note(
            "warning: transitions are counted in the training sentences, not in those of train.start: "
            f"{problem}"
        )
        return own


def sentence_pool(corpus: Corpus, encoding: Encoding) -> EpisodePool:
    """Return the types of the encoded sentences, for episodes."""
    labels, scheme = encoding.labels, encoding.scheme
    marks = [scheme.split(label) if scheme.has_spans else ("", label) for label in labels]
    return EpisodePool(
        mentions=[count_mentions(tags, scheme) for tags in _tags(corpus, labels)],
        array="tags",
        types=[mark[1] if mark else None for mark in marks],
        outside=labels.index(OUTSIDE) if scheme.has_spans and OUTSIDE in labels else -1,
    )


def _tags(corpus: Corpus, labels: Sequence[str]) -> Iterator[list[str]]:
    """Yield the tags of each sentence. Tokens without a tag count as O."""
    offsets, ids = corpus.arrays["offsets"].tolist(), corpus.arrays["tags"].tolist()
    for first, end in pairwise(offsets):
        yield [labels[number] if number >= 0 else OUTSIDE for number in ids[first:end]]
