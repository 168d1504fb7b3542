"""The models that are trained, and their small data files.

Every file is an extract of the corpora that ship with gonie, so nothing is downloaded. A case is a command
line: a shipped recipe, made small by ``--set``. ``$data`` stands for the folder of the files, and
``$pretrained`` for the folder of the shipped language models.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from string import Template

VECTOR_WIDTH = 24
STEPS = 50


@dataclass(frozen=True)
class Case:
    """A model to train: the command with its recipe, and the changes to the recipe."""

    name: str
    command: tuple[str, ...]
    settings: tuple[str, ...]
    covers: str

    def arguments(self, places: Mapping[str, Path]) -> list[str]:
        """Return the arguments of ``gonie``, with the folders for ``$data`` and ``$pretrained``."""
        changes = [part for setting in (*COMMON, *self.settings) for part in ("--set", setting)]
        return [Template(part).substitute(places) for part in (*self.command, *changes)]

    def stepwise(self) -> Case:
        """Return the case with one batch per epoch, so that ``metrics.jsonl`` has the loss of every step."""
        one_batch = PRETRAIN_STEPS if self.command[0] == "pretrain" else TRAIN_STEPS
        return replace(self, name=f"{self.name}-steps", settings=(*self.settings, *one_batch))


@dataclass(frozen=True)
class Sizes:
    """The number of sentences or texts of a corpus that are used."""

    train: int
    dev: int
    running: int  # sentences of running text


FULL = Sizes(train=240, dev=60, running=1200)
FEW = Sizes(train=16, dev=8, running=16)
"""One batch, for ``Case.stepwise``."""

COMMON = ("train.seed=7", "train.device=cpu", "train.threads=1", "train.epochs=3")
TRAIN_STEPS = (
    f"train.epochs={STEPS}",
    f"train.patience={STEPS}",
    "train.batch_sentences=1000",
    "train.batch_tokens=1000000",
)
PRETRAIN_STEPS = (f"train.epochs={STEPS}", "train.rows=8", "train.steps=24")


def _files(corpus: str, suffix: str) -> tuple[str, ...]:
    return tuple(f"data.{split}=$data/{corpus}/{split}.{suffix}" for split in ("train", "dev", "test"))


ENGLISH, POS, KOREAN = _files("english", "conll"), _files("english-pos", "conll"), _files("korean", "klue")
SMALL = ("model.words.width=24", "model.encoder.hidden=32", "train.lr=0.01")
CHARS = ("model.chars.width=12", "model.chars.hidden=16")
TAGGER = (*SMALL, *CHARS)
ELMO = ("model.elmo.bilm=$pretrained/en", "data.train=$data/english/short.conll", *ENGLISH[1:], *TAGGER)
NER, CLASSIFY = ("train", "ner"), ("train", "subjectivity")

CASES = (
    Case(
        "ner",
        NER,
        (*ENGLISH, *TAGGER, "data.vectors=$data/vectors.txt", "train.lr=0.02", "train.epochs=6"),
        "BiLSTM-CRF, variational dropout, averaged weights, pretrained word vectors",
    ),
    Case("pos", ("train", "pos"), (*POS, *TAGGER), "plain tags, all word vectors trained"),
    Case("crf", ("train", "crf"), ENGLISH, "direct features without a network"),
    Case(
        "window-person",
        ("train", "window-person"),
        (*ENGLISH, "model.words.width=24", "model.encoder.hidden=32", "train.lr=0.02"),
        "updates after every window, baselines, a variant",
    ),
    Case(
        "subjectivity",
        CLASSIFY,
        (*_files("subjectivity", "tsv"), *SMALL, *CHARS, "data.vectors=$data/vectors.txt"),
        "two labels, attention and maximum, n-grams of words",
    ),
    Case(
        "reviews-han",
        ("train", "reviews-han"),
        (
            *_files("reviews", "tsv"),
            "data.sentences=mark",
            *SMALL,
            "model.pooling.hidden=16",
            "model.sentences.encoder.hidden=16",
            "model.sentences.pooling.hidden=16",
        ),
        "hierarchical attention",
    ),
    Case(
        "relations",
        ("train", "relations"),
        (
            *_files("relations", "tsv"),
            'data.marks=["e1", "e2"]',
            *SMALL,
            "train.batch_sentences=8",
            "train.epochs=8",
        ),
        "marked texts, many labels",
    ),
    Case(
        "elmo-small",
        ("pretrain", "elmo-small", "--text", "$data/running.txt"),
        (
            "data.vocabulary=1500",
            "data.holdout=0.05",
            "model.width=24",
            "model.hidden=48",
            "model.filters=[[1, 8], [2, 8], [3, 16], [5, 16]]",
            "model.softmax.exact=500",
            "model.softmax.sampled=200",
            "train.rows=32",
            "train.warmup=10",
            "train.average=0.9",
        ),
        "pretraining with a sampled softmax",
    ),
    Case("elmo-tagger", NER, ELMO, "frozen contextual embeddings"),
    Case(
        "elmo-tuned",
        NER,
        (*ELMO, "model.elmo.tuned=true", "model.elmo.at=both", "model.elmo.normalize=true", "train.epochs=2"),
        "fine-tuned contextual embeddings at both ends, with their penalty",
    ),
    Case(
        "ner-ko", ("train", "ner-ko"), (*KOREAN, 'data.unit="syllable"', *TAGGER), "syllables, jamo, context"
    ),
    Case(
        "gazetteer",
        NER,
        (
            *ENGLISH,
            *TAGGER,
            'data.gazetteers={person="$data/PER.txt", place="$data/LOC.txt"}',
            'model.features.groups=["gazetteer", "spelling"]',
            "model.features.width=8",
            "model.chars.kind=lstm",
            "model.encoder.layers=2",
            "model.dropout.recurrent=0.2",
        ),
        "gazetteers, character LSTM, two layers, recurrent dropout",
    ),
    Case(
        "partial",
        NER,
        (
            *ENGLISH,
            *TAGGER,
            "data.partial=$data/partial.conll",
            # partial labels under constraints have another objective
            "model.head.constrained=false",
            "model.head.constrain_training=false",
        ),
        "partially known tags",
    ),
    Case(
        "constrained",
        ("train", "bilstm-crf"),
        (
            *ENGLISH,
            "data.model_scheme=IOB2",
            *SMALL,
            "train.lr=0.1",
            "model.head.constrain_training=true",
            'model.head.forbidden=["B-PER -> B-PER"]',
        ),
        "constrained training, peepholes, direct features",
    ),
    Case(
        "weights",
        ("train", "chunk"),
        (
            *ENGLISH,
            "data.columns=none",
            *TAGGER,
            "model.head.weights={LOC=3.0, O=0.5}",
            "train.score_train=40",
        ),
        "class weights in a CRF, scores on training sentences",
    ),
    Case(
        "softmax",
        ("train", "rnn"),
        (
            *ENGLISH,
            *SMALL,
            "train.lr=0.1",
            "model.head.weights={ORG=2.0}",
            "model.dropout.kind=plain",
            "model.dropout.output=0.2",
        ),
        "softmax with class weights, simple recurrent layer, plain dropout",
    ),
    Case(
        "intents",
        ("train", "intents"),
        (*_files("intents", "tsv"), *TAGGER, "model.head.weights=balanced"),
        "balanced class weights, smoothing, n-grams of characters",
    ),
    Case(
        "multi-label",
        ("train", "intents"),
        (
            *_files("multi-label", "tsv"),
            "data.label_separator=|",
            *TAGGER,
            "model.encoder.kind=cnn",
            "model.encoder.layers=1",
            'model.pooling.kinds=["dot", "mean", "last"]',
            "model.pooling.norm=layer",
            "model.head.smoothing=0",
        ),
        "several labels, convolution, other poolings",
    ),
    Case(
        "sentiment-nsmc",
        ("train", "sentiment-nsmc"),
        (*_files("nsmc", "tsv"), *TAGGER, "model.features.width=8", "train.batch_sentences=32"),
        "Korean morphemes",
    ),
)
"""The first nine must stay the same with every change. The others cover the remaining features."""


def make_data(corpora: Path, folder: Path, sizes: Sizes) -> None:
    """Write the files of every case to ``folder``, as reproducible extracts of ``corpora``."""
    for corpus in ("english", "english-pos", "korean"):
        (source,) = corpora.glob(f"{corpus}/train.*")
        for split, size in _splits(sizes):
            blocks = _blocks(source.with_stem(split))
            _write(folder / corpus / f"{split}{source.suffix}", _spread(blocks, size), between="\n\n")
    for corpus in ("subjectivity", "reviews", "relations", "intents", "nsmc"):
        for split, size in _splits(sizes):
            header, *rows = _lines(corpora / corpus / f"{split}.tsv")
            wanted = size // 4 if corpus == "reviews" else size  # a review has 30 sentences
            _write(folder / corpus / f"{split}.tsv", [header, *_spread(rows, wanted)])
    for split, size in _splits(sizes):
        _write(folder / "multi-label" / f"{split}.tsv", _pairs(corpora / "intents" / f"{split}.tsv", size))
    _make_extras(corpora, folder, sizes)


def _make_extras(corpora: Path, folder: Path, sizes: Sizes) -> None:
    """Write word vectors, lists of names, sentences with partially known tags, and running text."""
    tagged = _blocks(corpora / "english" / "train.conll")
    _write(folder / "english" / "short.conll", _spread(tagged, sizes.train // 4), between="\n\n")
    _write(folder / "partial.conll", map(_forget, _spread(tagged[1:], sizes.train // 2)), between="\n\n")
    _write(folder / "vectors.txt", _vectors(tagged))
    for label in ("PER", "LOC"):
        _write(folder / f"{label}.txt", sorted(set(_names(tagged, label)))[::2])
    reviews = _lines(corpora / "reviews" / "train.tsv")[1:]
    sentences = [s for row in reviews for s in row.split("\t")[1].split(" <s> ") if len(s.split()) > 3]
    _write(folder / "running.txt", sentences[: sizes.running])


def _splits(sizes: Sizes) -> Iterator[tuple[str, int]]:
    yield from (("train", sizes.train), ("dev", sizes.dev), ("test", sizes.dev))


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").rstrip("\n").split("\n")


def _blocks(path: Path) -> list[str]:
    return path.read_text("utf-8").strip("\n").split("\n\n")


def _spread(items: Sequence[str], wanted: int) -> list[str]:
    """Return ``wanted`` items at equal distances, or all."""
    return [items[len(items) * i // wanted] for i in range(wanted)] if len(items) > wanted else list(items)


def _write(path: Path, items: Iterator[str] | Sequence[str] | map[str], *, between: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(between.join(items) + "\n", "utf-8")


def _pairs(path: Path, wanted: int) -> Iterator[str]:
    """Yield pairs of texts joined to one, with both labels. Every third text stays alone."""
    _, *rows = _lines(path)
    cells = [row.split("\t") for row in _spread(rows, wanted + 1)]
    yield "label\ttext"
    for at, ((label, text), (other, more)) in enumerate(pairwise(cells)):
        both = "|".join(dict.fromkeys([label, other]))
        yield f"{label}\t{text}" if at % 3 == 0 else f"{both}\t{text} and {more}"


def _forget(block: str) -> str:
    """Make every third tag of a sentence unknown, and let an organization be a place too."""
    rows = []
    for at, row in enumerate(block.split("\n")):
        word, tag = row.split("\t")
        known = f"{tag}|{tag[:2]}LOC" if tag.endswith("-ORG") else tag
        rows.append(f"{word}\t{'?' if at % 3 == 2 else known}")
    return "\n".join(rows)


def _vectors(blocks: Sequence[str]) -> Iterator[str]:
    """Yield random vectors for two thirds of the words, in the format of GloVe."""
    counts = Counter(row.split("\t")[0].lower() for block in blocks for row in block.split("\n"))
    chance = random.Random(1)
    for at, word in enumerate(counts):
        numbers = " ".join(f"{chance.gauss(0, 0.4):.5f}" for _ in range(VECTOR_WIDTH))
        if at % 3:
            yield f"{word} {numbers}"


def _names(blocks: Sequence[str], label: str) -> Iterator[str]:
    """Yield the entities of a type, each as space-separated words."""
    for block in blocks:
        name: list[str] = []
        for row in (*block.split("\n"), "\tO"):
            word, tag = row.split("\t")
            if name and tag != f"I-{label}":
                yield " ".join(name)
                name = []
            if tag.endswith(f"-{label}"):
                name.append(word)
