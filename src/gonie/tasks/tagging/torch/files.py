"""The files of a tagger's recipe: their formats, tag schemes and sentences."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

from gonie.errors import InputError, RecipeError
from gonie.formats.detect import is_table
from gonie.formats.format import ReadOptions, WordUnit
from gonie.formats.spans import SAMPLE
from gonie.formats.table import FORMATS
from gonie.formats.tagged import Survey, TaggedSource, survey
from gonie.system.files import lines, refuse_stream
from gonie.tasks.data_warnings import note_dropped_types, warn_not_held_out, warning_without_hangul
from gonie.tasks.external import RecipeVectors
from gonie.tasks.paths import locate
from gonie.tasks.sections import SPLITS
from gonie.tasks.tagging.recipe import TagDataConfig, TagRecipe
from gonie.tasks.tagging.torch.shots import rarest_types, sample_sentences
from gonie.tasks.tagging.torch.streams import Chained, HoldOut, Selected, TagStream, WithWords
from gonie.tasks.torch.sizes import sized_rows
from gonie.tasks.torch.word_data import Note, build_tokenizer, tell
from gonie.text import schemes
from gonie.text.fold import fold_text
from gonie.text.label_map import LabelMap, meant_label, unmatched_rules
from gonie.text.report import count
from gonie.text.schemes import Scheme, type_names
from gonie.text.tokenizers import Tokenizer
from gonie.text.tokenizers.backoff import forms_to_cut
from gonie.text.types import Sentence
from gonie.text.units import guess_unit, is_korean

HELD_OUT = Scheme(kind="BIOES")
"""The tag scheme of held-out sentences that models of several schemes are scored on."""

MOST_HELD_OUT = 0.5
"""A larger share held out, rather than a small file, is why no sentence is left to train on."""


class TagFile(NamedTuple):
    """A training file with its survey. ``domain`` is its name in the recipe, empty for a single file."""

    domain: str
    source: TaggedSource
    found: Survey


class TagFiles:
    """Reads the files of a recipe.

    Those of dev and test are in the format and tag scheme of the training file of the same domain, or of the
    first one.
    """

    def __init__(self, recipe: TagRecipe, section: str = "data") -> None:
        data = recipe.data
        self._recipe = recipe
        self._data = data
        self._section = section
        self.splitter = build_tokenizer(data)
        self.labels = LabelMap(data.map)
        self._vectors = RecipeVectors(recipe)
        self._train = [self._survey(name, path) for name, path in data.files("train").items()]
        self.found = self._train[0].found
        _check_types(data, self._train, section)
        self.warnings = [
            (each.source.report.path, warning)
            for each in self._train
            if (warning := _check_language(data, each.source, each.found.scheme))
        ]
        spans = self.found.scheme.has_spans
        self._rows: list[int] | None = None  # of the sample, once it is drawn
        self._drawn: list[str] = []  # notes about it
        _check_alike(self._train)
        self.target = Scheme(kind=data.model_scheme) if spans else self.found.scheme
        if data.backoff and self.splitter.unit == "morpheme":
            self.splitter = build_tokenizer(data, self._forms_to_cut())
            self._train = [each._replace(source=self.source(each.source.path)) for each in self._train]

    def _survey(self, domain: str, path: str) -> TagFile:
        source = self.source(locate(path))
        return TagFile(domain, source, _with_bare_types(self._data, survey(source)))

    def doubts(self) -> Iterator[str]:
        """Yield a message for each rule of ``data.map``, and each of ``types``, whose label no file has.

        Files that are not trained on are read only if there is any doubt.
        """
        names = {name for each in self._train for name in type_names(each.found.labels, each.found.scheme)}
        if any(_unknown_names(self._data, names, self._section)):
            yield from _unknown_names(self._data, names | set(self._further_names()), self._section)

    def _further_names(self) -> Iterator[str]:
        """Yield the types of files that are not trained on: dev, test, and domains left out.

        Those of a pipe are not known, because it can be read only once.
        """
        for split in SPLITS:
            for path in map(locate, self._data.named_files(split).values()):
                if path.is_file():
                    found = survey(self.source(path))
                    yield from type_names(found.labels, found.scheme)

    def _forms_to_cut(self) -> list[str]:
        """Return the words inside which entities of the training sentences begin or end."""
        stream = self.everything()
        trained = stream if self._data.files("dev") else self._held_out(stream, inside=False)
        forms = forms_to_cut(self._sized(trained, _silent))
        return sorted(set(map(fold_text, forms))) if self._data.fold_text else forms  # as Kiwi sees them

    @property
    def domains(self) -> list[str]:
        """The names of the training files, if they have names."""
        return [each.domain for each in self._train if each.domain]

    def source(self, path: str | PathLike[str]) -> TaggedSource:
        """Return the reader of a file in the format of the recipe."""
        return TaggedSource(path, read_options(self._data, self.splitter))

    def train_streams(self) -> list[TagStream]:
        """Return a stream of each training file."""
        return [self._stream(each.source, each.found.scheme, each.domain) for each in self._train]

    def everything(self) -> Iterable[Sentence]:
        """Return the sentences of all training files."""
        return Chained(*self.train_streams())

    def train_and_dev(
        self, everything: Iterable[Sentence], note: Note
    ) -> tuple[Iterable[Sentence], list[Sentence]]:
        """Return the training and dev sentences. ``everything`` are those of all training files.

        Without a dev file, some are held out. With ``train.shots`` or ``data.size``, few are sampled.
        """
        if self._recipe.train.shots:
            few = sample_sentences(WithWords(everything), self.target, self._recipe, note)
            return few, self.read("dev", note) if self._data.files("dev") else few
        if self._data.files("dev"):
            return self._sized(everything, note), self.read("dev", note)
        train, dev = self._hold_out(everything, note)
        if self._data.size is not None and train is everything:
            dev = list(self._sized(everything, note))
            return dev, dev
        return self._sized(train, note), dev

    def training_part(self) -> Iterable[Sentence]:
        """Return the training sentences, as ``train_and_dev`` does, without reading a dev file."""
        everything = self.everything()
        if self._recipe.train.shots:
            return sample_sentences(WithWords(everything), self.target, self._recipe, _silent)
        train = everything if self._data.files("dev") else self._hold_out(everything, _silent)[0]
        return self._sized(train, _silent)

    def _sized(self, stream: Iterable[Sentence], note: Note) -> Iterable[Sentence]:
        """Return a sample of ``data.size`` training sentences, or all. It is drawn once."""
        if self._data.size is None:
            return stream
        with_words = WithWords(stream)
        if self._rows is None:
            strata = rarest_types(with_words, self.target)
            self._rows = sized_rows(strata, self._recipe, "sentences", self._drawn.append)
        for text in self._drawn:
            note(text)
        return Selected(with_words, self._rows)

    def _hold_out(self, stream: Iterable[Sentence], note: Note) -> tuple[Iterable[Sentence], list[Sentence]]:
        share = self._data.holdout
        train, dev = self._held_out(stream, inside=False), list(self._held_out(stream, inside=True))
        rest = next(iter(train), None)
        if rest is None and share > MOST_HELD_OUT:
            name = self._data.train_name
            raise RecipeError(
                [f"data.holdout: {share} leaves no sentence of {name} to train on; set a smaller share"]
            )
        if not dev or rest is None:
            warn_not_held_out("sentence", share, "too few sentences to hold out", note)
            return stream, list(stream)
        note(
            f"no dev file: held out {count(len(dev), 'sentence')} of {self._data.train_name} "
            f"(data.holdout = {share})"
        )
        return train, dev

    def _held_out(self, stream: Iterable[Sentence], *, inside: bool) -> HoldOut:
        """Return the held-out sentences of a stream, or all others."""
        return HoldOut(stream, share=self._data.holdout, seed=self._recipe.train.seed, held_out=inside)

    def tell_train(self, streams: Sequence[TagStream], note: Note) -> None:
        """Note what was found in each training file, when ``streams`` were read."""
        for file, stream in zip(self._train, streams, strict=True):
            checked, survey = stream.source.report, file.found.report
            chosen = dataclasses.replace(checked, choices=survey.choices | checked.choices)
            tell(str(survey.path), chosen, note)
            if not stream.has_labels:
                note(f"warning: {survey.path} has no entities: every token has the tag O")
        note_dropped_types(f"{self._section}.types", sum((each.dropped for each in streams), Counter()), note)

    def read(self, split: Literal["dev", "test"], note: Note) -> list[Sentence]:
        """Return the sentences of all files of a split."""
        schemes_of = {each.domain: each.found.scheme for each in self._train}
        sentences: list[Sentence] = []
        for domain, path in self._data.files(split).items():
            scheme = schemes_of.get(domain, self.found.scheme)
            sentences += _read(path, self._stream(self.source(locate(path)), scheme, domain), note)
        return sentences

    def _stream(self, source: TaggedSource, scheme: Scheme, domain: str) -> TagStream:
        return TagStream(
            source.with_scheme(scheme, self._data.repair),
            scheme=scheme,
            target=self.target,
            labels=self.labels,
            types=self._data.types,
            keep=self.splitter.unit == "morpheme" and self._data.cache is None,
            domain=domain,
            section=self._section,
            vectors=self._vectors.of(Path(source.path)),
        )


def training_sentences(recipe: TagRecipe) -> Iterator[Sentence]:
    """Yield the sentences of the training files, with their tags as they are."""
    data = recipe.data
    splitter = build_tokenizer(data)
    for path in map(locate, data.files("train").values()):
        refuse_stream(path)  # training reads the file again
        yield from TaggedSource(path, read_options(data, splitter)).with_options(unit=None)


def read_model_tags(recipe: TagRecipe, scheme: Scheme) -> Iterator[tuple[str, ...]]:
    """Yield the tags of the training sentences of ``recipe``, which are those of its model, in ``scheme``."""
    files = TagFiles(recipe)
    for sentence in files.everything() if recipe.data.size is None else files.training_part():
        yield tuple(schemes.convert(sentence.tags or (), files.target, scheme))


def read_tag_train(recipe: TagRecipe, scheme: Scheme) -> list[Sentence]:
    """Read the sentences that a model of ``recipe`` was trained on, with tags in ``scheme``."""
    files = TagFiles(recipe)
    return [_converted(sentence, files.target, scheme) for sentence in WithWords(files.training_part())]


def read_tag_dev(recipe: TagRecipe, note: Note) -> list[Sentence]:
    """Read only the dev sentences of ``recipe``."""
    files = TagFiles(recipe.model_copy(update={"data": recipe.data.model_copy(update={"size": None})}))
    return files.train_and_dev(files.everything(), note)[1]


def read_tag_held_out(recipe: TagRecipe) -> list[Sentence]:
    """Read the test sentences of ``recipe``, or its dev sentences, with entities in ``HELD_OUT``.

    The format of a test file is that of the training file. If that is gone, it is detected again.
    """
    data = recipe.data
    if data.files("test") and not all(locate(path).is_file() for path in data.files("train").values()):
        recipe = recipe.model_copy(update={"data": data.model_copy(update={"train": data.test})})
    files = TagFiles(recipe)
    sentences = files.read("test", _silent) or files.train_and_dev(files.everything(), _silent)[1]
    if not files.target.has_spans:
        return sentences
    return [_converted(sentence, files.target, HELD_OUT) for sentence in sentences]


def _silent(text: str) -> None:
    """Ignore a note."""


def read_untagged(data: TagDataConfig, splitter: Tokenizer, name: str, note: Note) -> list[Sentence]:
    """Read the sentences of a file without their tags. ``note`` receives what was found.

    The file has tagged sentences in a known format, or one text per line.
    """
    path = locate(name)
    if is_table(path, FORMATS):
        options = dataclasses.replace(read_options(data, splitter), format="auto", scheme="auto")
        source = TaggedSource(path, options)
        sentences = [dataclasses.replace(sentence, tags=None) for sentence in source if sentence.words]
        tell(name, source.report, note)
        return sentences
    sentences = [sentence for _, line in lines(path) for sentence in splitter(line) if sentence.words]
    note(f"{name}: {count(len(sentences), 'sentence')} of plain text")
    return sentences


def _converted(sentence: Sentence, source: Scheme, target: Scheme) -> Sentence:
    return dataclasses.replace(sentence, tags=tuple(schemes.convert(sentence.tags or (), source, target)))


def _check_language(data: TagDataConfig, source: TaggedSource, scheme: Scheme) -> str | None:
    """Refuse Korean texts in an English recipe: ``gonie tag`` would cut them into English words.

    Words without a text may be tagged as they are (``--input tokens`` or ``conll``). For them, return a
    warning, and also for words that are not Korean in a Korean recipe.
    """
    first = list(islice(source.with_options(scheme="auto"), SAMPLE))
    words = [word for sentence in first for word in sentence.words]
    if data.language != "en" or not is_korean(words):
        return warning_without_hangul(words, data.language)
    single = [name for name in (data.train, data.dev, data.dev and data.test) if isinstance(name, str)]
    command = shlex.join(["gonie", "train", "ner-ko" if scheme.has_spans else "pos-ko", *single])
    if any(sentence.text is not None for sentence in first):
        raise InputError(
            "most letters of the texts are Hangul, but data.language is en",
            path=source.report.path,
            fix=f"Use a Korean recipe: {command}. "
            f"For another model, use {_korean_settings('syllable' if scheme.has_spans else 'eojeol')}",
        )
    unit, _ = guess_unit(words)
    return (
        "warning: most letters of the words are Hangul, but data.language is en: gonie tag will cut raw text "
        f"into English words, not into the words of the file. Use {_korean_settings(unit or 'eojeol')}, "
        f"or a Korean recipe: {command}"
    )


def _korean_settings(unit: str) -> str:
    return f"--set data.language=ko --set data.unit={unit}"


def _with_bare_types(data: TagDataConfig, found: Survey) -> Survey:
    """Return the survey of a file. Bare labels in ``data.types`` are read as entities (IO).

    O may be too rare to detect the scheme.
    """
    bare = data.scheme == "auto" and not found.scheme.has_spans
    if bare and set(data.types) & set(found.labels):
        found.report.choose("scheme", str(schemes.IO), "bare labels, as data.types names them")
        return dataclasses.replace(found, scheme=schemes.IO)
    return found


def _check_types(data: TagDataConfig, files: Sequence[TagFile], section: str) -> None:
    """Refuse training files that have none of ``types`` of the section."""
    parts = [
        each.found.scheme.split(tag)
        for each in files
        if each.found.scheme.has_spans
        for tag in each.found.labels
    ]
    known = sorted({data.map.get(part[1], part[1]) for part in parts if part is not None and part[1]})
    if data.types and not set(known) & set(data.types):
        scheme = files[0].found.scheme
        other = "only O" if scheme.has_spans else f"{scheme}, without types"
        has = ", ".join(known) or other
        raise RecipeError(
            [f"{section}.types: {data.train_name} has none of {', '.join(data.types)}; it has {has}"]
        )


def _unknown_names(data: TagDataConfig, names: Collection[str], section: str) -> Iterator[str]:
    """Yield a message for each rule of ``data.map``, and each of ``types``, whose label no file has."""
    yield from unmatched_rules(data.map, names, f"{section}.map")
    known = {data.map.get(name, name) for name in names}
    others = known - set(data.types) or known
    for name in data.types:
        if name not in known:
            yield (
                f"warning: {section}.types has {name}, which is no label of these files. "
                f"{meant_label(name, others)}"
            )


def _check_alike(files: Sequence[TagFile]) -> None:
    """Refuse training files of which some have entities and others plain tags."""
    first = files[0]
    for other in files[1:]:
        if other.found.scheme.has_spans != first.found.scheme.has_spans:
            raise InputError(
                f"the tags are {other.found.scheme}, but those of {first.domain} are {first.found.scheme}",
                path=other.source.report.path,
                fix="Train on files of the same kind of tags",
            )


def _read(name: str, stream: TagStream, note: Note) -> list[Sentence]:
    sentences = list(stream)
    tell(name, stream.source.report, note)
    return sentences


def read_options(data: TagDataConfig, splitter: Tokenizer) -> ReadOptions:
    """Return the reading options of the recipe."""
    return ReadOptions(
        format=data.format,
        separator=data.separator,
        word_column=data.word_column,
        tag_column=data.tag_column,
        tag_names=tuple(data.tag_names),
        columns=data.columns,
        tokenizer=splitter,
        unit=WordUnit.of(splitter),
        scheme=data.scheme,
    )
