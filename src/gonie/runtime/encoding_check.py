"""Check the encodings in ``bundle.json``, value by value.

The classes that are built from them (``gonie.features.encoding``, ``gonie.features.text_encoding`` and their
parts) trust their input, because all other input comes from gonie itself. A bundle may come from anywhere, so
it is checked here first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gonie.features.external_vectors import WIDEST_VECTOR
from gonie.features.gazetteer import MATCHERS
from gonie.runtime.validators import (
    NAME,
    Validator,
    anything,
    either,
    flag,
    integer,
    integers,
    list_of,
    mapping_of,
    null,
    record,
    text,
    texts,
)
from gonie.text.tokenizers.user_dictionary import LONGEST_ENTRY, MOST_ENTRIES

TAGS, LABELS, WORDS = 1 << 12, 1 << 16, 1 << 24
"""The maximum number of tags, of labels of texts, and of words in a vocabulary."""
_WORD = 1 << 24  # characters
_LARGE = 1 << 40


def word_encoding(value: Any, where: str) -> None:
    """Check an ``Encoding``: each feature group occurs once and has a vocabulary."""
    _ENCODING(value, where)
    names = [extractor["name"] for extractor in value["extractors"]]
    _check_distinct(names, f"{where}.extractors")
    missing = [name for name in names if name not in value["features"]]
    if missing:
        raise ValueError(f"{where}.features.{missing[0]} is missing")


def text_encoding(value: Any, where: str) -> None:
    """Check a ``TextEncoding``."""
    _TEXT_ENCODING(value, where)


def labels(most: int) -> Validator:
    """Return a validator for the labels of a model: distinct, at least one, at most ``most``."""

    def validate(value: Any, where: str) -> None:
        texts(most, NAME)(value, where)
        _check_distinct(value, where)
        if not value:
            raise ValueError(f"{where} is empty")

    return validate


def tokenizer(value: Any, where: str) -> None:
    """Check the settings of a tokenizer."""
    _TOKENIZER(value, where)


def _check_distinct(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{where} has duplicates")


def _entries(value: Any, where: str) -> None:
    """Check the entries of a gazetteer: texts, or lists of tokens if a token contains a space."""
    list_of(anything, WORDS)(value, where)
    texts(WORDS, _WORD)([entry for entry in value if not isinstance(entry, list)], where)
    for entry in value:
        if isinstance(entry, list):
            texts(NAME, _WORD)(entry, where)


def _extractor(value: Any, where: str) -> None:
    """Check a feature group by its name. Unknown groups are reported by ``Encoding.from_json``."""
    record({"name": text(NAME)})(value, where)
    _EXTRACTORS.get(value["name"], anything)(value, where)


def _bag(value: Any, where: str) -> None:
    """Check an n-gram bag. No n-gram may be longer than declared, because a trie has a level per symbol."""
    _BAG(value, where)
    (_, letters), (_, words) = value["ngrams"]["chars"], value["ngrams"]["words"]
    for gram in value["vocabulary"]["strings"]:
        of_words = gram.startswith("\t")
        if (gram.count(" ") + 1 > words) if of_words else (len(gram) > letters):
            raise ValueError(f"{where} has {gram[:40]!r}, which is longer than the declared n-grams")


_TOKENIZER = record(
    {"language": text(NAME), "unit": text(NAME)},
    {
        "fold": flag,
        "user_dictionary": texts(MOST_ENTRIES, LONGEST_ENTRY),
        "backoff": texts(MOST_ENTRIES, NAME),
    },
)
_VOCABULARY = record(
    {"strings": texts(WORDS, _WORD), "counts": integers(WORDS, _LARGE), "unknown": integer(0, _LARGE)}
)
_EXTRACTORS: Mapping[str, Validator] = {
    "spelling": record({}),
    "morphemes": record({}),
    "spaces": record({}),
    "analyses": record({}),
    "context": record({"window": integer(0, 100), "columns": texts(100, NAME)}, {"grams": integer(1, 100)}),
    "gazetteer": record(
        {"fold": flag, "lists": mapping_of(_entries, NAME, NAME)}, {"match": text(NAME, of=tuple(MATCHERS))}
    ),
}
tag_scheme = record({"kind": text(NAME), "separator": text(NAME), "affix": text(NAME), "typed_inside": flag})
_PIECES = record(
    {
        "tokenizer": text(1 << 26),
        "joined": flag,
        "fold": flag,
        "pooling": text(NAME, of=("first", "mean", "last")),
        "limit": integer(4, 1 << 16),
    }
)
_ENCODING = record(
    {
        "words": _VOCABULARY,
        "chars": _VOCABULARY,
        "labels": texts(TAGS, NAME),  # a classifier's words have none
        "scheme": tag_scheme,
        "normalization": record({"lowercase": flag, "digits": flag}),
        "jamo": flag,
        "extractors": list_of(_extractor, 20),
        "features": mapping_of(_VOCABULARY, 20, NAME),
    },
    {
        "longest": integer(3, 1000),
        "pieces": _PIECES,
        "fold": flag,
        "correct_typos": flag,
        "external": integer(1, WIDEST_VECTOR),
    },
)
_PASSAGES = record(
    {
        "tokenizer": tokenizer,
        "by": text(NAME, of=("text", "sentence", "mark")),
        "mark": text(NAME),
        "max_tokens": integer(0, _LARGE),
        "max_sentences": integer(0, _LARGE),
    }
)
_LENGTHS = integers(2, 64)
_BAG = record(
    {
        "ngrams": record({"chars": _LENGTHS, "words": _LENGTHS, "lowercase": flag}, {"fold": flag}),
        "vocabulary": _VOCABULARY,
    }
)
_TEXT_ENCODING = record(
    {
        "passages": _PASSAGES,
        "words": word_encoding,
        "labels": labels(LABELS),
        "several": flag,
        "bag": either(null, _bag),
    }
)
