"""Checking, measuring and converting data files.

These functions implement ``gonie data check|stats|convert``. They return plain values and print nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from os import PathLike
from typing import Any

import numpy as np

from gonie.errors import GonieError, InputError
from gonie.formats import conllu
from gonie.formats.detect import format_named
from gonie.formats.format import Format, Tokenize
from gonie.formats.spans import DetectedTokenizer
from gonie.formats.table import FORMATS
from gonie.formats.tagged import Survey, TaggedSource, invalid_tags, survey, write
from gonie.formats.units import SAMPLE, own_unit
from gonie.text.report import Report
from gonie.text.schemes import Policy, Scheme, convert, to_spans
from gonie.text.types import Sentence
from gonie.text.units import MORPHEME, SYLLABLE, is_korean

Path = str | PathLike[str]
JOINED = "texts made by joining words with spaces"
QUANTILES: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)


def raw_text_tokenizer(language: str | None = None, unit: str | None = None) -> Tokenize:
    """Return the tokenizer of raw texts. Without a language and a unit, the texts decide.

    The default unit of Korean is the syllable, because entities may end inside larger units.
    """
    if not language and not unit:
        return DetectedTokenizer(lazy_tokenizer)
    language = language or ("en" if unit == "word" else "ko")
    return lazy_tokenizer(language, unit or ("word" if language == "en" else SYLLABLE))


def lazy_tokenizer(language: str, unit: str) -> Tokenize:
    """Return the tokenizer of a language, which is loaded on first use."""
    loaded: list[Tokenize] = []

    def tokenize(text: str) -> list[Sentence]:
        if not loaded:
            from gonie.text.tokenizers import tokenizer

            loaded.append(tokenizer(language=language, unit=unit, fold=True))
        return loaded[0](text)

    return tokenize


def parse_tag_column(value: str | None) -> int | str | None:
    """Parse a tag column from the command line: a number if possible, otherwise a name."""
    if value is None:
        return None
    return int(value) if value.lstrip("-").isdigit() else value


def parse_tag_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Parse the names of numbered tags: comma-separated, or already a list."""
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)


# --- check -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """The result of checking one file: what reading found, or why it could not be read."""

    path: str
    survey: Survey | None
    error: str

    @property
    def passed(self) -> bool:
        """Whether the file can be read and every tag is valid."""
        return self.survey is not None and not self.survey.detection.invalid


def check(source: TaggedSource, *, shown: int = 20) -> Check:
    """Read a whole file, and return what was found or why it cannot be read."""
    try:
        return Check(str(source.path), survey(source, shown=shown), "")
    except GonieError as error:
        return Check(str(source.path), None, str(error))


# --- stats -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unseen:
    """Shares of a file that do not occur in the first file: tokens, distinct words and entity mentions.

    A mention is its words and its label. ``mentions`` is None if the file has none.
    """

    tokens: float
    words: float
    mentions: float | None


@dataclass(frozen=True, slots=True)
class Stats:
    """The statistics of one file.

    ``lengths`` are the quantiles of sentence length at ``QUANTILES``. ``entities`` are read as in
    ``conlleval``, even if they contain ``invalid`` tags.
    """

    path: str
    scheme: Scheme
    sentences: int
    tokens: int
    vocabulary: Counter[str]
    lengths: tuple[float, ...]
    labels: Counter[str]
    invalid: int
    entities: Counter[str]
    mentions: Counter[tuple[str, ...]]
    unseen: Unseen | None
    report: Report


def stats(sources: Iterable[TaggedSource]) -> Iterator[Stats]:
    """Yield the statistics of each file, with the shares that do not occur in the first file."""
    first: Stats | None = None
    for source in sources:
        measured = _measure(source)
        if first is None:
            first = measured
            yield measured
        else:
            yield replace(measured, unseen=_unseen(measured, first))


def _measure(source: TaggedSource) -> Stats:
    found = survey(source, shown=0)
    words: Counter[str] = Counter()
    entities: Counter[str] = Counter()
    mentions: Counter[tuple[str, ...]] = Counter()
    lengths = []
    for sentence in source:
        words.update(sentence.words)
        lengths.append(len(sentence))
        for start, end, label in to_spans(sentence.tags or (), found.scheme):
            entities[label] += 1
            mentions[(label, *sentence.words[start:end])] += 1
    return Stats(
        path=str(source.path),
        scheme=found.scheme,
        sentences=found.sentences,
        tokens=found.tokens,
        vocabulary=words,
        lengths=tuple(float(length) for length in np.quantile(lengths, QUANTILES)),
        labels=found.labels,
        invalid=found.detection.invalid,
        entities=entities,
        mentions=mentions,
        unseen=None,
        report=found.report,
    )


def _unseen(stats: Stats, first: Stats) -> Unseen:
    new = stats.vocabulary.keys() - first.vocabulary.keys()
    mentions = sum(number for mention, number in stats.mentions.items() if mention not in first.mentions)
    total = stats.mentions.total()
    return Unseen(
        tokens=sum(stats.vocabulary[word] for word in new) / stats.tokens,
        words=len(new) / len(stats.vocabulary),
        mentions=mentions / total if total else None,
    )


# --- convert ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a conversion: the number of sentences, both schemes and the reading report.

    ``has_ids`` says whether some sentence has an id.
    """

    sentences: int
    source: Scheme
    target: Scheme
    report: Report
    has_ids: bool


def convert_file(
    source: TaggedSource,
    *,
    to: str,
    out: Path,
    scheme: Scheme | None = None,
    policy: Policy = "error",
) -> Conversion:
    """Write a file in another format, with its tags in ``scheme`` if given.

    Invalid tags are refused, or repaired by the policy.
    """
    wanted = format_named(to, FORMATS)
    found = survey(source)
    if found.detection.invalid and policy == "error":
        first = found.problems[0] if found.problems else None
        raise invalid_tags(first, found.detection, report=found.report, option="--repair ")
    if found.report.choices["format"][0] == "conllu" and to in ("conllu", "sejong"):
        kept = {name: index for index, name in enumerate(conllu.FIELDS) if index > 1}
        source = source.with_options(columns=kept)
    checked = source.with_scheme(found.scheme, policy)
    target = scheme if scheme is not None and found.scheme.has_spans else found.scheme
    sentences = _converted(checked, found.scheme, target)
    if wanted.stores_texts:
        sentences = _with_texts(sentences, checked, FORMATS[found.report.choices["format"][0]].unit, to)
    ids = IdFinder(sentences)
    written = write(out, ids, to, scheme=target)
    checked.report.choices.update(found.report.choices)
    return Conversion(written, found.scheme, target, checked.report, ids.found)


def _converted(sentences: Iterable[Sentence], source: Scheme, target: Scheme) -> Iterator[Sentence]:
    for sentence in filter(len, sentences):
        if sentence.tags is None or source == target:
            yield sentence
        else:
            yield replace(sentence, tags=tuple(convert(sentence.tags, source, target)))


def _with_texts(
    sentences: Iterable[Sentence], source: TaggedSource, unit: str | None, to: str
) -> Iterator[Sentence]:
    """Yield the sentences, and count those whose text is not known and will be their words, joined by spaces.

    Morphemes and syllables joined by spaces are not a text, and are refused.
    """
    remaining = iter(sentences)
    first = list(islice(remaining, SAMPLE))
    unknown = [sentence for sentence in first if sentence.text is None]
    own = own_unit(unknown, unit)
    korean = own.known is not None or is_korean(word for sentence in unknown for word in sentence.words)
    for sentence in chain(first, remaining):
        if sentence.text is None and len(sentence) > 1:
            if korean and own.name in (MORPHEME, SYLLABLE):
                raise InputError(
                    f"{to} files have texts, but the text of the sentence is not known. The words are "
                    f"{own.name}s ({own.reason}), which cannot be joined by spaces",
                    path=sentence.path or None,
                    line=sentence.line,
                    fix="Write conll instead, or give a file with the text of each sentence",
                )
            source.report.noticed[JOINED] += 1
        yield sentence


class IdFinder:
    """Iterates over examples. ``found`` says whether one of them had an id."""

    def __init__(self, examples: Iterable[Any]) -> None:
        self._examples = examples
        self.found = False

    def __iter__(self) -> Iterator[Any]:
        for example in self._examples:
            self.found = self.found or getattr(example, "id", None) is not None
            yield example


def lost_ids(source: str, target: str, formats: Mapping[str, Format], *, found: bool) -> list[str]:
    """Return a note if a conversion between ``formats`` with these names loses the ids of the examples.

    ``found`` says whether ids were read. Formats that do not keep ids may have some that were not.
    """
    if formats[source].keeps_ids and (formats[target].keeps_ids or not found):
        return []
    if not found and not formats[source].has_ids:
        return []
    if formats[target].has_ids:
        return [f"{target} numbers its examples; ids of the input are not kept"]
    return ["ids and other fields of the input are not kept"]
