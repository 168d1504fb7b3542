"""Judging the encodings in ``bundle.json``: what each of their values may be.

The classes that are built from them (``gonie.features.encoding``, ``gonie.features.text_encoding`` and their
parts) trust their input, because all other input comes from gonie itself. A bundle from elsewhere is checked
here first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gonie.runtime.validators import (
    NAME,
    Kind,
    anything,
    by_name,
    either,
    flag,
    nothing,
    record,
    several,
    text,
    texts,
    whole,
    wholes,
)

TAGS, LABELS, WORDS = 1 << 12, 1 << 16, 1 << 24
"""The most tags of words, labels of texts and words of a vocabulary."""
_WORD = 1 << 24  # characters
_LARGE = 1 << 40


def word_encoding(value: Any, where: str) -> None:
    """An ``Encoding``: each group of features is there once, and has its vocabulary."""
    _ENCODING(value, where)
    names = [extractor["name"] for extractor in value["extractors"]]
    _check_distinct(names, f"{where}.extractors")
    missing = [name for name in names if name not in value["features"]]
    if missing:
        raise ValueError(f"{where}.features has none for {missing[0]}")


def text_encoding(value: Any, where: str) -> None:
    """A ``TextEncoding``."""
    _TEXT_ENCODING(value, where)


def labels(most: int) -> Kind:
    """What a model chooses from: at least one label, at most so many, none twice."""

    def look(value: Any, where: str) -> None:
        texts(most, NAME)(value, where)
        _check_distinct(value, where)
        if not value:
            raise ValueError(f"{where} has none")

    return look


def tokenizer(value: Any, where: str) -> None:
    """How raw text becomes tokens."""
    _TOKENIZER(value, where)


def _check_distinct(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{where} has the same twice")


def _entries(value: Any, where: str) -> None:
    """Names of one list: texts, or where one holds a blank its words."""
    several(anything, WORDS)(value, where)
    texts(WORDS, _WORD)([entry for entry in value if not isinstance(entry, list)], where)
    for entry in value:
        if isinstance(entry, list):
            texts(NAME, _WORD)(entry, where)


def _extractor(value: Any, where: str) -> None:
    """A group of features by its name; one that this version does not know is told by its reader."""
    record({"name": text(NAME)})(value, where)
    _EXTRACTORS.get(value["name"], anything)(value, where)


def _bag(value: Any, where: str) -> None:
    """A bag with no n-gram longer than it says: a table has a level for each symbol of the longest."""
    _BAG(value, where)
    (_, letters), (_, words) = value["ngrams"]["chars"], value["ngrams"]["words"]
    for gram in value["vocabulary"]["strings"]:
        of_words = gram.startswith("\t")
        if (gram.count(" ") + 1 > words) if of_words else (len(gram) > letters):
            raise ValueError(f"{where} has {gram[:40]!r}, longer than its n-grams")


_TOKENIZER = record({"language": text(NAME), "unit": text(NAME)})
_VOCABULARY = record(
    {"strings": texts(WORDS, _WORD), "counts": wholes(WORDS, _LARGE), "unknown": whole(0, _LARGE)}
)
_EXTRACTORS: Mapping[str, Kind] = {
    "spelling": record({}),
    "morphemes": record({}),
    "context": record({"window": whole(0, 100), "columns": texts(100, NAME)}),
    "gazetteer": record({"fold": flag, "lists": by_name(_entries, NAME, NAME)}),
}
_SCHEME = record({"kind": text(NAME), "separator": text(NAME), "affix": text(NAME), "typed_inside": flag})
_ENCODING = record(
    {
        "words": _VOCABULARY,
        "chars": _VOCABULARY,
        "labels": texts(TAGS, NAME),  # a classifier's words have none
        "scheme": _SCHEME,
        "normalization": record({"lowercase": flag, "digits": flag}),
        "jamo": flag,
        "extractors": several(_extractor, 20),
        "features": by_name(_VOCABULARY, 20, NAME),
    },
    {"longest": whole(3, 1000)},
)
_PASSAGES = record(
    {
        "tokenizer": tokenizer,
        "by": text(NAME, of=("text", "sentence", "mark")),
        "mark": text(NAME),
        "max_tokens": whole(0, _LARGE),
        "max_sentences": whole(0, _LARGE),
    }
)
_LENGTHS = wholes(2, 64)
_BAG = record(
    {
        "ngrams": record({"chars": _LENGTHS, "words": _LENGTHS, "lowercase": flag}),
        "vocabulary": _VOCABULARY,
    }
)
_TEXT_ENCODING = record(
    {
        "passages": _PASSAGES,
        "words": word_encoding,
        "labels": labels(LABELS),
        "several": flag,
        "bag": either(nothing, _bag),
    }
)
