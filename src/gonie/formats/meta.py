"""Named values of whole texts, such as ``year`` or ``source``, by which scores can be grouped.

Only values with requested names are read (``meta`` of the reading options). A table has them in its columns,
a JSON object under its keys and under the keys of its object ``meta``, and a column file in its comments:

    # newdoc id = weblog-7
    # year = 2004

A value is a text, a number, a boolean or a date. Longer texts than ``LONGEST`` are not values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, TypeVar

from gonie.errors import InputError
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.report import Report
from gonie.text.types import Sentence

LONGEST = 100
"""The number of characters of the longest value."""
SHOWN = 30
"""The most names that a message lists."""
TEXTS = ("text",)
"""The usual names of the texts of a row, which are no values to group by."""
NESTED = "meta"
"""The key of the object in which annotation tools keep named values."""
NO_VALUES: Mapping[str, str] = MappingProxyType({})

_COMMENT = re.compile(r"#+\s*([^=]*?[^=\s])\s*=\s*(\S.*?)\s*")
_DOCUMENT = re.compile(r"#+\s*newdoc\b")
_OF_SENTENCE = ("sent_id", "text", "newpar")
_PREFIX, _ID = "meta::", " id"

Example = TypeVar("Example", Sentence, LabelledText, LabelledPair)


def row_meta(
    row: Mapping[str, Any], names: Collection[str], report: Report, texts: Collection[str] = TEXTS
) -> Mapping[str, str]:
    """Return the values of a row with these names.

    ``report`` collects the names of all its values but ``texts``, which are the names of the texts.
    """
    if not names:
        return NO_VALUES
    inner = row.get(NESTED)
    found = {**_values(inner if isinstance(inner, Mapping) else {}), **_values(row)}
    report.meta.update(dict.fromkeys(name for name in found if name not in texts))
    return {name: found[name] for name in names if name in found}


def _values(row: Mapping[str, Any]) -> dict[str, str]:
    shown = ((str(name), value_text(value)) for name, value in row.items())
    return {name: text for name, text in shown if name and text}


def value_text(value: object) -> str:
    """Return a value as text: ``2004``, also for 2004.0, ``true``. It is empty for what is not a value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    if not isinstance(value, str | int | date):
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else ""


class CommentValues:
    """Collects the values of sentences from comments ``# name = value`` of a column file.

    A value holds for the sentence below its comment. It holds for the whole document, up to the next
    ``# newdoc`` or ``-DOCSTART-``, if its comment follows ``# newdoc`` directly, or if an empty line follows
    the comment. ``# newdoc id`` itself has the name ``newdoc``, and ``# meta::genre`` the name ``genre``.
    """

    def __init__(self, names: Collection[str], report: Report) -> None:
        self._names = names
        self._report = report
        self._document: dict[str, str] = {}
        self._own: dict[str, str] = {}
        self._heading = False

    def add(self, line: str) -> None:
        """Add a comment line."""
        if not self._names:
            return
        if _DOCUMENT.match(line):
            self.start_document()
            self._heading = True
        found = _COMMENT.fullmatch(line)
        if found is None:
            self._heading = self._heading and bool(_DOCUMENT.match(line))
            return
        name = found[1].removeprefix(_PREFIX).removesuffix(_ID)
        self._heading = self._heading and name not in _OF_SENTENCE
        value = value_text(found[2])
        if value and name != "text":
            (self._document if self._heading else self._own)[name] = value

    def start_document(self) -> None:
        """Forget the values of the last document."""
        self._document = {}

    def end_block(self) -> None:
        """Give the values of comments without a sentence to the document."""
        if self._own:
            self._document |= self._own
            self._own = {}
        self._heading = False

    def take(self) -> Mapping[str, str]:
        """Return the values of the sentence that ends here, those with the requested names."""
        if not self._names:
            return NO_VALUES
        found = self._document | self._own
        self._own, self._heading = {}, False
        self._report.meta.update(dict.fromkeys(found))
        return {name: found[name] for name in self._names if name in found}


def checked_meta(examples: Iterable[Example], names: Collection[str], report: Report) -> Iterator[Example]:
    """Yield the examples. Raise InputError after them if none has a value of a requested name."""
    missing = dict.fromkeys(names)
    for example in examples:
        for name in [name for name in missing if name in example.meta]:
            del missing[name]
        yield example
    if missing:
        raise InputError(
            f"no example has a value named {', '.join(missing)}",
            path=report.path,
            fix=_named(missing, [*report.meta]),
        )


def _named(missing: Iterable[str], known: Sequence[str]) -> str:
    """Return the names of the values of a file, and those that were probably meant."""
    if not known:
        return (
            "The file has no named values: columns of a table, keys of JSON objects, or comments "
            "'# name = value' of a column file"
        )
    rest = ", …" if len(known) > SHOWN else ""
    listed = f"The names of its values are {', '.join(known[:SHOWN])}{rest}"
    near = [match for name in missing for match in get_close_matches(name, known, n=1)]
    return f"Did you mean {', '.join(near)}? {listed}" if near else listed
