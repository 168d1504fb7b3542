"""Read the training data of a pair model: encoded pairs, word vectors, and a report of what was read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gonie.errors import InputError
from gonie.features import splits
from gonie.features.corpus import FolderSink, MemorySink
from gonie.features.encoding import domain_numbers
from gonie.features.text_corpus import TextCorpus
from gonie.features.text_encoding import TextEncoding
from gonie.features.vectors import PretrainedVectors
from gonie.formats.pairs import PairColumns, PairSource
from gonie.tasks.classification.torch.data import MOST_LABELS, CutSentences, CutTexts
from gonie.tasks.data_warnings import (
    PAIRS,
    SharedExamples,
    warn_language,
    warn_new_labels,
    warn_not_held_out,
    warn_rare_labels,
)
from gonie.tasks.pairs.encoding import VALUE, PairEncoding, ValueScale, cut_pair
from gonie.tasks.pairs.read_options import pair_options
from gonie.tasks.pairs.recipe import PairDataConfig, PairRecipe
from gonie.tasks.paths import locate
from gonie.tasks.torch.contextual import Sources, digest_sources, load_sources, sources_key
from gonie.tasks.torch.replay import MemoryReader, replayed, warn_learned_before
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
from gonie.text.domains import domain_names, in_domain
from gonie.text.labelled_text import LabelledPair
from gonie.text.passages import Passages
from gonie.text.report import count
from gonie.text.schemes import PLAIN


@dataclass(frozen=True)
class PairData:
    """The training data, which training does not change."""

    encoding: PairEncoding
    columns: PairColumns
    """The columns of the training file."""
    train: TextCorpus
    dev: Sequence[LabelledPair]
    test: Sequence[LabelledPair]
    pretrained: PretrainedVectors | None
    labels: Counter[str]
    """How many training pairs have each label, with replayed ones; of values, how many lie in each fifth."""
    sources: Sources = field(default_factory=dict)
    start: Start | None = None
    """The model that the recipe starts from."""
    sample: Sequence[LabelledPair] = ()
    """Training pairs to score after each epoch, as many as ``train.score_train`` asks for."""
    pairs: Sequence[LabelledPair] = ()
    """The labelled training pairs, without kept pairs."""
    dev_is_held_out: bool = True
    """Whether the dev pairs are others than those of training."""

    def fingerprint(self, recipe: PairRecipe) -> str:
        """Return a digest of the recipe and its data. A resumed run must have the same."""
        digest = hashlib.sha256(recipe.model_dump_json().encode())
        digest.update(json.dumps(self.encoding.to_json()).encode())
        for pair in chain(self.dev, self.test):  # dev selects the best epoch, and test is scored
            digest.update(json.dumps([pair.text, pair.labels, pair.value]).encode())
        own = self.train.sentences.arrays
        arrays: list[Any] = [*(own[name] for name in sorted(own)), self.train.labels]
        arrays += [self.pretrained.matrix] if self.pretrained else []
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        digest.update(digest_sources(self.sources))
        digest.update(self.start.digest.encode() if self.start else b"")
        return digest.hexdigest()


def read_pair_data(recipe: PairRecipe, note: Note, start: Start | None = None) -> PairData:
    """Read, count and encode everything the recipe names. ``note`` receives what was found.

    ``start`` is the model that the recipe starts from, if any.
    """
    data = recipe.data
    columns, everything = _read("train", data, note)
    train, dev, test = _split(recipe, everything, columns, note)
    scale = _scale(data, train, note) if columns.value is not None else None
    kept = start.encoding.labels if start and recipe.train.keep_labels else ()
    labels = _checked_labels(data, columns, train, kept) if scale is None else Counter()
    korean = "use --set data.language=ko --set data.unit=morpheme"
    warn_language(data.train_name, train, data.language, korean, note)
    passages = passages_of(recipe)
    cut = CutTexts(train, partial(cut_pair, passages), note, noun="pair")
    vectors, sources = vectors_of(data, start), load_sources(recipe, note)
    words, _ = fit_encoding(
        recipe, CutSentences(cut), PLAIN, vectors, build_extractors(recipe), sources=sources, start=start
    )
    names = sorted({*labels, *kept}) if scale is None else [VALUE]
    texts = TextEncoding(passages=passages, words=words, labels=names, multi_label=False, bag=None)
    encoding = PairEncoding(texts=texts, scale=scale)
    sink = FolderSink(Path(data.cache)) if data.cache else MemorySink()
    reader = _memory_reader(names)
    memories = replayed(recipe, start, reader, note)
    old = [pair for memory in memories for pair in memory.examples]
    others = CutTexts(old, partial(cut_pair, passages), note, noun="pair")
    corpus = encoding.with_answers(texts.encode_passages(chain(cut, others), sink=sink), [*train, *old])
    if domains := domain_names(train):
        corpus = corpus.with_domains(domain_numbers([*train, *old], domains))
    cut.report.pairs = len(train)
    note_corrections(words, CutSentences(CutTexts(dev, partial(cut_pair, passages), note, noun="pair")), note)
    tell(f"{data.train_name}, to train on", cut.report, note)
    held = {"dev": () if dev is train else dev, "test": test}
    shared = SharedExamples(PAIRS, held)
    shared.compare(chain(train, old))
    shared.warn(note)
    warn_learned_before(recipe, start, reader, held, note)
    if scale is None:
        warn_rare_labels(data.train_name, labels, note)
        named = {name: [label for pair in part for label in pair.labels] for name, part in held.items()}
        warn_new_labels(named, names, note)
    return PairData(
        encoding=encoding,
        columns=columns,
        train=corpus,
        dev=dev,
        test=test,
        pretrained=pretrained_table(vectors, words, recipe.train.seed, note, start),
        labels=labels + _count_labels(old) if scale is None else _fifths([*train, *old], scale),
        sources=sources,
        start=start,
        sample=sampled(train, recipe.train.score_train),
        pairs=train,
        dev_is_held_out=not (dev is train or data.dev_is_trained_on),
    )


def _memory_reader(labels: Sequence[str]) -> MemoryReader[LabelledPair]:
    """Return the reader of the training pairs of earlier runs."""

    def training(recipe: PairRecipe) -> Sequence[LabelledPair]:
        alone = {"train": recipe.data.files("train"), "test": None, "leave_out": None}
        data = recipe.data.model_copy(update=alone)
        columns, pairs = _read("train", data, lambda text: None)
        if data.files("dev") and not data.size:
            return pairs
        return _split(recipe.model_copy(update={"data": data}), pairs, columns, lambda text: None)[0]

    return MemoryReader(
        kind=PAIRS,
        training=training,
        texts=training,
        mentions=lambda pair: Counter(pair.labels or (VALUE,)),
        labels=frozenset(labels),
    )


def read_pair_dev(recipe: PairRecipe, note: Note) -> Sequence[LabelledPair]:
    """Read only the pairs by which a run of ``recipe`` chooses its best epoch."""
    data = recipe.data
    if data.files("dev"):
        return _read("dev", data, note)[1]
    columns, everything = _read("train", data, note)
    alone = {"test": None, "leave_out": None, "size": None}
    without_test = recipe.model_copy(update={"data": data.model_copy(update=alone)})
    _, dev, _ = _split(without_test, everything, columns, note)
    return dev


def read_pair_held_out(recipe: PairRecipe) -> Sequence[LabelledPair]:
    """Read the test pairs of ``recipe``, or its dev pairs."""
    if recipe.data.files("test"):
        return _read("test", recipe.data, lambda text: None)[1]
    return read_pair_dev(recipe, lambda text: None)


def read_pairs(data: PairDataConfig, name: str, note: Note) -> list[LabelledPair]:
    """Read the pairs of a file. ``note`` receives what was found."""
    alone = data.model_copy(update={"train": name, "format": "auto", "leave_out": None})
    return _read("train", alone, note)[1]


def pair_data_key(recipe: PairRecipe) -> str:
    """Return the part of a recipe that ``read_pair_data`` reads, as text: equal texts give equal data."""
    data, model = recipe.data, recipe.model
    read = {
        "data": data.model_dump(mode="json"),
        "groups": model.groups,
        "jamo": bool(model.chars and model.chars.jamo),
        "sources": sources_key(model),
        "sample": recipe.train.score_train,
        "start": [recipe.train.start, recipe.train.keep_labels, recipe.train.replay],
        "adapted": model.adapter is not None,
        "seed": recipe.train.seed if _is_drawn(recipe) else None,
    }
    return json.dumps(read)


def _is_drawn(recipe: PairRecipe) -> bool:
    """Return whether the data depends on the seed: pairs or vectors are drawn at random."""
    data = recipe.data
    return not data.files("dev") or bool(data.vectors or recipe.train.replay or data.size)


def passages_of(recipe: PairRecipe) -> Passages:
    """Return what cuts each text into tokens."""
    data = recipe.data
    return Passages(
        tokenizer=build_tokenizer(data),
        by="text",
        max_tokens=data.max_tokens,
    )


def _read(
    split: Literal["train", "dev", "test"], data: PairDataConfig, note: Note
) -> tuple[PairColumns, list[LabelledPair]]:
    """Return the pairs of all files of a split, and the columns of the first file."""
    options = pair_options({"data": data.model_dump(mode="json")}, format=data.format)
    columns: list[PairColumns] = []
    pairs: list[LabelledPair] = []
    for domain, path in data.files(split).items():
        source = PairSource(locate(path), options)
        pairs += (in_domain(pair, domain) for pair in source)
        tell(path, source.report, note)
        assert source.columns is not None  # found before the first pair
        columns.append(source.columns)
    return columns[0], pairs


def _split(
    recipe: PairRecipe, pairs: list[LabelledPair], columns: PairColumns, note: Note
) -> tuple[Sequence[LabelledPair], Sequence[LabelledPair], Sequence[LabelledPair]]:
    """Return the pairs to train on, to choose the epoch by, and to score at the end."""
    data = recipe.data
    test: Sequence[LabelledPair] = _read("test", data, note)[1] if data.files("test") else ()
    if data.files("dev"):
        return _sized(pairs, recipe, note), _read("dev", data, note)[1], test
    if not data.holdout or len(pairs) < 3:
        warn_not_held_out("pair", data.holdout, "too few pairs to hold out", note)
        few = _sized(pairs, recipe, note)
        return few, few, test
    strata = [pair.labels if columns.value is None else (VALUE,) for pair in pairs]
    held = splits.hold_out(strata, share=data.holdout, seed=recipe.train.seed)
    for line in held.notes:
        note(f"{data.train_name}: {line}")
    (part,) = held.splits
    note(
        f"no dev file: held out {count(len(part.held), 'pair')} of {data.train_name} "
        f"(data.holdout = {data.holdout})"
    )
    return (
        _sized([pairs[row] for row in part.train], recipe, note),
        [pairs[row] for row in part.held],
        test,
    )


def _sized(pairs: Sequence[LabelledPair], recipe: PairRecipe, note: Note) -> Sequence[LabelledPair]:
    """Return a sample of ``data.size`` pairs, or all."""
    if recipe.data.size is None:
        return pairs
    rows = sized_rows([pair.labels for pair in pairs], recipe, "pairs", note)
    return [pairs[row] for row in rows]


def _scale(data: PairDataConfig, pairs: Sequence[LabelledPair], note: Note) -> ValueScale:
    """Return the scale of the recipe or of the training pairs, and note which."""
    values = [pair.value for pair in pairs if pair.value is not None]
    low, high = data.scale or (min(values), max(values))
    if low == high:
        raise InputError(f"all values are {low:g}: there is nothing to learn", path=data.train_name)
    for pair in pairs:
        if pair.value is not None and not low <= pair.value <= high:
            raise InputError(
                f"the value {pair.value:g} lies outside data.scale, {low:g} to {high:g}",
                path=pair.path,
                line=pair.line,
                fix="Correct the value, or widen data.scale",
            )
    reason = "as set in data.scale" if data.scale else "the lowest and highest value of the training pairs"
    note(f"scale: {low:g} to {high:g}, {reason}")
    return ValueScale(low, high)


def _fifths(pairs: Sequence[LabelledPair], scale: ValueScale) -> Counter[str]:
    width = (scale.high - scale.low) / 5
    names = [f"{scale.low + k * width:g}–{scale.low + (k + 1) * width:g}" for k in range(5)]
    shares = (scale.share(pair.value) for pair in pairs if pair.value is not None)
    return Counter(names[min(4, max(0, int(5 * share)))] for share in shares)  # kept pairs may be outside


def _count_labels(pairs: Sequence[LabelledPair]) -> Counter[str]:
    return Counter(label for pair in pairs for label in pair.labels)


def _checked_labels(
    data: PairDataConfig, columns: PairColumns, pairs: Sequence[LabelledPair], kept: Collection[str]
) -> Counter[str]:
    """Return how many pairs have each label, if there are labels to tell apart, ``kept`` ones among them."""
    labels = _count_labels(pairs)
    fraction = _fraction(labels)
    if fraction is not None and data.label_column is None:
        raise InputError(
            f"the labels in the column {columns.label} are numbers, such as {fraction}",
            path=data.train_name,
            fix=f"To predict a value on their scale: --set data.value_column={columns.label}. To make each "
            f"number a class: --set data.label_column={columns.label}",
        )
    some = ", ".join(label for label, _ in labels.most_common(3))
    if not 2 <= len({*labels, *kept}) <= MOST_LABELS:
        raise InputError(
            f"expected 2 to {MOST_LABELS:,} different labels, got {len(labels):,}, such as {some}",
            path=data.train_name,
            fix="Name the label's column: --set data.label_column=NAME",
        )
    return labels


def _fraction(labels: Iterable[str]) -> str | None:
    """Return a label that is not a whole number, if all labels are numbers."""
    try:
        numbers = {label: float(label) for label in labels}
    except ValueError:
        return None
    return next((label for label, number in numbers.items() if number % 1), None)
