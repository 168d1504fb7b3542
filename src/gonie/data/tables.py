"""Tables with tabs: a text and its label a line, or a sentence and its tags a line.

Quoting is off: a quotation mark is a character like any other, and a tab always ends a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from os import PathLike

from gonie.data.files import Line, display, lines
from gonie.data.report import Report
from gonie.data.types import Sentence
from gonie.errors import InputError


@dataclass(frozen=True, slots=True)
class Row:
    """A text with its label, and where it stood."""

    text: str
    label: str
    path: str
    line: int


def read_rows(
    path: str | PathLike[str], *, report: Report, text: str = "text", label: str = "label"
) -> Iterator[Row]:
    """Yield the rows of a table, its columns found by the header; two columns without header are text, label.

    Rows with an empty text are left out and counted.
    """
    name = display(path)
    report.path = name
    rows = iter(lines(path))
    first = next(rows, None)
    if first is None:
        raise InputError(path=name, expected="a table", got="an empty file")
    width, text_at, label_at, headed = _header(first, text, label, name, report)
    for number, line in rows if headed else chain([first], rows):
        if not line:
            report.skipped["empty lines"] += 1
            continue
        fields = line.split("\t")
        if len(fields) != width:
            raise InputError(
                path=name,
                line=number,
                expected=f"{width} columns apart by tabs",
                got=f"{len(fields)}",
                fix="A tab inside a text must become a blank",
            )
        if not fields[text_at].strip():
            report.skipped["rows with an empty text"] += 1
            continue
        report.sentences += 1
        yield Row(fields[text_at], fields[label_at], name, number)
    if not report.sentences:
        raise InputError(path=name, expected="at least one row with a text", got="none")


def _header(first: Line, text: str, label: str, path: str, report: Report) -> tuple[int, int, int, bool]:
    """Number of columns, the text's, the label's, and whether the first line is a header."""
    names = first[1].split("\t")
    if text in names and label in names:
        report.choose("header", ", ".join(names), f"the first line has {text} and {label}")
        return len(names), names.index(text), names.index(label), True
    if len(names) == 2:
        report.choose("header", "none", f"two columns, none called {text} and {label}: text, label")
        return 2, 0, 1, False
    raise InputError(
        path=path,
        line=first[0],
        expected=f"a header with the columns {text} and {label}, or two columns",
        got=f"{', '.join(names)!r}",
        fix="Say which columns hold the text and the label",
    )


def read_sentences(rows: Iterable[Line], *, report: Report) -> Iterator[Sentence]:
    """Yield a sentence a line: tokens apart by blanks, a tab, as many tags alike (or no tab and no tags)."""
    path = report.path
    tagged: bool | None = None
    for number, line in rows:
        if not line or line.isspace():
            report.skipped["empty lines"] += 1
            continue
        parts = [part.split() for part in line.split("\t")]
        tagged = len(parts) == 2 if tagged is None else tagged
        if len(parts) != 1 + tagged:
            expected = (
                "tokens, a tab and their tags" if tagged else "tokens without a tab, as in the first line"
            )
            raise InputError(path=path, line=number, expected=expected, got=f"{len(parts) - 1} tabs")
        if len(parts[0]) != len(parts[-1]) or not parts[0]:
            raise InputError(
                path=path,
                line=number,
                expected="as many tags as tokens",
                got=f"{len(parts[0])} tokens and {len(parts[-1])} tags",
            )
        words = tuple(parts[0])
        report.sentences += 1
        report.tokens += len(words)
        report.rows = (number,) * len(words)
        yield Sentence(words, tuple(parts[1]) if tagged else None, path=path, line=number)


def write_sentences(sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield a sentence a line, as ``read_sentences`` takes it."""
    for sentence in sentences:
        if any(word.split() != [word] for word in chain(sentence.words, sentence.tags or ())):
            raise InputError(
                path=sentence.path or None,
                line=sentence.line,
                expected="words and tags without blanks",
                got=repr(
                    next(
                        word for word in chain(sentence.words, sentence.tags or ()) if word.split() != [word]
                    )
                ),
                fix="Write another format, such as conll",
            )
        tags = "" if sentence.tags is None else "\t" + " ".join(sentence.tags)
        yield " ".join(sentence.words) + tags + "\n"
