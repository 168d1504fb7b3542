"""TSV: one sentence with its tags per line.

There is no quoting: a quotation mark is an ordinary character, and a tab always ends a column. Tables with
one token per row are read in ``tagged_csv``, tables of labelled texts in ``labelled_rows``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from gonie.errors import InputError
from gonie.formats.content import FileHead
from gonie.formats.format import TaggedFormat
from gonie.system.files import Line
from gonie.text.report import Report
from gonie.text.schemes import looks_tagged
from gonie.text.types import Sentence


def read_sentences(rows: Iterable[Line], *, report: Report) -> Iterator[Sentence]:
    """Yield one sentence per line: space-separated tokens, a tab, space-separated tags (or tokens only)."""
    path = report.path
    tagged: bool | None = None
    for number, line in rows:
        if not line or line.isspace():
            report.skipped["empty lines"] += 1
            continue
        parts = [part.split() for part in line.split("\t")]
        tagged = len(parts) > 1 if tagged is None else tagged
        if len(parts) != 1 + tagged:
            expected = "2 tab-separated columns (tokens, tags)" if tagged else "1 column (tokens)"
            raise InputError(f"expected {expected}, got {len(parts)}", path=path, line=number)
        if len(parts[0]) != len(parts[-1]) or not parts[0]:
            raise InputError(
                f"expected as many tags as tokens, got {len(parts[0])} tokens and {len(parts[-1])} tags",
                path=path,
                line=number,
            )
        words = tuple(parts[0])
        report.sentences += 1
        report.tokens += len(words)
        report.rows = (number,) * len(words)
        yield Sentence(words, tuple(parts[1]) if tagged else None, path=path, line=number)


def write_sentences(sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield one sentence per line, in the format of ``read_sentences``."""
    for sentence in sentences:
        blank = [word for word in chain(sentence.words, sentence.tags or ()) if word.split() != [word]]
        if blank:
            raise InputError(
                f"this format cannot store words or tags with spaces: {blank[0]!r}",
                path=sentence.path or None,
                line=sentence.line,
                fix="Write another format, such as conll",
            )
        tags = "" if sentence.tags is None else "\t" + " ".join(sentence.tags)
        yield " ".join(sentence.words) + tags + "\n"


def _recognise(head: FileHead) -> str | None:
    rows = [line.split("\t") for line in head.filled if not line.startswith("#")]
    fits = bool(rows) and all(map(_is_tagged, rows)) and any(len(row[0].split()) > 1 for row in rows)
    tags = Counter(tag for row in rows for tag in row[-1].split())
    if not fits or not (looks_tagged(tags) or all(tag == tag.upper() for tag in tags)):
        return None
    return "each line has as many tags after its tab as words before it"


def _is_tagged(row: list[str]) -> bool:
    return len(row) == 2 and len(row[0].split()) == len(row[1].split())


TAGGED = TaggedFormat(
    name="tsv",
    description="one sentence per line: tokens, a tab, tags",
    read=lambda content, options, report: read_sentences(content.lines, report=report),
    write=lambda sentences, scheme: write_sentences(sentences),
    recognise=_recognise,
    rank=3,
)
