"""Read the training data of a classifier: encoded texts, word vectors, and notes about the files."""

from __future__ import annotations

import hashlib
import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features import splits
from gonie.features.corpus import FolderSink, MemorySink
from gonie.features.encoding import domain_numbers
from gonie.features.ngrams import NGramBag, NGrams
from gonie.features.text_corpus import TextCorpus
from gonie.features.text_encoding import TextEncoding
from gonie.features.vectors import PretrainedVectors
from gonie.formats.tagged import check_labels
from gonie.tasks.classification.recipe import BagConfig, TextDataConfig, TextRecipe
from gonie.tasks.classification.torch.answers import UnlabelledTexts, read_answered
from gonie.tasks.classification.torch.augment import augmented_texts
from gonie.tasks.classification.torch.files import read_split
from gonie.tasks.classification.torch.noisy_copies import noisy_copies
from gonie.tasks.data_warnings import (
    TEXTS,
    SharedExamples,
    warn_language,
    warn_new_labels,
    warn_not_held_out,
    warn_rare_labels,
)
from gonie.tasks.torch.contextual import Sources, digest_sources, load_sources, sources_key
from gonie.tasks.torch.replay import Memory, MemoryReader, replayed, warn_learned_before
from gonie.tasks.torch.shots import sample_rows
from gonie.tasks.torch.sizes import sized_rows
from gonie.tasks.torch.start import Start
from gonie.tasks.torch.word_data import (
    Note,
    build_extractors,
    build_tokenizer,
    fit_encoding,
    note_corrections,
    pretrained_table,
    sampled,
    tell,
    vectors_of,
)
from gonie.text.domains import domain_names
from gonie.text.labelled_text import LabelledText, count_labels
from gonie.text.passages import Passage, Passages
from gonie.text.report import Report, count
from gonie.text.schemes import PLAIN
from gonie.text.types import Sentence

MOST_LABELS = 4000
"""Maximum number of labels. More are usually texts or ids of a table, read as labels by mistake."""
KEPT = 10_000_000
"""Maximum tokens of tokenised texts kept in memory between two passes. Other texts are tokenised again."""
FOLD_SEED = 0
"""The seed of the folds. It does not depend on the training seed, so that seeds can be compared."""
NOTE_SECONDS = 5.0  # seconds between two progress notes


@dataclass(frozen=True)
class TextData:
    """The training data, which training does not change."""

    encoding: TextEncoding
    train: TextCorpus
    dev: Sequence[LabelledText]
    test: Sequence[LabelledText]
    pretrained: PretrainedVectors | None
    """A vector for every word, if the recipe has pretrained vectors."""
    labels: Counter[str]
    """How many training texts have each label, with replayed ones."""
    sources: Sources = field(default_factory=dict)
    """The contextual sources of the recipe."""
    start: Start | None = None
    """The model that the recipe starts from."""
    sample: Sequence[LabelledText] = ()
    """Training texts to score after each epoch (``train.score_train``)."""
    texts: Sequence[LabelledText] = ()
    """The labelled training texts, without changed copies and kept texts."""
    dev_is_held_out: bool = True
    """Whether the dev texts are others than those of training."""
    annotated: frozenset[str] = frozenset()
    """The labels that the training files are annotated for."""
    answered: UnlabelledTexts | None = None
    """The texts that a teacher has answered, if the recipe names its answers."""

    def fingerprint(self, recipe: TextRecipe) -> str:
        """Return a digest of the recipe and its data. A resumed run must have the same."""
        digest = hashlib.sha256(recipe.model_dump_json().encode())
        digest.update(json.dumps(self.encoding.to_json()).encode())
        for text in chain(self.dev, self.test):  # dev selects the best epoch, and test is scored
            marks = [(mark.start, mark.end, mark.label) for mark in text.marks]
            digest.update(json.dumps([text.text, text.labels, marks]).encode())
        train, own = self.train, self.train.sentences.arrays
        arrays: list[Any] = [*(own[name] for name in sorted(own)), train.offsets, train.labels]
        arrays += train.bag or ()
        arrays += [self.pretrained.matrix] if self.pretrained else []
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        digest.update(digest_sources(self.sources))
        digest.update(self.start.digest.encode() if self.start else b"")
        digest.update(self.answered.answers.key().encode() if self.answered else b"")
        return digest.hexdigest()


class CutTexts:
    """Tokenised texts as passages, which can be iterated several times. ``report`` is about the first pass.

    Tokenising can be slow (morphemes), so tokenised texts are cached in memory, up to ``KEPT`` tokens.
    """

    def __init__(
        self,
        texts: Sequence[Any],
        passages: Callable[[Any, Report], Passage],
        note: Note,
        *,
        noun: str = "text",
    ) -> None:
        self.report = Report()
        self._noun = noun
        self._texts = texts
        self._passages = passages
        self._note = note
        self._kept: list[Passage] = []
        self._room = KEPT

    def __iter__(self) -> Iterator[Passage]:
        yield from self._kept
        noted = time.monotonic()
        report = self.report if not self.report.sentences else Report()  # only the first pass is reported
        for done, text in enumerate(self._texts[len(self._kept) :], start=len(self._kept)):
            passage = self._passages(text, report)
            if self._room > 0:
                self._kept.append(passage)
                self._room -= sum(map(len, passage.sentences))
            if time.monotonic() - noted > NOTE_SECONDS:
                self._note(f"tokenised {done:,} of {count(len(self._texts), self._noun)}")
                noted = time.monotonic()
            yield passage


def read_text_data(recipe: TextRecipe, note: Note, start: Start | None = None) -> TextData:
    """Read and encode the data of the recipe. ``note`` receives what was found.

    ``start`` is the model that the recipe starts from, if any.
    """
    data = recipe.data
    everything = read_split("train", recipe, note)
    train, dev, test = _split(recipe, everything, note)
    kept = start.encoding.labels if start and recipe.train.keep_labels else ()
    labels = _checked_labels(data, train, kept)
    korean = f"for Korean, run: gonie train classify-ko {shlex.quote(data.train_name)}"
    warn_language(data.train_name, train, data.language, korean, note)
    passages = passages_of(recipe)
    cut = CutTexts(train, passages, note)
    held = {"dev": () if dev is train else dev, "test": test}
    answered = read_answered(recipe, held, note)
    further = CutTexts(answered.texts if answered else (), passages, note)
    vectors = vectors_of(data, start)
    sources = load_sources(recipe, note)
    words, _ = fit_encoding(
        recipe,
        CutSentences(cut),
        PLAIN,
        vectors,
        build_extractors(recipe),
        sources=sources,
        start=start,
        answered=CutSentences(further),
    )
    running = (passage.running for passage in cut)
    bag = fit_bag(recipe.model.bag, running, fold=data.fold_text) if recipe.model.bag else None
    if bag and start and start.encoding.bag:
        bag = NGramBag(ngrams=bag.ngrams, vocabulary=bag.vocabulary.merged(start.encoding.bag.vocabulary))
    encoding = TextEncoding(
        passages=passages,
        words=words,
        labels=sorted({*labels, *kept}),
        multi_label=data.multi_label,
        bag=bag,
    )
    if bag:
        note(f"{len(bag.vocabulary):,} n-grams in the bag")
    sink = FolderSink(Path(data.cache)) if data.cache else MemorySink()
    copies = noisy_copies(train, data.noise, seed=recipe.train.seed, note=note)
    copies += augmented_texts(train, data.augment, seed=recipe.train.seed, note=note)
    reader = _memory_reader(encoding.labels)
    memories = replayed(recipe, start, reader, note)
    old = [text for memory in memories for text in memory.examples]
    others = CutTexts([*copies, *old], passages, note)
    corpus = encoding.encode_passages(chain(cut, others), sink=sink)
    if data.multi_label:
        own = Memory(data.train_name, [*train, *copies], frozenset(labels))
        corpus = corpus.with_labels(_with_unknown(corpus.labels, [own, *memories], encoding.labels))
    if domains := domain_names(train):
        corpus = corpus.with_domains(domain_numbers([*train, *copies, *old], domains))
    note_corrections(words, CutSentences(CutTexts(dev, passages, note)), note)
    tell(f"{data.train_name}, training texts", cut.report, note)
    shared = SharedExamples(TEXTS, held)
    shared.compare(chain(train, old))
    shared.warn(note)
    warn_learned_before(recipe, start, reader, held, note)
    warn_rare_labels(data.train_name, labels, note)
    warn_new_labels(
        {name: count_labels(part).elements() for name, part in held.items()}, encoding.labels, note
    )
    return TextData(
        encoding=encoding,
        train=corpus,
        dev=dev,
        test=test,
        pretrained=pretrained_table(vectors, words, recipe.train.seed, note, start),
        labels=labels + count_labels(old),
        sources=sources,
        start=start,
        sample=sampled(train, recipe.train.score_train),
        texts=train,
        dev_is_held_out=not (dev is train or data.dev_is_trained_on),
        annotated=frozenset(labels),
        answered=answered,
    )


def _memory_reader(labels: Sequence[str]) -> MemoryReader[LabelledText]:
    """Return the reader of the training texts of earlier runs."""

    def training(recipe: TextRecipe) -> Sequence[LabelledText]:
        alone = {"train": recipe.data.files("train"), "test": None, "leave_out": None}
        data = recipe.data.model_copy(update=alone)
        alone_recipe = recipe.model_copy(update={"data": data})
        texts = read_split("train", alone_recipe, lambda text: None)
        if data.files("dev") and not (recipe.train.shots or data.folds or data.size):
            return texts
        return _split(alone_recipe, texts, lambda text: None)[0]

    return MemoryReader(
        kind=TEXTS,
        training=training,
        texts=training,
        mentions=lambda text: Counter(text.labels),
        labels=frozenset(labels),
    )


def _with_unknown(
    table: NDArray[np.float32], memories: Sequence[Memory[LabelledText]], labels: Sequence[str]
) -> NDArray[np.float32]:
    """Return the labels of texts (N, K), with -1 for those that the annotators of a text did not know.

    ``memories`` are the texts by annotators, in the order of the rows.
    """
    unknown = np.array([[label not in memory.known for label in labels] for memory in memories])  # (M, K)
    rows = np.repeat(np.arange(len(memories)), [len(memory.examples) for memory in memories])  # (N,)
    return np.where(unknown[rows], np.float32(-1), table)


def read_text_dev(recipe: TextRecipe, note: Note) -> Sequence[LabelledText]:
    """Read only the dev texts of ``recipe``."""
    data = recipe.data.model_copy(update={"test": None, "leave_out": None, "size": None})
    alone = recipe.model_copy(update={"data": data})
    if data.files("dev") and not data.folds:
        return read_split("dev", alone, note)
    _, dev, _ = _split(alone, read_split("train", alone, note), note)
    return dev


def training_labels(recipe: TextRecipe, note: Note) -> list[str]:
    """Return the labels of a model of ``recipe`` that starts from no other model."""
    train, _, _ = _split(recipe, read_split("train", recipe, note), note)
    return sorted(_checked_labels(recipe.data, train, ()))


def read_text_held_out(recipe: TextRecipe) -> Sequence[LabelledText]:
    """Read the test texts of ``recipe``, or its dev texts."""
    if recipe.data.files("test") and not recipe.data.folds:
        return read_split("test", recipe, lambda text: None)
    return read_text_dev(recipe, lambda text: None)


def text_data_key(recipe: TextRecipe) -> str:
    """Return the part of a recipe that ``read_text_data`` depends on. Equal strings give equal data.

    It includes the seed if texts are held out or sampled, if words without a pretrained vector get a random
    one, or if there are changed copies.
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
        "start": [recipe.train.start, recipe.train.keep_labels, recipe.train.replay],
        "adapted": model.adapter is not None,
        "shots": recipe.train.shots,
        "seed": recipe.train.seed if _is_drawn(recipe) else None,
    }
    return json.dumps(read)


def _is_drawn(recipe: TextRecipe) -> bool:
    """Return whether the data depends on the seed: texts, vectors or copies are drawn at random."""
    data = recipe.data
    drawn = recipe.train.shots or recipe.train.replay or data.size
    return not data.files("dev") or bool(data.vectors or data.copies or drawn)


def _sample(texts: list[LabelledText], recipe: TextRecipe, note: Note) -> list[LabelledText]:
    """Return a few texts of each label (``train.shots``), in order."""
    mentions = [Counter(text.labels) for text in texts]
    rows = sample_rows(mentions, recipe, "texts", note)
    return [texts[row] for row in rows]


def _sized(texts: Sequence[LabelledText], recipe: TextRecipe, note: Note) -> Sequence[LabelledText]:
    """Return a sample of ``data.size`` texts, or all."""
    if recipe.data.size is None:
        return texts
    rows = sized_rows([tuple(sorted(text.labels)) for text in texts], recipe, "texts", note)
    return [texts[row] for row in rows]


def passages_of(recipe: TextRecipe) -> Passages:
    """Return how the recipe splits and tokenises texts."""
    data = recipe.data
    return Passages(
        tokenizer=build_tokenizer(data),
        by=recipe.cut_by,
        mark=data.sentence_mark,
        max_tokens=data.max_tokens,
        max_sentences=data.max_sentences,
    )


def fit_bag(config: BagConfig, texts: Iterable[str], *, fold: bool) -> NGramBag:
    """Fit the bag of n-grams of the recipe to the training texts, which are folded if ``fold``."""
    (shortest, longest), (fewest, most) = config.chars, config.words
    ngrams = NGrams(chars=(shortest, longest), words=(fewest, most), lowercase=config.lowercase, fold=fold)
    return NGramBag.fit(texts, ngrams=ngrams, min_count=config.min_count, max_size=config.max_size)


class CutSentences:
    """The sentences of passages, which can be iterated several times."""

    def __init__(self, cut: CutTexts) -> None:
        self._cut = cut

    def __iter__(self) -> Iterator[Sentence]:
        return (sentence for passage in self._cut for sentence in passage.sentences)


def _split(
    recipe: TextRecipe, texts: list[LabelledText], note: Note
) -> tuple[Sequence[LabelledText], Sequence[LabelledText], Sequence[LabelledText]]:
    """Return the training, dev and test texts."""
    data = recipe.data
    test: Sequence[LabelledText] = read_split("test", recipe, note)
    if data.folds:
        parts = splits.folds([text.labels for text in texts], number=data.folds, seed=FOLD_SEED)
        for line in parts.notes:
            note(f"{data.train_name}: {line}")
        fold = parts.splits[data.fold - 1]
        note(
            f"fold {data.fold} of {data.folds}: {count(len(fold.held), 'text')} of {data.train_name} to test"
        )
        texts, test = [texts[row] for row in fold.train], [texts[row] for row in fold.held]
    if recipe.train.shots:
        texts = _sample(texts, recipe, note)
    if data.files("dev"):
        return _sized(texts, recipe, note), read_split("dev", recipe, note), test
    if recipe.train.shots:
        note(
            "no dev file: the sampled texts are also the dev texts, so the dev score says nothing about "
            "others"
        )
        return texts, texts, test
    if not data.holdout or len({text.labels for text in texts}) == len(texts):
        warn_not_held_out("text", data.holdout, "every text has another label", note)
        few = _sized(texts, recipe, note)
        return few, few, test
    held = splits.hold_out([text.labels for text in texts], share=data.holdout, seed=recipe.train.seed)
    for line in held.notes:
        note(f"{data.train_name}: {line}")
    (part,) = held.splits
    share = f"data.holdout = {data.holdout}"
    note(f"no dev file: held out {count(len(part.held), 'text')} of {data.train_name} ({share})")
    return (
        _sized([texts[row] for row in part.train], recipe, note),
        [texts[row] for row in part.held],
        test,
    )


def _checked_labels(
    data: TextDataConfig, texts: Sequence[LabelledText], kept: Collection[str]
) -> Counter[str]:
    """Return the number of training texts of each label, or raise an error for too few or too many labels.

    ``kept`` are labels of the model that the training texts need not have.
    """
    labels = count_labels(texts)
    most_used = ", ".join(label for label, _ in labels.most_common(3))
    if not labels or len({*labels, *kept}) < (1 if data.multi_label else 2):
        raise InputError(
            f"only one label: {most_used}" if most_used else "no labels",
            path=data.train_name,
            fix="Use texts of at least two labels, or set the label column: --set data.label_column=NAME",
        )
    if data.format == "auto" and not data.multi_label:
        check_labels(labels, len(texts), noun="label", path=data.train_name)
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"more than {MOST_LABELS:,} different labels: {len(labels):,}, such as {most_used}",
            path=data.train_name,
            fix="Set the label column: --set data.label_column=NAME",
        )
    return labels
