"""From a classifier's files to what training needs: encoded texts, word vectors, and an account of it all."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gonie.errors import InputError
from gonie.features import splits
from gonie.features.corpus import FolderSink, MemorySink
from gonie.features.ngrams import NGramBag, NGrams
from gonie.features.text_corpus import TextCorpus
from gonie.features.text_encoding import TextEncoding
from gonie.features.vectors import PretrainedVectors
from gonie.formats.labelled import LabelledSource
from gonie.tasks.classification.read_options import text_options
from gonie.tasks.classification.recipe import BagConfig, TextDataConfig, TextRecipe
from gonie.tasks.paths import locate
from gonie.tasks.torch.contextual import Sources, digest_sources, load_sources, sources_key
from gonie.tasks.torch.word_data import (
    Note,
    build_extractors,
    fit_encoding,
    pretrained_table,
    sampled,
    tell,
    tell_unmet,
    vectors_of,
)
from gonie.text.labelled_text import LabelledText, count_labels
from gonie.text.passages import Passage, Passages
from gonie.text.report import Report
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Sentence

MOST_LABELS = 4000
"""More are texts or ids of a table taken for labels."""
KEPT = 10_000_000
"""Tokens of cut texts that are kept in memory between two passes; beyond them texts are cut again."""
FOLD_SEED = 0
"""Folds are the same whatever the seed of training, so that seeds can be compared on them."""
NOTE_SECONDS = 5.0  # seconds between two progress notes


@dataclass(frozen=True)
class TextData:
    """Everything training reads, none of which it changes."""

    encoding: TextEncoding
    train: TextCorpus
    dev: Sequence[LabelledText]
    test: Sequence[LabelledText]
    pretrained: PretrainedVectors | None
    """A vector for every word, where the recipe names a file of vectors."""
    labels: Counter[str]
    sources: Sources = field(default_factory=dict)
    """The contextual sources that the recipe names."""
    sample: Sequence[LabelledText] = ()
    """Training texts to score after each epoch, as many as ``train.score_train`` asks for."""

    def fingerprint(self, recipe: TextRecipe) -> str:
        """A digest of the recipe and of what its files held, so that a run is resumed over the same."""
        digest = hashlib.sha256(recipe.model_dump_json().encode())
        digest.update(json.dumps(self.encoding.to_json()).encode())
        for text in self.dev:  # it decides which epoch is the best, and when to stop
            marks = [(mark.start, mark.end, mark.label) for mark in text.marks]
            digest.update(json.dumps([text.text, text.labels, marks]).encode())
        train, own = self.train, self.train.sentences.arrays
        arrays: list[Any] = [*(own[name] for name in sorted(own)), train.offsets, train.labels]
        arrays += train.bag or ()
        arrays += [self.pretrained.matrix] if self.pretrained else []
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        digest.update(digest_sources(self.sources))
        return digest.hexdigest()


class CutTexts:
    """Texts as passages, gone over any number of times; ``report`` counts what the first pass noticed.

    Cutting can be slow (morphemes are), so what was cut is kept as far as memory allows.
    """

    def __init__(self, texts: Sequence[LabelledText], passages: Passages, note: Note) -> None:
        self.report = Report()
        self._texts = texts
        self._passages = passages
        self._note = note
        self._kept: list[Passage] = []
        self._room = KEPT

    def __iter__(self) -> Iterator[Passage]:
        yield from self._kept
        noted = time.monotonic()
        report = self.report if not self.report.sentences else Report()  # a second pass says nothing new
        for done, text in enumerate(self._texts[len(self._kept) :], start=len(self._kept)):
            passage = self._passages(text, report)
            if self._room > 0:
                self._kept.append(passage)
                self._room -= sum(map(len, passage.sentences))
            if time.monotonic() - noted > NOTE_SECONDS:
                self._note(f"cut {done:,} of {len(self._texts):,} texts into tokens")
                noted = time.monotonic()
            yield passage


def read_text_data(recipe: TextRecipe, note: Note) -> TextData:
    """Read, count and encode everything the recipe names; ``note`` is told what was found on the way."""
    data = recipe.data
    everything = _read(data.train, data, note)
    train, dev, test = _split(recipe, everything, note)
    labels = _checked_labels(data, train)
    passages = passages_of(recipe)
    cut = CutTexts(train, passages, note)
    vectors = vectors_of(data)
    sources = load_sources(recipe, note)
    words, _ = fit_encoding(
        recipe, _Sentences(cut), PLAIN, vectors, build_extractors(recipe), sources=sources
    )
    bag = fit_bag(recipe.model.bag, (passage.running for passage in cut)) if recipe.model.bag else None
    encoding = TextEncoding(
        passages=passages,
        words=words,
        labels=sorted(labels),
        multi_label=bool(data.label_separator),
        bag=bag,
    )
    if bag:
        note(f"{len(bag.vocabulary):,} n-grams beside the network")
    sink = FolderSink(Path(data.cache)) if data.cache else MemorySink()
    corpus = encoding.encode_passages(cut, sink=sink)
    tell(f"{data.train}, to train on", cut.report, note)
    held = {"dev": dev, "test": test}
    tell_unmet({name: count_labels(part).elements() for name, part in held.items()}, labels, note)
    return TextData(
        encoding=encoding,
        train=corpus,
        dev=dev,
        test=test,
        pretrained=pretrained_table(vectors, words, recipe.train.seed, note),
        labels=labels,
        sources=sources,
        sample=sampled(train, recipe.train.score_train),
    )


def read_text_dev(recipe: TextRecipe, note: Note) -> Sequence[LabelledText]:
    """The texts that a run of ``recipe`` chooses its epoch by, and nothing else."""
    data = recipe.data.model_copy(update={"test": None})
    everything = [] if data.dev and not data.folds else _read(data.train, data, note)
    _, dev, _ = _split(recipe.model_copy(update={"data": data}), everything, note)
    return dev


def text_data_key(recipe: TextRecipe) -> str:
    """The part of a recipe that ``read_text_data`` reads, as text: equal texts give equal data.

    A seed is part of it where texts are held out by it, or words without a vector get a random one.
    """
    data, model = recipe.data, recipe.model
    read = {
        "data": data.model_dump(mode="json"),
        "cut": recipe.cut_by,
        "groups": model.groups,
        "jamo": bool(model.chars and model.chars.jamo),
        "sources": sources_key(model),
        "bag": model.bag.model_dump(mode="json", exclude={"rate"}) if model.bag else None,
        "sample": recipe.train.score_train,
        "seed": recipe.train.seed if data.dev is None or data.vectors else None,
    }
    return json.dumps(read)


def passages_of(recipe: TextRecipe) -> Passages:
    """How the recipe says its texts are to be cut."""
    data = recipe.data
    return Passages(
        tokenizer=tokenizer(language=data.language, unit=data.token_unit),
        by=recipe.cut_by,
        mark=data.sentence_mark,
        max_tokens=data.max_tokens,
        max_sentences=data.max_sentences,
    )


def fit_bag(config: BagConfig, texts: Iterable[str]) -> NGramBag:
    """The n-grams of the training texts that the recipe wants."""
    (shortest, longest), (fewest, most) = config.chars, config.words
    ngrams = NGrams(chars=(shortest, longest), words=(fewest, most), lowercase=config.lowercase)
    return NGramBag.fit(texts, ngrams=ngrams, min_count=config.min_count, max_size=config.max_size)


class _Sentences:
    """The sentences of passages, as often as they are asked for."""

    def __init__(self, cut: CutTexts) -> None:
        self._cut = cut

    def __iter__(self) -> Iterator[Sentence]:
        return (sentence for passage in self._cut for sentence in passage.sentences)


def _read(name: str, data: TextDataConfig, note: Note) -> list[LabelledText]:
    options = text_options({"data": data.model_dump(mode="json")}, format=data.format)
    source = LabelledSource(locate(name), options)
    texts = list(source)
    tell(name, source.report, note)
    return texts


def _split(
    recipe: TextRecipe, texts: list[LabelledText], note: Note
) -> tuple[Sequence[LabelledText], Sequence[LabelledText], Sequence[LabelledText]]:
    """The texts to learn from, to choose the epoch by, and to score at the end."""
    data = recipe.data
    test: Sequence[LabelledText] = () if data.test is None else _read(data.test, data, note)
    if data.folds:
        parts = splits.folds([text.labels for text in texts], number=data.folds, seed=FOLD_SEED)
        for line in parts.notes:
            note(f"{data.train}: {line}")
        fold = parts.splits[data.fold - 1]
        note(f"fold {data.fold} of {data.folds}: {len(fold.held):,} texts of {data.train} are the test texts")
        texts, test = [texts[row] for row in fold.train], [texts[row] for row in fold.held]
    if data.dev is not None:
        return texts, _read(data.dev, data, note), test
    if not data.holdout or len({text.labels for text in texts}) == len(texts):
        note("no dev file and no text to hold out: the training texts themselves are scored")
        return texts, texts, test
    held = splits.hold_out([text.labels for text in texts], share=data.holdout, seed=recipe.train.seed)
    for line in held.notes:
        note(f"{data.train}: {line}")
    (part,) = held.splits
    share = f"data.holdout = {data.holdout}"
    note(f"no dev file: {len(part.held):,} texts of {data.train} are held out ({share})")
    return [texts[row] for row in part.train], [texts[row] for row in part.held], test


def _checked_labels(data: TextDataConfig, texts: Sequence[LabelledText]) -> Counter[str]:
    """How many training texts have each label, once it is sure that there is something to tell apart."""
    labels = count_labels(texts)
    most_used = ", ".join(label for label, _ in labels.most_common(3))
    if len(labels) < (1 if data.label_separator else 2):
        raise InputError(
            f"expected texts of at least two labels, got only {most_used or 'none'}",
            path=data.train,
            fix="Name the label's column: --set data.label_column=NAME",
        )
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"expected at most {MOST_LABELS:,} different labels, got {len(labels):,}, such as {most_used}",
            path=data.train,
            fix="Name the label's column: --set data.label_column=NAME",
        )
    return labels
