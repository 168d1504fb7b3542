"""Read the training data of a tagger: encoded sentences, word vectors, and notes about the files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError, RecipeError
from gonie.features.corpus import Corpus, FolderSink, MemorySink
from gonie.features.encoding import Encoding
from gonie.features.vectors import PretrainedVectors
from gonie.formats.detect import is_table
from gonie.formats.format import ReadOptions, WordUnit
from gonie.formats.spans import SAMPLE
from gonie.formats.table import FORMATS
from gonie.formats.tagged import Survey, TaggedSource, survey
from gonie.metrics.novelty import SeenMentions
from gonie.system.files import lines, refuse_stream
from gonie.tasks.data_warnings import (
    SENTENCES,
    SharedExamples,
    Watched,
    count_types,
    name_new_tags,
    warn_new_labels,
    warn_rare_labels,
)
from gonie.tasks.paths import locate
from gonie.tasks.tagging.heads import head_recipe
from gonie.tasks.tagging.recipe import TagDataConfig, TagRecipe
from gonie.tasks.tagging.torch.augment import augmented_sentences
from gonie.tasks.tagging.torch.noisy_copies import noisy_copies
from gonie.tasks.tagging.torch.shots import count_mentions, sample_sentences
from gonie.tasks.torch.contextual import Sources, digest_sources, load_sources, sources_key
from gonie.tasks.torch.replay import MemoryReader, annotated, replayed
from gonie.tasks.torch.start import Start, label_names
from gonie.tasks.torch.word_data import (
    Note,
    build_extractors,
    build_tokenizer,
    fit_encoding,
    pretrained_table,
    sampled,
    tell,
    vectors_of,
)
from gonie.text import schemes
from gonie.text.domains import in_domain
from gonie.text.fold import fold_text
from gonie.text.label_map import LabelMap
from gonie.text.partial_tags import OpenOutside, PartialStream, TagSets
from gonie.text.report import count
from gonie.text.rules import Allowed, allowed, cut_ends, first_violation
from gonie.text.schemes import Scheme
from gonie.text.tokenizers import Tokenizer
from gonie.text.tokenizers.backoff import forms_to_cut
from gonie.text.types import Sentence
from gonie.text.units import guess_unit, is_korean

MOST_TAGS = 4000
"""Maximum number of tags. More are usually words or line numbers, read as tags by mistake."""

HELD_OUT = Scheme(kind="BIOES")
"""The tag scheme of held-out sentences that models of several schemes are scored on."""


@dataclass(frozen=True)
class TagData:
    """The training data, which training does not change."""

    encoding: Encoding
    tokenizer: Tokenizer
    train: Corpus
    dev: list[Sentence]
    test: list[Sentence] | None
    pretrained: PretrainedVectors | None
    """A vector for every word, if the recipe has pretrained vectors."""
    seen: SeenMentions
    labels: Counter[str]
    sources: Sources = field(default_factory=dict)
    """The contextual sources of the recipe."""
    start: Start | None = None
    """The model that the recipe starts from."""
    given_scheme: Scheme | None = None
    """The tag scheme of the training file."""
    options: NDArray[np.bool_] | None = None
    """(S, K): the tags that each tag id in ``train`` stands for, if there are partial tags or open O."""
    types: frozenset[str] = frozenset()
    """The types that the training files are annotated for."""
    sentences: Iterable[Sentence] = ()
    """The fully tagged training sentences, which can be iterated several times."""
    dev_is_held_out: bool = True
    """Whether the dev sentences are others than those of training."""
    sample: tuple[Sentence, ...] = ()
    """Training sentences to score after each epoch (``train.score_train``)."""
    heads: Mapping[str, TagData] = field(default_factory=dict)
    """The data of auxiliary heads, by name, with the same vocabularies and other labels."""

    def fingerprint(self, recipe: TagRecipe) -> str:
        """Return a digest of the recipe and its data. A resumed run must have the same."""
        digest = hashlib.sha256(recipe.model_dump_json().encode())
        digest.update(json.dumps(self.encoding.to_json()).encode())
        for sentence in self.dev:  # selects the best epoch, and when to stop
            read = [sentence.words, sentence.tags, dict(sentence.columns)]
            others = [sentence.unreachable] if sentence.unreachable else []
            digest.update(json.dumps([*read, *others]).encode())
        arrays = [self.train.arrays[name] for name in sorted(self.train.arrays)]
        for array in [*arrays, *([self.pretrained.matrix] if self.pretrained else [])]:
            digest.update(np.ascontiguousarray(array).data)
        digest.update(digest_sources(self.sources))
        digest.update(self.start.digest.encode() if self.start else b"")
        for name, head in self.heads.items():
            digest.update(head.fingerprint(head_recipe(recipe, name)).encode())
        return digest.hexdigest()


class TagStream:
    """The sentences of one file with tags in the model's scheme, which can be iterated several times.

    Labels are renamed first. If ``types`` is not empty, entities of other types become O. With ``keep``, the
    sentences of the first pass are kept in memory, for words that are slow to find. ``domain`` is that of the
    file, if it has a name. ``section`` is the section of the recipe that names the file.
    """

    def __init__(
        self,
        source: TaggedSource,
        *,
        scheme: Scheme,
        target: Scheme,
        labels: LabelMap,
        types: Collection[str] = (),
        keep: bool = False,
        domain: str = "",
        section: str = "data",
    ) -> None:
        self.source = source
        self._section = section
        self._domain = domain
        self._keep = keep
        self._kept: list[Sentence] | None = None
        self._scheme = scheme
        self._target = target
        self._labels = labels
        self._types = types

    def __iter__(self) -> Iterator[Sentence]:
        if not self._keep:
            return self._read()
        if self._kept is None:
            self._kept = list(self._read())
        return iter(self._kept)

    def _read(self) -> Iterator[Sentence]:
        for plain in self.source:
            sentence = in_domain(plain, self._domain)
            if sentence.tags is None:
                raise InputError(
                    "sentence without tags",
                    path=sentence.path,
                    line=sentence.line,
                    fix=f"Set the tag column: --set {self._section}.tag_column=N",
                )
            if self._scheme == self._target and not self._types and not self._labels:
                yield sentence
                continue
            tags: Sequence[str] = sentence.tags
            if self._labels:
                tags = self._labels.rename(tags, self._scheme)
            tags = schemes.convert(tags, self._scheme, self._target)
            others = self._labels.rename_spans(sentence.unreachable)
            if self._types:
                tags = schemes.keep_types(tags, self._target, self._types)
                others = tuple(span for span in others if span[2] in self._types)
            yield dataclasses.replace(sentence, tags=tuple(tags), unreachable=others)


class Chained:
    """Several streams, one after the other."""

    def __init__(self, *streams: Iterable[Sentence]) -> None:
        self._streams = streams

    def __iter__(self) -> Iterator[Sentence]:
        return chain.from_iterable(self._streams)


class WithWords:
    """The sentences of a stream that have words. Others have only gold spans, which count as missed."""

    def __init__(self, stream: Iterable[Sentence]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Sentence]:
        return (sentence for sentence in self._stream if sentence.words)


class Untagged:
    """The sentences of a stream without tags."""

    def __init__(self, stream: Iterable[Sentence]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Sentence]:
        return (dataclasses.replace(sentence, tags=None) for sentence in self._stream)


class HoldOut:
    """One side of a reproducible random split of a stream: the held-out sentences, or all others."""

    def __init__(self, stream: Iterable[Sentence], *, share: float, seed: int, held_out: bool) -> None:
        self._stream = stream
        self._share = share
        self._seed = seed
        self._held_out = held_out

    def __iter__(self) -> Iterator[Sentence]:
        generator = np.random.default_rng([self._seed, 1])
        return (s for s in self._stream if (generator.random() < self._share) == self._held_out)


class _TagFile(NamedTuple):
    """A training file with its survey. ``domain`` is its name in the recipe, empty for a single file."""

    domain: str
    source: TaggedSource
    found: Survey


class _Files:
    """Reads the files of a recipe.

    Those of dev and test are in the format and tag scheme of the training file of the same domain, or of the
    first one.
    """

    def __init__(self, recipe: TagRecipe, section: str = "data") -> None:
        data = recipe.data
        self._data = data
        self._section = section
        self.splitter = build_tokenizer(data)
        self.labels = LabelMap(data.map)
        self._train = [self._survey(name, path) for name, path in data.files("train").items()]
        self.found = self._train[0].found
        _check_types(data, self._train, section)
        self.warnings = [
            (each.source.report.path, warning)
            for each in self._train
            if (warning := _check_language(data, each.source, each.found.scheme))
        ]
        spans = self.found.scheme.has_spans
        _check_alike(self._train)
        self.target = Scheme(kind=data.model_scheme) if spans else self.found.scheme
        if data.backoff and self.splitter.unit == "morpheme":
            self.splitter = build_tokenizer(data, self._forms_to_cut(recipe))
            self._train = [each._replace(source=self.source(each.source.path)) for each in self._train]

    def _survey(self, domain: str, path: str) -> _TagFile:
        source = self.source(locate(path))
        return _TagFile(domain, source, _with_bare_types(self._data, survey(source)))

    def _forms_to_cut(self, recipe: TagRecipe) -> list[str]:
        """Return the words inside which entities of the training sentences begin or end."""
        stream, seed = Chained(*self.train_streams()), recipe.train.seed
        held = HoldOut(stream, share=recipe.data.holdout, seed=seed, held_out=False)
        forms = forms_to_cut(stream if recipe.data.files("dev") else held)
        return sorted(set(map(fold_text, forms))) if recipe.data.fold_text else forms  # as Kiwi sees them

    @property
    def domains(self) -> list[str]:
        """The names of the training files, if they have names."""
        return [each.domain for each in self._train if each.domain]

    def source(self, path: str | PathLike[str]) -> TaggedSource:
        return TaggedSource(path, read_options(self._data, self.splitter))

    def train_streams(self) -> list[TagStream]:
        """Return a stream of each training file."""
        return [self._stream(each.source, each.found.scheme, each.domain) for each in self._train]

    def tell_train(self, streams: Sequence[TagStream], note: Note) -> None:
        """Note what was found in each training file, when ``streams`` were read."""
        for file, stream in zip(self._train, streams, strict=True):
            checked, survey = stream.source.report, file.found.report
            chosen = dataclasses.replace(checked, choices=survey.choices | checked.choices)
            tell(str(survey.path), chosen, note)

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
        )


def _check_language(data: TagDataConfig, source: TaggedSource, scheme: Scheme) -> str | None:
    """Refuse Korean texts in an English recipe: ``gonie tag`` would cut them into English words.

    Words without a text may be tagged as they are (``--input tokens`` or ``conll``). For them, return a
    warning.
    """
    if data.language != "en":
        return None
    first = list(islice(source.with_options(scheme="auto"), SAMPLE))
    words = [word for sentence in first for word in sentence.words]
    if not is_korean(words):
        return None
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


@dataclass(frozen=True, kw_only=True)
class _TaskFiles:
    """The sentences of one head, before they are encoded. ``section`` is its section of the recipe."""

    recipe: TagRecipe
    section: str
    files: _Files
    streams: list[TagStream]
    train: Iterable[Sentence]
    dev: list[Sentence]
    test: list[Sentence] | None
    dev_is_train: bool
    part: TaggedSource | None
    held: dict[str, list[Sentence]]
    """The sentences that are not trained on, by split."""
    shared: SharedExamples[Sentence]

    def texts(self) -> Iterable[Sentence]:
        """Return the sentences that vocabularies are fitted to."""
        watched = Watched(self.train, self.shared)
        return watched if self.part is None else Chained(watched, Untagged(self.part))


def read_tag_data(recipe: TagRecipe, note: Note, start: Start | None = None) -> TagData:
    """Read and encode the data of the recipe and of its auxiliary heads. ``note`` receives what was found.

    The vocabularies are those of all training files together. ``start`` is the model that the recipe starts
    from, if any.
    """
    main = _open_files(recipe, "data", note)
    others = {name: _open_head(recipe, name, note) for name in recipe.heads}
    vectors = vectors_of(recipe.data, start)
    sources = load_sources(recipe, note)
    encoding, labels = fit_encoding(
        recipe,
        Chained(main.texts(), *(Untagged(other.texts()) for other in others.values())),
        main.files.target,
        vectors,
        build_extractors(recipe),
        sources=sources,
        start=start,
    )
    data = dataclasses.replace(
        _encode(main, encoding, labels, note, start),
        pretrained=pretrained_table(vectors, encoding, recipe.train.seed, note, start),
        sources=sources,
        start=start,
    )
    return dataclasses.replace(
        data, heads={name: _encode_head(other, data, note) for name, other in others.items()}
    )


def _open_head(recipe: TagRecipe, name: str, note: Note) -> _TaskFiles:
    """Open the files of an auxiliary head, which must have the columns that context features use."""
    own, section = head_recipe(recipe, name), f"heads.{name}"
    if set(own.data.columns) != set(recipe.data.columns):
        wanted = ", ".join(recipe.data.columns) or "none"
        raise RecipeError([f"{section}.columns: the names must be those of data.columns: {wanted}"])
    return _open_files(own, section, note)


def _open_files(recipe: TagRecipe, section: str, note: Note) -> _TaskFiles:
    """Open the files of one head: detect their formats and read the dev and test sentences."""
    data = recipe.data
    files = _Files(recipe, section)
    streams = files.train_streams()
    everything = streams[0] if len(streams) == 1 else Chained(*streams)
    train, dev = _train_and_dev(recipe, files, everything, note)
    test = files.read("test", note) if data.files("test") else None
    dev_is_train = not data.files("dev") and (train is everything or train is dev)
    held = {"dev": [] if dev_is_train else dev, "test": test or []}
    return _TaskFiles(
        recipe=recipe,
        section=section,
        files=files,
        streams=streams,
        train=WithWords(train),
        dev=dev,
        test=test,
        dev_is_train=dev_is_train,
        part=None if data.partial is None else files.source(data.partial).with_scheme(schemes.PLAIN, "error"),
        held=held,
        shared=SharedExamples(SENTENCES, held),
    )


def _encode_head(files: _TaskFiles, main: TagData, note: Note) -> TagData:
    """Encode the sentences of an auxiliary head, with its labels and the vocabularies of the recipe."""
    labels = Counter(_tags(files.train))
    encoding = main.encoding.with_labels(labels, files.files.target)
    return dataclasses.replace(
        _encode(files, encoding, labels, note), pretrained=main.pretrained, sources=main.sources
    )


def _encode(
    opened: _TaskFiles, encoding: Encoding, labels: Counter[str], note: Note, start: Start | None = None
) -> TagData:
    """Encode the sentences of one head, and note what was found in its files.

    ``start`` is the model that the head starts from, whose training sentences may be replayed.
    """
    recipe, files, train, part = opened.recipe, opened.files, opened.train, opened.part
    data, found, target = recipe.data, opened.files.found, opened.files.target
    _check_some_tags(labels, target, data.train_name, opened.section)
    if len(encoding.labels) > MOST_TAGS:
        raise InputError(
            f"more than {MOST_TAGS:,} different tags: {len(encoding.labels):,}, such as "
            f"{', '.join(encoding.labels[:3])}",
            path=data.train_name,
            fix=f"Set the tag column: --set {opened.section}.tag_column=N",
        )
    for path, warning in files.warnings:
        note(f"{path}: {warning}")
    files.tell_train(opened.streams, note)
    sets = TagSets(encoding.labels)
    types = annotated(recipe, count_types(labels, target))
    kept = label_names(encoding) - types if target.has_spans else frozenset()
    if kept:
        note(
            f"{data.train_name} says nothing about the kept types {', '.join(sorted(kept))}: "
            "its O may be any of them"
        )
    memories = replayed(recipe, start, _memory_reader(target, encoding), note)
    rules = _checked_rules(recipe, train, encoding, opened=bool(kept), note=note)
    partial_stream = PartialStream(
        part or (), scheme=found.scheme, target=target, sets=sets, rules=rules, labels=files.labels
    )
    copies = noisy_copies(
        train, data.noise, scheme=target, tokenizer=files.splitter, seed=recipe.train.seed, note=note
    )
    copies += augmented_sentences(
        train, data, scheme=target, tokenizer=files.splitter, seed=recipe.train.seed, note=note
    )
    tagged: list[tuple[Iterable[Sentence], frozenset[str]]]
    tagged = [(train, types), (copies, types), (partial_stream, types)]
    tagged += [(memory.examples, memory.known) for memory in memories]
    outside = [OpenOutside(each, sets=sets, scheme=target, known=known) for each, known in tagged]
    pieces, noise, more, *old = (Pieces(each, data.max_tokens, sets=sets, rules=rules) for each in outside)
    sink = FolderSink(Path(data.cache)) if data.cache else MemorySink()
    corpus = encoding.encode(Chained(pieces, noise, more, *old), sink, sets.ids, files.domains)
    if part is not None:
        tell(str(data.partial), part.report, note)
    for name, cut in ((data.train_name, pieces.cut + noise.cut), (data.partial, more.cut)):
        if cut:
            note(f"{name}: {cut} sentences longer than {data.max_tokens} tokens were split")
    opened.shared.warn(note)
    counts = count_types(labels, target)
    warn_rare_labels(data.train_name, counts, note)
    held = opened.held.items()
    named = {name: name_new_tags(_tags(part), target, {*counts, *kept}) for name, part in held}
    warn_new_labels(named, encoding.label_ids, note)
    return TagData(
        encoding=encoding,
        tokenizer=files.splitter,
        train=corpus,
        dev=opened.dev,
        test=opened.test,
        pretrained=None,
        seen=SeenMentions.from_sentences(train, target),
        labels=labels,
        given_scheme=found.scheme,
        options=sets.table() if part is not None or any(each.changes for each in outside) else None,
        types=types,
        sentences=train,
        dev_is_held_out=not opened.dev_is_train and data.dev != data.train,
        sample=sampled(train, recipe.train.score_train),
    )


def _memory_reader(target: Scheme, encoding: Encoding) -> MemoryReader[Sentence]:
    """Return the reader of the training sentences of earlier runs, with tags in ``target``."""

    def training(recipe: TagRecipe) -> list[Sentence]:
        files = _Files(recipe, "data")
        train = WithWords(_training_part(recipe, files, Chained(*files.train_streams()), lambda text: None))
        return [_converted(sentence, files.target, target) for sentence in train]

    return MemoryReader(
        noun="sentences",
        training=training,
        mentions=lambda sentence: count_mentions(sentence.tags or (), target),
        labels=label_names(encoding),
    )


def _converted(sentence: Sentence, source: Scheme, target: Scheme) -> Sentence:
    return dataclasses.replace(sentence, tags=tuple(schemes.convert(sentence.tags or (), source, target)))


def _check_some_tags(tags: Mapping[str, int], scheme: Scheme, path: str, section: str) -> None:
    """Refuse sentences without entities, or with one plain tag: there is nothing to learn."""
    only = next(iter(tags), schemes.OUTSIDE)
    if len(tags) == 1 and (only == schemes.OUTSIDE or not scheme.has_spans):
        raise InputError(
            f"every token has the tag {only}",
            path=path,
            fix="Choose the column of the tags with --tag-column N (in a recipe data.tag_column)"
            if section == "data"
            else f"Set the tag column: --set {section}.tag_column=N",
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
    files = _Files(recipe)
    for sentence in Chained(*files.train_streams()):
        yield tuple(schemes.convert(sentence.tags or (), files.target, scheme))


def read_tag_dev(recipe: TagRecipe, note: Note) -> list[Sentence]:
    """Read only the dev sentences of ``recipe``."""
    files = _Files(recipe)
    _, dev = _train_and_dev(recipe, files, Chained(*files.train_streams()), note)
    return dev


def read_tag_held_out(recipe: TagRecipe) -> list[Sentence]:
    """Read the test sentences of ``recipe``, or its dev sentences, with entities in ``HELD_OUT``."""
    files = _Files(recipe)
    sentences = files.read("test", lambda text: None)
    if not sentences:
        _, sentences = _train_and_dev(recipe, files, Chained(*files.train_streams()), lambda text: None)
    if not files.target.has_spans:
        return sentences
    return [_converted(sentence, files.target, HELD_OUT) for sentence in sentences]


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


def _train_and_dev(
    recipe: TagRecipe, files: _Files, everything: Iterable[Sentence], note: Note
) -> tuple[Iterable[Sentence], list[Sentence]]:
    has_dev = bool(recipe.data.files("dev"))
    if recipe.train.shots:
        few = sample_sentences(WithWords(everything), files.target, recipe, note)
        return few, files.read("dev", note) if has_dev else few
    if not has_dev:
        return _hold_out(everything, recipe, note)
    return everything, files.read("dev", note)


def _training_part(
    recipe: TagRecipe, files: _Files, everything: Iterable[Sentence], note: Note
) -> Iterable[Sentence]:
    """Return the training sentences, as ``_train_and_dev`` does, without reading a dev file."""
    if recipe.data.files("dev") and not recipe.train.shots:
        return everything
    data = recipe.data.model_copy(update={"dev": None})
    return _train_and_dev(recipe.model_copy(update={"data": data}), files, everything, note)[0]


def _with_bare_types(data: TagDataConfig, found: Survey) -> Survey:
    """Return the survey of a file. Bare labels in ``data.types`` are read as entities (IO).

    O may be too rare to detect the scheme.
    """
    bare = data.scheme == "auto" and not found.scheme.has_spans
    if bare and set(data.types) & set(found.labels):
        found.report.choose("scheme", str(schemes.IO), "bare labels, as data.types names them")
        return dataclasses.replace(found, scheme=schemes.IO)
    return found


def _check_types(data: TagDataConfig, files: Sequence[_TagFile], section: str) -> None:
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


def _check_alike(files: Sequence[_TagFile]) -> None:
    """Refuse training files of which some have entities and others plain tags."""
    first = files[0]
    for other in files[1:]:
        if other.found.scheme.has_spans != first.found.scheme.has_spans:
            raise InputError(
                f"the tags are {other.found.scheme}, but those of {first.domain} are {first.found.scheme}",
                path=other.source.report.path,
                fix="Train on files of the same kind of tags",
            )


def tag_data_key(recipe: TagRecipe) -> str:
    """Return the part of a recipe that ``read_tag_data`` depends on. Equal strings give equal data.

    It includes the seed if sentences are held out or sampled, if words without a pretrained vector get a
    random one, or if there are changed copies.
    """
    data, model, head = recipe.data, recipe.model, recipe.model.head
    read = {
        "data": data.model_dump(mode="json"),
        "groups": model.groups,
        "jamo": bool(model.chars and model.chars.jamo),
        "sources": sources_key(model),
        "rules": [head.constrained, head.forbidden, head.constrain_training],
        "kind": head.kind if data.partial or recipe.train.keep_labels else None,
        "sample": recipe.train.score_train,
        "start": [recipe.train.start, recipe.train.keep_labels, recipe.train.replay],
        "shots": recipe.train.shots,
        "seed": recipe.train.seed if _is_drawn(recipe) else None,
        "heads": {name: tag_data_key(head_recipe(recipe, name)) for name in recipe.heads},
    }
    return json.dumps(read)


def _is_drawn(recipe: TagRecipe) -> bool:
    data = recipe.data
    drawn = recipe.train.shots or recipe.train.replay
    return not data.files("dev") or bool(data.vectors or data.copies or drawn)


def _checked_rules(
    recipe: TagRecipe, train: Iterable[Sentence], encoding: Encoding, *, opened: bool, note: Note
) -> Allowed:
    """Return the valid sequences of the model. Note training sentences that violate ``model.head.forbidden``.

    They raise an error if their likelihood would be 0: with ``constrain_training``, and with partial tags or
    ``opened`` O, whose likelihood sums over valid sequences only (``CRF.partial_log_likelihood``).
    """
    head = recipe.model.head
    rules = allowed(
        encoding.labels,
        encoding.scheme,
        constrained=head.constrained or head.constrain_training,
        forbidden=head.forbidden,
    )
    if not head.forbidden:
        return rules
    found = [
        (sentence, move)
        for sentence in train
        if (move := first_violation(sentence.tags or (), encoding.labels, rules))
    ]
    if not found:
        return rules
    sentence, move = found[0]
    text = f"{len(found):,} training sentences violate model.head.forbidden, the first by {move!r}"
    partial = recipe.data.partial is not None and head.kind == "crf"
    if head.constrain_training or partial or (opened and head.kind == "crf"):
        cause = "data.partial" if partial else "train.keep_labels"
        cause = "model.head.constrain_training" if head.constrain_training else cause
        raise InputError(
            text,
            path=sentence.path,
            line=sentence.line,
            fix=f"Correct them, or remove {cause}",
        )
    note(f"{recipe.data.train_name}: {text}")
    return rules


def _read(name: str, stream: TagStream, note: Note) -> list[Sentence]:
    sentences = list(stream)
    tell(name, stream.source.report, note)
    return sentences


def _tags(sentences: Iterable[Sentence]) -> Iterator[str]:
    return (tag for sentence in sentences for tag in sentence.tags or ())


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


class Pieces:
    """Sentences with those of more than ``longest`` tokens split.

    Sentences are split between entities. A piece whose tags ``rules`` forbid would have probability 0. The
    tags are names of ``sets``. ``cut`` is the number of split sentences in the last pass.
    """

    def __init__(self, sentences: Iterable[Sentence], longest: int, *, sets: TagSets, rules: Allowed) -> None:
        self._sentences = sentences
        self._longest = longest
        self._sets = sets
        self._rules = rules
        self.cut = 0

    def __iter__(self) -> Iterator[Sentence]:
        self.cut = 0
        for sentence in self._sentences:
            if len(sentence) <= self._longest:
                yield sentence
                continue
            self.cut += 1
            ends = cut_ends(self._sets.options(sentence.tags or ()), self._rules, self._longest)
            for first, end in pairwise([0, *ends]):
                yield sentence.part(first, end)


def _hold_out(
    stream: Iterable[Sentence], recipe: TagRecipe, note: Note
) -> tuple[Iterable[Sentence], list[Sentence]]:
    share, seed = recipe.data.holdout, recipe.train.seed
    dev = list(HoldOut(stream, share=share, seed=seed, held_out=True))
    train = HoldOut(stream, share=share, seed=seed, held_out=False)
    if not dev or next(iter(train), None) is None:
        note(
            "no dev file, and too few sentences to hold out: the training sentences are used as dev sentences"
        )
        return stream, list(stream)
    note(
        f"no dev file: held out {count(len(dev), 'sentence')} of {recipe.data.train_name} "
        f"(data.holdout = {share})"
    )
    return train, dev
