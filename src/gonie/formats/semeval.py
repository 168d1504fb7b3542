"""The files of SemEval-2010 task 8: the relation between two marked nominals of a sentence.

    8001    "The most common <e1>audits</e1> were about <e2>waste</e2> and recycling."
    Message-Topic(e1,e2)
    Comment: Assuming an audit = an audit document.

An entry is a number, a tab and the quoted sentence, then its relation, a comment and a blank line. Unlabelled
test files have only the first of these lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gonie.errors import InputError
from gonie.formats.content import FileHead
from gonie.formats.format import LabelledFormat
from gonie.system.files import Line
from gonie.text.labelled_text import LabelledRow, TextOptions, split_labels
from gonie.text.report import Report

MARKS = ("e1", "e2")
_SENTENCE = re.compile(r'\d+\t"(.*)"\s*')
_COMMENT = "Comment"


def is_sentence(line: str) -> bool:
    """Return whether a line begins an entry: a number, a tab, and a quoted sentence with the first mark."""
    return _SENTENCE.fullmatch(line) is not None and f"<{MARKS[0]}>" in line


def read_task8(lines: Iterable[Line], options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield each sentence, including its marks, with its relation. Comments are counted."""
    labelled = options.label_column is not None
    held: LabelledRow | None = None  # a sentence whose relation is on the next line
    for number, line in lines:
        sentence = _SENTENCE.fullmatch(line)
        if held is not None:
            if sentence or not line.strip() or line.startswith(_COMMENT):
                raise _unlabelled(held, report.path)
            yield held._replace(labels=split_labels(line, options, path=report.path, line=number))
            held = None
        elif sentence:
            row = LabelledRow(number, sentence[1], ())
            if labelled:
                held = row
            else:
                yield row
        elif line.startswith(_COMMENT):
            report.comments += 1
        elif line.strip() and labelled:
            raise InputError(
                f"invalid line: {line[:200]!r}",
                path=report.path,
                line=number,
                fix='Write a number, a tab and a quoted sentence, or "Comment: …"',
            )
    if held is not None:
        raise _unlabelled(held, report.path)


def _unlabelled(row: LabelledRow, path: str) -> InputError:
    return InputError("no relation on the line after the sentence", path=path, line=row.line)


def _recognise(head: FileHead) -> str | None:
    fits = bool(head.filled) and is_sentence(head.filled[0])
    return "the first line is a number, a tab and a sentence with marks" if fits else None


LABELLED = (
    LabelledFormat(
        name="semeval",
        description="SemEval-2010 task 8: sentences with two marked nominals",
        read=lambda content, options, report: read_task8(content.lines, options, report),
        recognise=_recognise,
        rank=1,
        marks=MARKS,
    ),
)
