"""Reading and judging ``bundle.json``: JSON of bounded size and depth, and what each of its values may be.

The classes that are built from it (``gonie.features.encoding`` and its parts) trust their input, because
all other input comes from gonie itself. A bundle from elsewhere is checked here first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from gonie.runtime.validators import (
    Kind,
    anything,
    by_name,
    either,
    flag,
    nothing,
    number,
    record,
    several,
    text,
    texts,
    whole,
    wholes,
)

TAGS, LABELS, WORDS = 1 << 12, 1 << 16, 1 << 24
"""So many tags of words, labels of texts and words of a vocabulary at most."""
VALUES = 1 << 23  # in the whole file: an empty list takes three bytes there, and sixty-four in memory
_NAME, _WORD = 1000, 1 << 24  # characters
_LARGE = 1 << 40
_DEPTH = 100  # far beyond what is written, far below what Python can follow


def parsed(content: bytes) -> Any:
    """The value of JSON in UTF-8; a ``ValueError`` for NaN, infinity, nesting beyond reason and all else."""
    values = sum(content.count(sign) for sign in (b",", b"[", b"{"))
    if values > VALUES:
        raise ValueError(f"{values:,} values, more than {VALUES:,}")
    try:
        found = json.loads(content.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if _depth_beyond(found, _DEPTH):
        raise ValueError("nested too deep")
    return found


def check_about(index: Mapping[str, Any]) -> None:
    """Refuse, with a ``ValueError`` that names it, what no bundle says of itself."""
    _COMMON(index, "")


def check_description(index: Mapping[str, Any]) -> None:
    """Likewise, a value that no bundle of its task has."""
    check_about(index)
    _TASKS[index["task"]](index, "")
    if index["task"] == "tag":
        _check_groups(index["encoding"], "encoding")
    else:
        _check_groups(index["encoding"]["words"], "encoding.words")
        _check_bag(index["encoding"]["bag"])
    labels = index["encoding"]["labels"]
    _distinct(labels, "encoding.labels")
    if not labels:
        raise ValueError("encoding.labels has none")


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant}, which is no number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:20]}, which is beyond all numbers")
    return value


def _depth_beyond(value: Any, most: int) -> bool:
    """Are there lists in lists, or values by name in them, more than so many?"""
    level = [[value]]
    for _ in range(most):
        inner = [list(each.values()) if isinstance(each, dict) else each for own in level for each in own]
        level = [own for own in inner if isinstance(own, list) and {dict, list} & set(map(type, own))]
        if not level:
            return False
    return True


def _check_groups(words: Mapping[str, Any], where: str) -> None:
    """Each group of features is there once, and has its vocabulary."""
    names = [extractor["name"] for extractor in words["extractors"]]
    _distinct(names, f"{where}.extractors")
    missing = [name for name in names if name not in words["features"]]
    if missing:
        raise ValueError(f"{where}.features has none for {missing[0]}")


def _check_bag(bag: Mapping[str, Any] | None) -> None:
    """No n-gram is longer than the bag says: a table has a level for each symbol of the longest."""
    if bag is None:
        return
    (_, letters), (_, words) = bag["ngrams"]["chars"], bag["ngrams"]["words"]
    for gram in bag["vocabulary"]["strings"]:
        of_words = gram.startswith("\t")
        if (gram.count(" ") + 1 > words) if of_words else (len(gram) > letters):
            raise ValueError(f"encoding.bag has {gram[:40]!r}, longer than its n-grams")


def _distinct(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{where} has the same twice")


_BLANK = record({})
_VOCABULARY = record(
    {"strings": texts(WORDS, _WORD), "counts": wholes(WORDS, _LARGE), "unknown": whole(0, _LARGE)}
)
_TAGS, _NAMES = texts(TAGS, _NAME), texts(LABELS, _NAME)
_TOKENIZER = record({"language": text(_NAME), "unit": text(_NAME)})


def _entries(value: Any, where: str) -> None:
    """Names of one list: texts, or where one holds a blank its words."""
    several(anything, WORDS)(value, where)
    texts(WORDS, _WORD)([entry for entry in value if not isinstance(entry, list)], where)
    for entry in value:
        if isinstance(entry, list):
            texts(_NAME, _WORD)(entry, where)


_EXTRACTORS: Mapping[str, Kind] = {
    "spelling": _BLANK,
    "morphemes": _BLANK,
    "context": record({"window": whole(0, 100), "columns": texts(100, _NAME)}),
    "gazetteer": record({"fold": flag, "lists": by_name(_entries, _NAME, _NAME)}),
}


def _extractor(value: Any, where: str) -> None:
    """A group of features by its name; one that this version does not know is told by its reader."""
    record({"name": text(_NAME)})(value, where)
    _EXTRACTORS.get(value["name"], anything)(value, where)


_SCHEME = record({"kind": text(_NAME), "separator": text(_NAME), "affix": text(_NAME), "typed_inside": flag})
_LENGTHS = wholes(2, 64)
_BAG = record(
    {
        "ngrams": record({"chars": _LENGTHS, "words": _LENGTHS, "lowercase": flag}),
        "vocabulary": _VOCABULARY,
    }
)
_ENCODING = record(
    {
        "words": _VOCABULARY,
        "chars": _VOCABULARY,
        "labels": _TAGS,
        "scheme": _SCHEME,
        "normalization": record({"lowercase": flag, "digits": flag}),
        "jamo": flag,
        "extractors": several(_extractor, 20),
        "features": by_name(_VOCABULARY, 20, _NAME),
    },
    {"longest": whole(3, 1000)},
)
_PASSAGES = record(
    {
        "tokenizer": _TOKENIZER,
        "by": text(_NAME, of=("text", "sentence", "mark")),
        "mark": text(_NAME),
        "max_tokens": whole(0, _LARGE),
        "max_sentences": whole(0, _LARGE),
    }
)
_FILES = record({"model.onnx": text(64)}, {"forms.onnx": text(64), "weights.safetensors": text(64)})
_COLUMN = either(nothing, either(text(_NAME), whole(-1000, 1000)))
_DATA = {
    "types": _NAMES,
    "columns": by_name(whole(-1000, 1000), 100, _NAME),
    "tag_column": _COLUMN,
    "marks": texts(100, _NAME),
}
_LAYER = record({"place": text(_NAME), "shares": several(number, 1000), "scale": number, "normalized": flag})
_COMMON = record(
    {
        "gonie": text(_NAME),
        "model": _BLANK,
        "scores": _BLANK,
        "recipe": record({}, {"data": record({}, _DATA)}),
        "files": _FILES,
    },
    {"layers": several(_LAYER, 100)},
)
_TASKS: Mapping[str, Kind] = {
    "tag": record(
        {"constrained": flag, "tokenizer": _TOKENIZER, "encoding": _ENCODING},
        {"forbidden": texts(TAGS, _NAME)},
    ),
    "classify": record(
        {
            "temperature": number,
            "encoding": record(
                {
                    "passages": _PASSAGES,
                    "words": _ENCODING,
                    "labels": _NAMES,
                    "several": flag,
                    "bag": either(nothing, _BAG),
                }
            ),
        }
    ),
}
