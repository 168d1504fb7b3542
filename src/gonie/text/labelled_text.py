"""A labelled text, the options of reading it, and the row that every reader of a format yields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gonie.errors import InputError
from gonie.text.types import Span


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text and its labels, as read from a file: none, one, or several where a text may have many.

    ``marks`` are named stretches of ``text``, such as the two nominals of a relation, by character offset.
    ``path`` and ``line`` say where the text began, for messages.
    """

    text: str
    labels: tuple[str, ...] = ()
    marks: tuple[Span, ...] = ()
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How to read a file of texts. What is left alone is detected and reported.

    ``text_column`` and ``label_column`` are names in a header or keys of a JSON object. Without a
    ``label_column`` labels are not asked for, and none is given. ``label_separator`` stands between several
    labels in one cell; without one a cell is one label. ``marks`` names the tags that stand around stretches
    of a text: with ``("e1",)``, ``<e1>…</e1>``.
    """

    format: str = "auto"
    text_column: str = "text"
    label_column: str | None = "label"
    label_separator: str = ""
    marks: tuple[str, ...] = ()


class LabelledRow(NamedTuple):
    """A text before its marks are cut out, and the line it stood on."""

    line: int
    text: str
    labels: tuple[str, ...]


def split_labels(cell: str, options: TextOptions, *, path: str, line: int) -> tuple[str, ...]:
    """The labels of one cell: one, or as many as stand between separators, each once."""
    if options.label_column is None:
        return ()
    if options.label_separator:
        parts = (part.strip() for part in cell.split(options.label_separator))
        return tuple(dict.fromkeys(part for part in parts if part))
    if not cell.strip():
        raise InputError(
            path=path,
            line=line,
            expected="a label",
            got="an empty cell",
            fix="Label the text or take it out; texts that may have no label need a label separator",
        )
    return (cell.strip(),)


def count_labels(texts: Iterable[LabelledText]) -> Counter[str]:
    """How many texts have each label, in one pass."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.labels)
    return counts
