"""A small classifier with synthetic texts of one or more sentences, labelled at random.

The sentences are counted, encoded and collated, and the model is built, by the same code as in training. No
tokenizer is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import torch

from gonie.features.morpheme_features import COLUMN
from gonie.features.text_encoding import TextEncoding
from gonie.features.vectors import Vectors
from gonie.nn.inference import to_tensors
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch.build import build_classifier
from gonie.tasks.classification.torch.data import fit_bag, passages_of
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.torch.build import plan_words
from gonie.tasks.torch.contextual import Sources, synthetic_sources
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
from gonie.text.marks import mark_words
from gonie.text.passages import Passage
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers.morphemes import format_morphemes
from gonie.text.types import Morpheme, Sentence

LENGTHS = ((4, 1), (1,), (3, 1, 2), (3,), (2, 2))  # tokens of each sentence of each text
LABELS = ("bad", "good", "so-so")
TAGS = ("NNG", "VV")  # tags of synthetic morphemes


def synthetic_classifier(recipe: TextRecipe) -> SyntheticModel[ClassifyingNetwork, TextEncoding]:
    """Build a small classifier of a recipe with a synthetic batch."""
    recipe = small(recipe)
    generator = np.random.default_rng([recipe.train.seed, 3])
    labels = named_labels(recipe)
    passages = list(_passages(recipe, labels, generator))
    vectors = synthetic_vectors(recipe, generator)
    sources = synthetic_sources(recipe)
    encoding = _fitted(recipe, labels, passages[:-1], vectors, sources)
    width = encoding.words.external
    corpus = encoding.encode_passages(
        each._replace(sentences=with_external_vectors(each.sentences, width, generator)) for each in passages
    )
    pretrained = vectors.table_for(encoding.words.words, generator) if vectors else None
    table = plan_words(recipe.model, encoding.words, pretrained)
    counts = Counter(chain.from_iterable(passage.labels for passage in passages))
    return SyntheticModel(
        model=with_noise(
            recipe.train.seed,
            lambda: build_classifier(recipe.model, encoding, table, counts, sources=sources),
        ),
        batch=to_tensors(corpus.batch(np.arange(len(corpus))), torch.device("cpu")),
        examples=len(corpus),
        encoding=encoding,
    )


def named_labels(recipe: TextRecipe) -> tuple[str, ...]:
    """Return the labels with weights in the recipe, filled up to three labels, or two for a sigmoid."""
    head = recipe.model.head
    weighed = () if isinstance(head.weights, str) else tuple(head.weights)
    wanted = 2 if head.kind == "sigmoid" else len(LABELS)
    made_up = [label for label in LABELS if label not in weighed]
    return tuple(sorted([*weighed, *made_up[: max(0, wanted - len(weighed))]]))


def _fitted(
    recipe: TextRecipe,
    labels: Sequence[str],
    passages: Sequence[Passage],
    vectors: Vectors | None,
    sources: Sources,
) -> TextEncoding:
    """Fit the encoding to the passages as training texts."""
    sentences = [sentence for passage in passages for sentence in passage.sentences]
    extractors = build_extractors(recipe, lambda data: synthetic_gazetteers(data, sentences))
    words, _ = fit_encoding(recipe, sentences, PLAIN, vectors, extractors, sources=sources)
    bag, running = recipe.model.bag, (passage.running for passage in passages)
    return TextEncoding(
        passages=passages_of(recipe),
        words=words,
        labels=labels,
        multi_label=recipe.data.multi_label,
        bag=fit_bag(bag, running, fold=recipe.data.fold_text) if bag else None,
    )


def _passages(recipe: TextRecipe, labels: Sequence[str], generator: np.random.Generator) -> Iterator[Passage]:
    """Yield texts of ``LENGTHS``, the last one of new words. With one level, each text is one sentence."""
    for number, lengths in enumerate(LENGTHS):
        known = words_of(NEW if number == len(LENGTHS) - 1 else WORDS, recipe.data)
        sizes = lengths if recipe.cut_by != "text" else (sum(lengths),)
        rows = [tuple(generator.choice(known, size).tolist()) for size in sizes]
        running = " ".join(chain.from_iterable(rows))
        sentences = tuple(_sentence(row, recipe.data.marks, generator) for row in rows)
        yield Passage(sentences, running, _labels(recipe, number, labels))


def _sentence(words: tuple[str, ...], marks: Sequence[str], generator: np.random.Generator) -> Sentence:
    """Return a sentence with each mark around one of its words, as in a tokenised text."""
    shown = list(words)
    for mark in marks:
        at = int(generator.integers(len(shown)))
        before, after = mark_words(mark)
        shown[at : at + 1] = [before, shown[at], after]
    analyses = (Morpheme(form=word, tag=str(generator.choice(TAGS))) for word in shown)
    return Sentence(tuple(shown), columns={COLUMN: tuple(format_morphemes([each]) for each in analyses)})


def _labels(recipe: TextRecipe, number: int, labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels in turn, so that each occurs; for several labels, from none to all of them."""
    if not recipe.data.multi_label:
        return (labels[number % len(labels)],)
    return tuple(label for bit, label in enumerate(labels) if number >> bit & 1)
