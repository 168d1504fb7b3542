"""CSV: a table with one token per row, as on Kaggle.

    Sentence #,Word,POS,Tag
    Sentence: 1,Thousands,NNS,O
    ,marched,VBN,O
    Sentence: 2,Iranian,JJ,B-gpe

The header names a column of words, one of tags, and one that numbers the sentences, in each row or in the
first row of each sentence. Empty rows may separate sentences instead. Columns may also be separated by
semicolons or tabs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.delimited import Fields, check_width, parse_csv, separators_of, write_csv
from gonie.formats.format import ReadOptions, TaggedFormat
from gonie.formats.meta import row_meta
from gonie.text.report import Report
from gonie.text.types import Sentence

WORDS = ("word", "words", "token", "tokens", "form")
TAGS = (
    *("tag", "tags", "ner", "ner_tag", "ner_tags", "entity", "label", "labels"),
    *("pos", "pos_tag", "pos_tags", "upos"),
)
"""Names of columns in lower case, in the order of preference."""
_NUMBER = re.compile(r"sent(ence)?([ _-]*(#|id|idx|index|no|num|number))?", re.IGNORECASE)
"""The name of a column that numbers sentences."""
_ONE_VALUE = "Name a column that has the same value in all rows of a sentence"


class TokenColumns(NamedTuple):
    """The numbers of the columns. Without ``sentence``, empty rows separate sentences."""

    word: int
    tag: int | None
    sentence: int | None


def find_columns(names: Sequence[str], options: ReadOptions | None = None) -> TokenColumns | None:
    """Return the columns, as the options say or by their names, or None if there are no words."""
    options = options or ReadOptions()
    word = _find(names, options.word_column, WORDS)
    sentence = next((at for at, name in enumerate(names) if _NUMBER.fullmatch(name.strip())), None)
    return None if word is None else TokenColumns(word, _find(names, options.tag_column, TAGS), sentence)


def _find(names: Sequence[str], wanted: int | str | None, known: Sequence[str]) -> int | None:
    if isinstance(wanted, int):
        return range(len(names))[wanted] if -len(names) <= wanted < len(names) else None
    lower = [name.strip().lower() for name in names]
    accepted = [wanted.lower()] if wanted else known
    return next((lower.index(name) for name in accepted if name in lower), None)


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    """Yield the words of each sentence with their tags, and the other columns by their names."""
    rows = parse_csv(content.lines, report.path)
    line, names = next(((line, cells) for line, cells in rows if cells), (1, ()))
    columns = find_columns(names, options)
    if columns is None or (columns.tag is None and options.tag_column is not None):
        missing = "words" if columns is None else f"tags {options.tag_column!r}"
        raise InputError(
            f"no column of {missing}; the columns are {', '.join(names)[:200]!r}",
            path=report.path,
            line=line,
            fix=f"Name the column {'Word' if columns is None else 'Tag'}, or choose one: --word-column N, "
            "--tag-column N",
        )
    report.choose("word column", names[columns.word], "by its name")
    if columns.tag is not None:
        report.choose("tag column", names[columns.tag], "as given" if options.tag_column else "by its name")
    report.choose("sentences", *_separation(names, columns))
    _refuse_token_columns([names[at] for at in columns[:2] if at is not None], options.meta, report, line)
    others = [(at, name) for at, name in enumerate(names) if at not in columns and name]
    values = others if options.meta else []
    separators = separators_of(content.head.lines[0])
    for group in _sentences(rows, columns, len(names), separators, report):
        words = tuple(cells[columns.word] for _, cells in group)
        report.sentences += 1
        report.tokens += len(words)
        report.rows = tuple(line for line, _ in group)
        values = _sentence_values(values, group, options.meta, report)
        yield Sentence(
            words,
            None if columns.tag is None else tuple(cells[columns.tag].strip() for _, cells in group),
            {name: tuple(cells[at] for _, cells in group) for at, name in others},
            path=report.path,
            line=group[0][0],
            meta=row_meta({name: group[0][1][at] for at, name in values}, options.meta, report),
        )
    if not report.sentences and not report.skipped:
        raise InputError("no rows below the header", path=report.path, line=line)


def _refuse_token_columns(
    columns: Collection[str], wanted: Collection[str], report: Report, line: int
) -> None:
    """Refuse the columns of words and tags as named values."""
    for name in wanted:
        if name in columns:
            raise InputError(
                f"the column {name!r} has a value for each token, not for each sentence",
                path=report.path,
                line=line,
                fix=_ONE_VALUE,
            )


def _sentence_values(
    columns: Iterable[tuple[int, str]], group: Sequence[Fields], wanted: Collection[str], report: Report
) -> list[tuple[int, str]]:
    """Return the columns with one value in a sentence: later rows repeat that of the first, or are empty.

    ``report`` loses the names of the others. A wanted one is refused.
    """
    found = []
    for at, name in columns:
        first = group[0][1][at].strip()
        other = next(
            ((line, cells[at]) for line, cells in group if cells[at].strip() not in ("", first)), None
        )
        if other is None:
            found.append((at, name))
            continue
        report.meta.pop(name, None)
        if name in wanted:
            raise InputError(
                f"the values of the column {name!r} differ within a sentence: {first!r} and {other[1]!r}",
                path=report.path,
                line=other[0],
                fix=_ONE_VALUE,
            )
    return found


def _separation(names: Sequence[str], columns: TokenColumns) -> tuple[str, str]:
    if columns.sentence is None:
        return "separated by empty rows", "no column numbers them"
    return f"numbered by {names[columns.sentence]}", "by its name"


def _sentences(
    rows: Iterable[Fields], columns: TokenColumns, width: int, separators: str, report: Report
) -> Iterator[list[Fields]]:
    """Yield the rows of each sentence."""
    group: list[Fields] = []
    current = ""
    for line, cells in rows:
        filled = any(map(str.strip, cells))
        if filled:
            check_width(cells, width, separators, path=report.path, line=line)
        number = cells[columns.sentence].strip() if filled and columns.sentence is not None else ""
        if group and (not filled or (number and number != current)):
            yield group
            group = []
        current = number or current
        if filled and not cells[columns.word].strip():
            report.skipped["rows without a word"] += 1
        elif filled and columns.tag is not None and not cells[columns.tag].strip():
            raise InputError("no tag", path=report.path, line=line, fix="Write O for no entity")
        elif filled:
            group.append((line, cells))
    if group:
        yield group


def _recognise(head: FileHead) -> str | None:
    if head.is_json or not head.filled:
        return None
    try:
        rows = [cells for _, cells in parse_csv(enumerate(head.lines, 1), head.path)]
    except InputError:  # a quoted cell that continues, or no CSV
        return None
    names = next(filter(None, rows))
    columns = find_columns(names)
    if columns is None or columns.tag is None:
        return None
    filled = [cells for cells in rows[rows.index(names) + 1 :] if len(cells) == len(names) and any(cells)]
    if columns.sentence is None:
        separated = any(not any(row) and any(after) for row, after in pairwise(rows))
    else:
        numbers = {cells[columns.sentence] for cells in filled} - {""}
        separated = (bool(numbers) or not filled) and all(map(_is_number, numbers))
    phrases = sum(" " in cells[columns.word].strip() for cells in filled)
    if not separated or 10 * phrases > len(filled):
        return None
    return f"it has one token per row, with the columns {names[columns.word]} and {names[columns.tag]}"


def _is_number(cell: str) -> bool:
    """Return whether a cell may number a sentence: ``12``, ``Sentence: 12``, ``doc-3.7``."""
    return len(cell.split()) <= 2 and any(map(str.isdigit, cell))


def _records(sentences: Iterable[Sentence]) -> Iterator[Mapping[str, Any]]:
    for number, sentence in enumerate(sentences, 1):
        for at, word in enumerate(sentence.words):
            tag = {} if sentence.tags is None else {"tag": sentence.tags[at]}
            yield {"sentence": number, "word": word, **tag}


TAGGED = TaggedFormat(
    name="csv",
    description="table with one token per row, and a column that numbers sentences",
    read=_read,
    write=lambda sentences, scheme: write_csv(_records(sentences)),
    recognise=_recognise,
    rank=4,
)
