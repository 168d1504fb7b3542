"""fastText: one text per line, after its labels.

__label__positive what a film
__label__speed __label__noise fast, but loud
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile

from gonie.errors import InputError
from gonie.formats.content import FileHead
from gonie.formats.format import LabelledFormat
from gonie.system.files import Line
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions, check_unlabelled
from gonie.text.report import Report

PREFIX = "__label__"


def read_fasttext(lines: Iterable[Line], options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield the text of each line with its labels. Empty lines are skipped and counted."""
    for number, line in lines:
        if not line.strip():
            report.skipped["empty lines"] += 1
            continue
        own = list(takewhile(_is_label, line.split()))
        text = line.split(maxsplit=len(own))[len(own) :]
        labels: tuple[str, ...] | None = tuple(dict.fromkeys(word.removeprefix(PREFIX) for word in own))
        if options.label_column is None:
            labels = ()
        elif not labels:
            check_unlabelled(options, path=report.path, line=number)
            labels = None
        yield LabelledRow(number, text[0].rstrip() if text else "", labels)


def _is_label(word: str) -> bool:
    return word.startswith(PREFIX) and word != PREFIX


def _write(texts: Iterable[LabelledText]) -> Iterator[str]:
    for each in texts:
        spaced = [label for label in each.labels if len(label.split()) != 1]
        if spaced or "\n" in each.text or not each.labels or each.marks:
            raise InputError(
                f"fasttext cannot store labels with spaces: {spaced[0]!r}"
                if spaced
                else "fasttext cannot store line breaks, marks, or texts without a label",
                path=each.path or None,
                line=each.line,
                fix="Write jsonl instead",
            )
        yield " ".join([*(PREFIX + label for label in each.labels), each.text]) + "\n"


def _recognise(head: FileHead) -> str | None:
    fits = bool(head.filled) and _is_label(head.filled[0].split()[0])
    return f"the first line begins with {PREFIX}" if fits else None


LABELLED = (
    LabelledFormat(
        name="fasttext",
        description="fastText: one text per line, after its labels",
        read=lambda content, options, report: read_fasttext(content.lines, options, report),
        write=_write,
        recognise=_recognise,
        rank=1,
    ),
)
