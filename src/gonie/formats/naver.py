"""The named-entity file of the Naver NLP Challenge 2018: one eojeol per line.

    1<TAB>비토리오<TAB>PER_B
    2<TAB>양일<TAB>DAT_B
    3<TAB>만에<TAB>-

The columns are the number of the eojeol, the eojeol, and its tag: the label before B or I, or ``-``, which
is read as O. Blank lines separate sentences. Copies with spaces instead of tabs are also read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import ReadOptions, TaggedFormat
from gonie.text.report import Report
from gonie.text.schemes import OUTSIDE, Scheme, from_spans, to_spans
from gonie.text.types import Sentence

NONE = "-"
SCHEME = Scheme(kind="IOB2", separator="_", affix="suffix")
_ROW = re.compile(r"(\d+)(?:\t| +)([^\t]+?)(?:\t| +)([^\t ]+)")
_TAG = re.compile(r".+_[BI]|-")


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    words: list[str] = []
    tags: list[str] = []
    numbers: list[int] = []
    for number, line in content.lines:
        row = _ROW.fullmatch(line.strip())
        if row is not None:
            words.append(row[2])
            tags.append(OUTSIDE if row[3] == NONE else row[3])
            numbers.append(number)
        elif line.strip():
            raise InputError(
                f"invalid line: {line[:60]!r}",
                path=report.path,
                line=number,
                fix="Write a number, the eojeol and its tag, such as PER_B or -, separated by tabs",
            )
        elif words:
            yield _sentence(words, tags, numbers, report)
            words, tags, numbers = [], [], []
    if words:
        yield _sentence(words, tags, numbers, report)


def _sentence(words: list[str], tags: list[str], numbers: list[int], report: Report) -> Sentence:
    report.sentences += 1
    report.tokens += len(words)
    report.rows = numbers
    return Sentence(tuple(words), tuple(tags), path=report.path, line=numbers[0])


def _write(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    for sentence in sentences:
        problem = ""
        if sentence.tags is None or not scheme.has_spans:
            problem = "sentences without entity tags"
        elif any(re.search(r"[\t\n\r]", word) or word.strip() != word for word in sentence.words):
            problem = "words with spaces at their ends, tabs or line ends"
        if problem:
            raise InputError(
                f"naver cannot store {problem}",
                path=sentence.path or None,
                line=sentence.line,
                fix="Write jsonl instead",
            )
        tags = from_spans(to_spans(sentence.tags or (), scheme), len(sentence), SCHEME)
        for number, (word, tag) in enumerate(zip(sentence.words, tags, strict=True), 1):
            yield f"{number}\t{word}\t{NONE if tag == OUTSIDE else tag}\n"
        yield "\n"


def _recognise(head: FileHead) -> str | None:
    rows = [_ROW.fullmatch(line.strip()) for line in head.filled]
    found = [row for row in rows if row is not None]
    fits = bool(rows) and len(found) == len(rows) and all(_TAG.fullmatch(row[3]) for row in found)
    tagged = any(row[3] != NONE for row in found)
    return "numbered words with tags like PER_B and -" if fits and tagged else None


TAGGED = TaggedFormat(
    name="naver",
    description="the Naver NLP Challenge 2018: numbered eojeols with tags like PER_B and -",
    read=_read,
    write=_write,
    unit="eojeol",
    recognise=_recognise,
    rank=1,
)
