"""A small pair model over synthetic texts, for checks without files."""

from __future__ import annotations

from itertools import chain

import numpy as np
import torch

from gonie.features.morpheme_features import COLUMN
from gonie.features.text_encoding import TextEncoding
from gonie.nn.inference import to_tensors
from gonie.tasks.pairs.encoding import VALUE, PairEncoding, ValueScale, sentences_of
from gonie.tasks.pairs.recipe import PairRecipe
from gonie.tasks.pairs.torch.build import build_pair_network
from gonie.tasks.pairs.torch.data import passages_of
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.torch.build import plan_words
from gonie.tasks.torch.contextual import synthetic_sources
from gonie.tasks.torch.synthetic import (
    NEW,
    WORDS,
    SyntheticModel,
    small,
    synthetic_gazetteers,
    synthetic_vectors,
    with_noise,
    words_of,
)
from gonie.tasks.torch.word_data import build_extractors, fit_encoding
from gonie.text.passages import Passage
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers.morphemes import format_morphemes
from gonie.text.types import Morpheme, Sentence

LENGTHS = ((4, 1), (1, 3), (3, 2), (2, 2))
"""Tokens of the two texts of each pair."""
LABELS = ("contradiction", "entailment", "neutral")
SCALE = ValueScale(0.0, 5.0)


def synthetic_pair_model(recipe: PairRecipe) -> SyntheticModel[PairNetwork, PairEncoding]:
    """Build a small network of the recipe's kind, and a batch of synthetic pairs for it."""
    recipe = small(recipe)
    generator = np.random.default_rng([recipe.train.seed, 4])
    values = recipe.data.value_column is not None or recipe.data.scale is not None
    passages = [_passage(recipe, number, generator) for number in range(len(LENGTHS))]
    known = list(sentences_of(passages[:-1]))
    vectors, sources = synthetic_vectors(recipe, generator), synthetic_sources(recipe)
    extractors = build_extractors(recipe, lambda data: synthetic_gazetteers(data, known))
    words, _ = fit_encoding(recipe, known, PLAIN, vectors, extractors, sources=sources)
    texts = TextEncoding(
        passages=passages_of(recipe),
        words=words,
        labels=[VALUE] if values else LABELS,
        multi_label=False,
        bag=None,
    )
    encoding = PairEncoding(texts=texts, scale=SCALE if values else None)
    batch = texts.encode_passages(passages).batch(np.arange(len(passages)))
    if values:
        batch["labels"] = np.linspace(SCALE.low, SCALE.high, len(passages), dtype=np.float32)
    pretrained = vectors.table_for(words.words, generator) if vectors else None
    table = plan_words(recipe.model, words, pretrained)
    return SyntheticModel(
        model=with_noise(
            recipe.train.seed, lambda: build_pair_network(recipe.model, encoding, table, sources=sources)
        ),
        batch=to_tensors(batch, torch.device("cpu")),
        examples=len(passages),
        encoding=encoding,
    )


def _passage(recipe: PairRecipe, number: int, generator: np.random.Generator) -> Passage:
    """Return a pair of random words. The words of the last pair are unknown."""
    known = words_of(NEW if number == len(LENGTHS) - 1 else WORDS, recipe.data)
    rows = [tuple(generator.choice(known, size).tolist()) for size in LENGTHS[number]]
    return Passage(
        tuple(Sentence(row, columns={COLUMN: _morphemes(row)}) for row in rows),
        " ".join(chain.from_iterable(rows)),
        (LABELS[number % len(LABELS)],),
    )


def _morphemes(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(format_morphemes([Morpheme(form=word, tag="NNG")]) for word in words)
