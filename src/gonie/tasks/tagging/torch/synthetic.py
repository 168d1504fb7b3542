"""A small tagger with synthetic sentences, tagged at random by the rules of its recipe.

The sentences are counted, encoded and collated, and the model is built, by the same code as in training.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import torch

from gonie.errors import InputError
from gonie.features.corpus import collate
from gonie.features.encoding import Encoding, close_labels
from gonie.nn.inference import to_tensors
from gonie.tasks.tagging.recipe import TagDataConfig, TaggerConfig, TagRecipe
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.build import plan_words
from gonie.tasks.torch.contextual import synthetic_sources
from gonie.tasks.torch.synthetic import (
    NEW,
    WORDS,
    SyntheticModel,
    small,
    synthetic_gazetteers,
    synthetic_vectors,
    with_external_vectors,
    with_noise,
    words_of,
)
from gonie.tasks.torch.word_data import build_extractors, fit_encoding
from gonie.text.partial_tags import ANY, OR, PartialStream, TagSets
from gonie.text.rules import ARROW, END, START, Allowed, allowed
from gonie.text.schemes import OUTSIDE, Scheme, from_spans
from gonie.text.types import Sentence

LENGTHS = (5, 1, 4, 3, 2)  # tokens of each sentence
TYPES = ("PER", "LOC")


def synthetic_tagger(recipe: TagRecipe) -> SyntheticModel[TaggingNetwork, Encoding]:
    """Build a small tagger of a recipe with a synthetic batch."""
    recipe = small(recipe)
    data, head = recipe.data, recipe.model.head
    generator = np.random.default_rng([recipe.train.seed, 3])
    scheme = scheme_of(recipe)
    labels = close_labels(named_tags(recipe, scheme), scheme)
    rules = allowed(labels, scheme, forbidden=head.forbidden)
    sentences = list(_sentences(data, labels, rules, generator))
    every_tag = _sentence(words_of(WORDS, data)[:1] * len(labels), labels, data, generator)
    vectors = synthetic_vectors(recipe, generator)
    extractors = build_extractors(recipe, lambda data: synthetic_gazetteers(data, sentences))
    sources = synthetic_sources(recipe)
    counted = [*sentences[:-1], every_tag]
    encoding, _ = fit_encoding(recipe, counted, scheme, vectors, extractors, sources=sources)
    sentences = list(with_external_vectors(sentences, encoding.external, generator))
    sets = TagSets(encoding.labels)
    partial = _with_partial_tags(sentences, generator) if data.partial else ()
    partial_stream = PartialStream(partial, scheme=scheme, target=scheme, sets=sets, rules=rules)
    corpus = encoding.encode(chain(sentences, partial_stream), tag_ids=sets.ids)
    pretrained = vectors.table_for(encoding.words, generator) if vectors else None
    table = plan_words(recipe.model, encoding, pretrained)
    options = sets.table() if data.partial else None
    return SyntheticModel(
        model=with_noise(
            recipe.train.seed, lambda: build_tagger(recipe.model, encoding, table, options, sources=sources)
        ),
        batch=to_tensors(collate(corpus, np.arange(len(corpus))), torch.device("cpu")),
        examples=len(corpus),
        encoding=encoding,
    )


# --- tags ------------------------------------------------------------------------------------------------


def scheme_of(recipe: TagRecipe) -> Scheme:
    """Return the model's scheme, or plain if the recipe says so or has rules for other tags."""
    scheme = Scheme(kind=recipe.data.model_scheme)
    strange = any(scheme.split(tag) is None for tag in _tags_in_rules(recipe.model))
    return Scheme(kind="plain") if recipe.data.scheme == "plain" or strange else scheme


def named_tags(recipe: TagRecipe, scheme: Scheme) -> list[str]:
    """Return a tag for each type with a weight or a rule in the recipe, otherwise for two types."""
    ruled, weighed = _tags_in_rules(recipe.model), list(recipe.model.head.weights)
    if not scheme.has_spans:
        return [*ruled, *weighed, *TYPES, OUTSIDE]
    marks = [scheme.split(tag) for tag in ruled]
    types = [mark[1] for mark in marks if mark and mark[1]] + [name for name in weighed if name != OUTSIDE]
    types = types or recipe.data.types or list(TYPES)
    if recipe.model.head.kind == "sigmoid":  # supports only one type
        types = types[:1]
    return [tag for name in types for tag in from_spans([(0, 1, name)], 1, scheme)]


def _tags_in_rules(model: TaggerConfig) -> list[str]:
    """Return a tag that matches each side of the recipe's rules, except sides that match every tag."""
    sides = [side.strip() for rule in model.head.forbidden for side in rule.split(ARROW)]
    named = [side for side in sides if side not in (START, END, "*")]
    return [re.sub(r"[*?]", "B", re.sub(r"\[(.)[^]]*\]", r"\1", side)) for side in named]


def _random_path(length: int, rules: Allowed, generator: np.random.Generator) -> list[int]:
    """Return a random sequence of tags that satisfies the rules."""
    moves, first, last = rules
    ending = [last]  # (K,) for each position: tags from which the end can be reached
    for _ in range(length - 1):
        ending.insert(0, np.asarray((moves & ending[0]).any(1)))
    tags: list[int] = []
    for place in range(length):
        possible = ending[place] & (moves[tags[-1]] if tags else first)
        if not possible.any():
            raise InputError(
                f"model.head.forbidden allows no sequence of {length} tags", fix="Forbid fewer transitions"
            )
        tags.append(int(generator.choice(np.flatnonzero(possible))))
    return tags


# --- text ------------------------------------------------------------------------------------------------


def _sentences(
    data: TagDataConfig, labels: tuple[str, ...], rules: Allowed, generator: np.random.Generator
) -> Iterator[Sentence]:
    """Yield sentences of ``LENGTHS``, the last one of new words."""
    for number, length in enumerate(LENGTHS, start=1):
        words = words_of(NEW if number == len(LENGTHS) else WORDS, data)
        tags = tuple(labels[tag] for tag in _random_path(length, rules, generator))
        yield _sentence(tuple(generator.choice(words, length).tolist()), tags, data, generator)


def _sentence(
    words: tuple[str, ...], tags: tuple[str, ...], data: TagDataConfig, generator: np.random.Generator
) -> Sentence:
    columns = {name: tuple(generator.choice(["A", "B"], len(words)).tolist()) for name in data.columns}
    return Sentence(words=words, tags=tags, columns=columns)


def _with_partial_tags(sentences: list[Sentence], generator: np.random.Generator) -> Iterator[Sentence]:
    """Yield the sentences with partial tags: unknown, one of two, or exact."""
    every = sorted({tag for sentence in sentences for tag in sentence.tags or ()})
    for sentence in sentences:
        cells = [
            str(generator.choice([ANY, f"{tag}{OR}{generator.choice(every)}", tag]))
            for tag in sentence.tags or ()
        ]
        yield replace(sentence, tags=tuple(cells))
