"""A small instance of what a recipe trains, from made-up text: for checks that must not need its files.

It goes the way of training: made-up sentences are counted, encoded and collated, and the model is built, by
the same code. Kinds of parts, layers, directions and feature groups are the recipe's; widths are cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from pydantic import BaseModel
from torch import Tensor, nn

from gonie.data.corpus import collate
from gonie.data.encoding import Encoding, close_labels
from gonie.data.gazetteer import Gazetteers
from gonie.data.partial import ANY, OR, PartialStream, TagSets
from gonie.data.rules import ARROW, END, START, Allowed, allowed
from gonie.data.schemes import OUTSIDE, Scheme, from_spans
from gonie.data.types import Sentence
from gonie.data.vectors import Vectors
from gonie.errors import InputError
from gonie.models.build import build
from gonie.models.config import CorpusConfig
from gonie.models.scorer import to_tensors
from gonie.models.tag_config import TagDataConfig, TaggerConfig, TagRecipe
from gonie.models.tagger import Tagger
from gonie.training.word_data import build_extractors, fit_encoding

LENGTHS = (5, 1, 4, 3, 2)  # tokens of each sentence
WORDS: Mapping[str, tuple[str, ...]] = {
    "en": ("Gonie", "sleeps", "in", "Room", "B-12", "at", "7:45", "McRae's", "IBM", "."),
    "ko": ("고니", "는", "방", "12호", "에서", "잔다", "삼성", "IBM", "전자", "."),
}
NEW: Mapping[str, tuple[str, ...]] = {"en": ("Oslo", "rains", "3rd"), "ko": ("서울", "비", "3일")}
"""Words met after counting, so unknown unless there are vectors for them."""
TYPES = ("PER", "LOC")
WIDEST = {"width": 4, "hidden": 3}  # whatever a recipe calls so; unequal, so that a transposed matrix shows
NOISE = 0.2

SectionType = TypeVar("SectionType", bound=BaseModel)


@dataclass(frozen=True)
class Specimen:
    """A fresh model with weights nowhere zero, a batch for it, and the loss that training would lower."""

    model: Tagger
    batch: dict[str, Tensor]
    loss: Callable[[Tagger, Mapping[str, Tensor]], Tensor]
    encoding: Encoding


def make_specimen(recipe: TagRecipe) -> Specimen:
    """The specimen of a recipe, whose files need not be there; its seed decides on text and weights."""
    recipe = small(recipe)
    data, head = recipe.data, recipe.model.head
    generator = np.random.default_rng([recipe.train.seed, 3])
    scheme = scheme_of(recipe)
    labels = close_labels(named_tags(recipe, scheme), scheme)
    rules = allowed(labels, scheme, forbidden=head.forbidden)
    sentences = list(_sentences(data, labels, rules, generator))
    every_tag = _sentence(_words(WORDS, data)[:1] * len(labels), labels, data, generator)
    vectors = _vectors(recipe, generator) if data.vectors else None
    extractors = build_extractors(recipe, lambda data: _gazetteers(data, sentences))
    encoding, _ = fit_encoding(recipe, [*sentences[:-1], every_tag], scheme, vectors, extractors)
    sets = TagSets(encoding.labels)
    doubtful = _forgetful(sentences, generator) if data.partial else ()
    known_in_part = PartialStream(doubtful, scheme=scheme, target=scheme, sets=sets, rules=rules)
    corpus = encoding.encode(chain(sentences, known_in_part), tag_ids=sets.ids)
    pretrained = vectors.table_for(encoding.words, generator) if vectors else None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.train.seed)
        model = build(recipe.model, encoding, pretrained, sets.table() if data.partial else None)
        _disturb(model)
    return Specimen(
        model=model,
        batch=to_tensors(collate(corpus, np.arange(len(corpus))), torch.device("cpu")),
        loss=_cost(recipe, sentences=len(corpus)),
        encoding=encoding,
    )


def _cost(recipe: TagRecipe, *, sentences: int) -> Callable[[Tagger, Mapping[str, Tensor]], Tensor]:
    """What training lowers: the loss and, where the recipe asks for it, the penalty."""
    share = recipe.train.l2 / (2 * sentences)
    return lambda model, batch: model.loss(batch) + share * model.squares() if share else model.loss(batch)


def small(recipe: TagRecipe) -> TagRecipe:
    """The recipe with widths of a few numbers, and with every word and feature kept."""
    every = {"min_count": 1, "min_feature_count": 1}
    return recipe.model_copy(
        update={"data": recipe.data.model_copy(update=every), "model": _narrowed(recipe.model)}
    )


def _narrowed(section: SectionType) -> SectionType:
    """A section of a recipe, and those within it, with no width above ``WIDEST``."""
    changes: dict[str, object] = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            changes[name] = _narrowed(value)
        elif name in WIDEST and isinstance(value, int):
            changes[name] = min(value, WIDEST[name])
    return section.model_copy(update=changes)


# --- tags ------------------------------------------------------------------------------------------------


def scheme_of(recipe: TagRecipe) -> Scheme:
    """The model's scheme; plain, if the recipe says so or has rules for tags that are of no such scheme."""
    scheme = Scheme(kind=recipe.data.model_scheme)
    strange = any(scheme.split(tag) is None for tag in _ruled(recipe.model))
    return Scheme(kind="plain") if recipe.data.scheme == "plain" or strange else scheme


def named_tags(recipe: TagRecipe, scheme: Scheme) -> list[str]:
    """A tag for each type that the recipe gives a weight or a rule, else for two made-up ones."""
    ruled, weighed = _ruled(recipe.model), list(recipe.model.head.weights)
    if not scheme.has_spans:
        return [*ruled, *weighed, *TYPES, OUTSIDE]
    marks = [scheme.split(tag) for tag in ruled]
    types = [mark[1] for mark in marks if mark and mark[1]] + [name for name in weighed if name != OUTSIDE]
    types = types or recipe.data.types or list(TYPES)
    if recipe.model.head.kind == "sigmoid":  # which is for one
        types = types[:1]
    return [tag for name in types for tag in from_spans([(0, 1, name)], 1, scheme)]


def _ruled(model: TaggerConfig) -> list[str]:
    """A tag that fits each side of the recipe's rules, if not every tag does."""
    sides = [side.strip() for rule in model.head.forbidden for side in rule.split(ARROW)]
    named = [side for side in sides if side not in (START, END, "*")]
    return [re.sub(r"[*?]", "B", re.sub(r"\[(.)[^]]*\]", r"\1", side)) for side in named]


def _walk(length: int, rules: Allowed, generator: np.random.Generator) -> list[int]:
    """A random sequence of tags that keeps the rules."""
    moves, first, last = rules
    ending = [last]  # (K,) of each place: tags from which the end can be reached
    for _ in range(length - 1):
        ending.insert(0, np.asarray((moves & ending[0]).any(1)))
    tags: list[int] = []
    for place in range(length):
        possible = ending[place] & (moves[tags[-1]] if tags else first)
        if not possible.any():
            raise InputError(
                expected=f"rules (model.head.forbidden) that leave a sequence of {length} tags", got="none"
            )
        tags.append(int(generator.choice(np.flatnonzero(possible))))
    return tags


# --- text ------------------------------------------------------------------------------------------------


def _sentences(
    data: TagDataConfig, labels: tuple[str, ...], rules: Allowed, generator: np.random.Generator
) -> Iterator[Sentence]:
    """Sentences of ``LENGTHS`` from a few words, the last one from new words."""
    for number, length in enumerate(LENGTHS, start=1):
        words = _words(NEW if number == len(LENGTHS) else WORDS, data)
        tags = tuple(labels[tag] for tag in _walk(length, rules, generator))
        yield _sentence(tuple(generator.choice(words, length).tolist()), tags, data, generator)


def _words(table: Mapping[str, tuple[str, ...]], data: TagDataConfig) -> tuple[str, ...]:
    """The words of the recipe's language, or their syllables."""
    words = table[data.language]
    return tuple(dict.fromkeys("".join(words))) if data.unit == "syllable" else words


def _sentence(
    words: tuple[str, ...], tags: tuple[str, ...], data: TagDataConfig, generator: np.random.Generator
) -> Sentence:
    columns = {name: tuple(generator.choice(["A", "B"], len(words)).tolist()) for name in data.columns}
    return Sentence(words=words, tags=tags, columns=columns)


def _forgetful(sentences: list[Sentence], generator: np.random.Generator) -> Iterator[Sentence]:
    """The sentences again, their tags known in part: not at all, as one of two, or for sure."""
    every = sorted({tag for sentence in sentences for tag in sentence.tags or ()})
    for sentence in sentences:
        cells = [
            str(generator.choice([ANY, f"{tag}{OR}{generator.choice(every)}", tag]))
            for tag in sentence.tags or ()
        ]
        yield replace(sentence, tags=tuple(cells))


def _gazetteers(data: CorpusConfig, sentences: list[Sentence]) -> Gazetteers:
    """Lists of the names that the recipe's have, with entries of one and two words of the text."""
    entries = [sentence.words[:2] for sentence in sentences]
    names = list(data.gazetteers) or ["list"]
    return Gazetteers(lists={name: entries[number:] for number, name in enumerate(names)})


def _vectors(recipe: TagRecipe, generator: np.random.Generator) -> Vectors:
    """Vectors for every other word, and for the new ones."""
    known = list(dict.fromkeys([*_words(WORDS, recipe.data)[::2], *_words(NEW, recipe.data)[::2]]))
    width = recipe.model.words.width if recipe.model.words else 1
    matrix = generator.normal(size=(len(known), width)).astype(np.float32)
    return Vectors(words=known, matrix=matrix, path=Path(str(recipe.data.vectors)), format="made up")


@torch.no_grad()
def _disturb(model: nn.Module) -> None:
    """Moves every weight at random: what starts at 0 would hide what is multiplied by it."""
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter), alpha=NOISE)
    for part in model.modules():
        if isinstance(part, nn.Embedding) and part.padding_idx is not None:
            part.weight[part.padding_idx] = 0.0
