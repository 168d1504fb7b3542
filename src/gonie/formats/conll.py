"""CoNLL columns: one token per line, blank lines between sentences.

The separator, the word column and the tag column are detected from the first lines unless given, so files
larger than memory can be streamed. A line that begins with ``#`` is a comment only if it cannot be a token.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import ReadOptions, TaggedFormat
from gonie.formats.meta import CommentValues
from gonie.system.files import Line
from gonie.text import schemes
from gonie.text.alignment import locate
from gonie.text.report import Report
from gonie.text.types import Sentence

PEEK = 2000
DOCUMENT = "-DOCSTART-"
TEXT = "# text = "
MIXED = "\t "
"""The separator of a file whose columns are separated by any runs of tabs and spaces."""
_SEPARATORS: Mapping[str, str] = {"tab": "\t", "blank": " ", "mixed": MIXED}
_FIELDS = re.compile(r"[^\t ]+")
_BRACKETS = re.compile(r"[(\w-]*\([^\t ]*\*?\)*|\*\)*")
_FEW = 5  # fewer lines may have the same number of words by chance
_RANGE = re.compile(r"\d+[-.]\d+")  # multiword tokens and empty nodes of CoNLL-U
_UNFIT = re.compile(r"[\t\n\r\0]")


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """How the lines of a file split: the separator, the number of columns and what they hold.

    ``tag`` is None in a file of words only. ``tags`` are the tags of the first lines, which distinguish the
    token ``# O`` from a comment. ``numbered`` says whether the first column numbers the tokens.
    """

    separator: str
    width: int
    word: int
    tag: int | None
    columns: Mapping[str, int]
    numbered: bool
    tags: frozenset[str]

    def split(self, line: str) -> list[str]:
        """Return the fields of a line without the spaces around them. A no-break space is part of a word."""
        if self.separator == MIXED:
            return _FIELDS.findall(line)
        fields = line.split(self.separator)
        if self.separator == " ":
            return [field for field in fields if field]
        return [field.strip(" ") or field for field in fields] if " " in line else fields

    def split_mixed(self, line: str) -> list[str] | None:
        """Return the fields of a line between any tabs and spaces, or None if that is not a token line.

        For lines that ``split`` does not split into the columns of the file. The tag must look like the tags
        of the file, because a word may contain spaces.
        """
        fields = _FIELDS.findall(line)
        fits = len(fields) == self.width and (self.tag is None or self._is_tag(fields[self.tag]))
        return fields if fits and self.separator in ("\t", " ") else None

    def is_comment(self, line: str) -> bool:
        """Return whether this line, which begins with ``#``, is a comment.

        It is a token if it has the right number of columns and does not begin with ``# ``. In a
        space-separated file, a line that begins with ``# `` is also a token if its tag looks like the tags of
        the file (``# # B-NP`` in CoNLL-2000).
        """
        fields = self.split(line)
        if len(fields) != self.width:
            return "\t" not in line or self.split_mixed(line) is None
        if not line.startswith("# "):  # the headers of KLUE have two columns
            return line.startswith("## ") and self.tag is not None and not self._is_tag(fields[self.tag])
        return self.separator not in (" ", MIXED) or self.tag is None or not self._is_tag(fields[self.tag])

    def _is_tag(self, value: str) -> bool:
        """Return whether this is a tag of the file, or has their form if that is B-X, I-X and O."""
        if value in self.tags:
            return True
        formed = value == schemes.OUTSIDE or schemes.looks_tagged({value: 1})
        return formed and (
            self.tags == {schemes.OUTSIDE} or schemes.looks_tagged(dict.fromkeys(self.tags, 1))
        )


def read(
    rows: Iterable[Line],
    *,
    report: Report,
    separator: str = "auto",
    word_column: int | None = None,
    tag_column: int | None = None,
    columns: Mapping[str, int] | None = None,
    meta: Collection[str] = (),
) -> Iterator[Sentence]:
    """Yield the sentences of a column file and fill ``report``, which names the file.

    Columns count from 0, or from the end if negative. ``columns`` names further columns to keep, and ``meta``
    the values in comments.
    """
    rows = iter(rows)
    head = _head(rows)
    ordinary = [row for row in head if _ordinary(row[1])] or [row for row in head if _possible(row[1])]
    if not ordinary:
        return
    given = _GivenColumns(separator, word_column, tag_column, columns or {}, report.path)
    layout = _layout(head, ordinary, given, report)
    yield from _sentences(chain(head, rows), layout, CommentValues(meta, report), report)


def _head(rows: Iterator[Line]) -> list[Line]:
    """Return the first ``PEEK`` lines, and more until one of them can be a token."""
    head = list(islice(rows, PEEK))
    while head and not any(_ordinary(text) for _, text in head):
        more = list(islice(rows, PEEK))
        if not more:
            break
        head += more
    return head


def _ordinary(text: str) -> bool:
    """Return whether this is certainly a token line: not blank, no comment, no document mark."""
    return bool(text.strip()) and not text.startswith(("#", DOCUMENT))


def _possible(text: str) -> bool:
    """Return whether this may be a token line, such as ``#hashtag`` in a file that has nothing else."""
    return bool(text.strip()) and not text.startswith(("# ", DOCUMENT))


# --- sentences -------------------------------------------------------------------------------------------


def _sentences(
    rows: Iterable[Line], layout: ColumnLayout, values: CommentValues, report: Report
) -> Iterator[Sentence]:
    split, width, numbered = _splitter(layout), layout.width, layout.numbered
    tokens: list[list[str]] = []
    numbers: list[int] = []
    text: str | None = None
    for number, line in rows:
        if not line or line.isspace():
            if tokens:
                yield _sentence(tokens, numbers, text, layout, report, meta=values.take())
                tokens, numbers = [], []
            else:
                values.end_block()
            text = None
            continue
        if line[0] in "#-":
            if line[0] == "#" and layout.is_comment(line):
                report.comments += 1
                text = line.removeprefix(TEXT) if line.startswith(TEXT) else text
                values.add(line)
                continue
            if line.startswith(DOCUMENT):
                report.documents += 1
                if tokens:
                    yield _sentence(tokens, numbers, text, layout, report, meta=values.take())
                    tokens, numbers, text = [], [], None
                values.start_document()
                continue
        fields = split(line)
        if len(fields) != width:
            mixed = layout.split_mixed(line)
            if mixed is None:
                raise _uneven(fields, layout, line, (report.path, number))
            fields = mixed
            report.noticed["lines whose columns are separated by other white space"] += 1
        if numbered and _RANGE.fullmatch(fields[0]):
            report.skipped["multiword or empty rows (n-m, n.m)"] += 1
            continue
        tokens.append(fields)
        numbers.append(number)
    if tokens:
        yield _sentence(tokens, numbers, text, layout, report, meta=values.take())


def _splitter(layout: ColumnLayout) -> Callable[[str], list[str]]:
    """Return a fast version of ``layout.split``. Repeated spaces, and tabs among spaces, are rare."""
    if layout.separator != " ":
        return layout.split

    def split_spaces(line: str) -> list[str]:
        fields = line.split(" ")
        if "" in fields:
            fields = layout.split(line)
        return [] if "\t" in line else fields

    return split_spaces


def _sentence(
    tokens: list[list[str]],
    numbers: list[int],
    text: str | None,
    layout: ColumnLayout,
    report: Report,
    *,
    meta: Mapping[str, str],
) -> Sentence:
    table = list(zip(*tokens, strict=True))  # columns of tokens
    words = table[layout.word]
    tags = None if layout.tag is None else table[layout.tag]
    for column, noun in ((words, "word"), (tags or (), "tag")):
        if "" in column:
            line = numbers[column.index("")]
            raise InputError(f"empty {noun} column", path=report.path, line=line)
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    if text is not None:
        text, starts, ends = _placed(text, words, report)
    report.sentences += 1
    report.tokens += len(words)
    report.rows = numbers
    columns = {name: table[index] for name, index in layout.columns.items()}
    return Sentence(words, tags, columns, text, starts, ends, report.path, numbers[0], meta=meta)


def _placed(
    text: str, words: Sequence[str], report: Report
) -> tuple[str | None, tuple[int, ...], tuple[int, ...]]:
    places = locate(text, words)
    if places is None:
        report.noticed["'# text' lines that do not match their words (no offsets there)"] += 1
        return None, (), ()
    return text, *places


def _uneven(fields: list[str], layout: ColumnLayout, line: str, place: tuple[str, int]) -> InputError:
    got = len(layout.split(line)) if not fields else len(fields)
    mixed = (" " in line) if layout.separator == "\t" else (layout.separator == " " and "\t" in line)
    shown = line if len(line) <= 60 else line[:60] + "…"
    return InputError(
        f"expected {_columns(layout.width)} separated by {_name(layout.separator)}, as in the other lines, "
        f"got {_columns(got)}{' with tabs and spaces mixed' if mixed else ''}: {shown!r}",
        path=place[0],
        line=place[1],
        fix=f"Separate columns by {_name(layout.separator)} and sentences by a blank line",
    )


def _columns(number: int) -> str:
    return f"{number} column{'' if number == 1 else 's'}"


def _name(separator: str) -> str:
    return {"\t": "tabs", " ": "spaces", MIXED: "tabs and spaces"}.get(separator, repr(separator))


# --- detection -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _GivenColumns:
    """The settings given by the caller. The rest is detected."""

    separator: str
    word: int | None
    tag: int | None
    columns: Mapping[str, int]
    path: str


def _layout(head: list[Line], ordinary: list[Line], given: _GivenColumns, report: Report) -> ColumnLayout:
    separator = _separator(ordinary, given, report)
    splitting = ColumnLayout(separator, 0, 0, None, {}, numbered=False, tags=frozenset())
    split = list(map(_splitter(splitting), (text for _, text in ordinary)))
    width = Counter(len(row) for row in split if row).most_common(1)[0][0]
    rows = [row for row in split if len(row) == width]
    others = (
        _FIELDS.findall(text) for (_, text), row in zip(ordinary, split, strict=True) if len(row) != width
    )
    mixed = [row for row in others if len(row) == width]
    numbered = _numbers_tokens(head, splitting, width)
    word = _word_column(numbered, width, given, report)
    _refuse_unread(rows, word, given)
    columns = {name: _column(index, width, name, given.path) for name, index in given.columns.items()}
    taken = {word, *columns.values(), *([0] if numbered else [])}
    tag = _tag_column(rows + mixed, word, taken, given, report)
    tags = frozenset() if tag is None else frozenset(row[tag] for row in rows)
    return ColumnLayout(separator, width, word, tag, columns, numbered=numbered, tags=tags)


def _refuse_unread(rows: list[list[str]], word: int, given: _GivenColumns) -> None:
    """Refuse columns of CoNLL-2012, and a word column that has only numbers."""
    if any(len(row) > 10 and _BRACKETS.fullmatch(row[5]) for row in rows):
        raise InputError(
            "columns of CoNLL-2012 (OntoNotes), whose entities are in brackets: (PERSON*",
            path=given.path,
            fix="Convert them to one tag per token, such as B-PERSON",
        )
    tagged = len(rows[0]) == 2 and schemes.looks_tagged(Counter(row[1] for row in rows))
    words = [row[0 if tagged else word] for row in rows]
    if given.word is None and len(rows) >= _FEW and all(map(str.isdecimal, words)):
        raise InputError(
            f"the words seem to be numbers: {', '.join(words[:5])}",
            path=given.path,
            fix="Choose the column of the words with --word-column N (in a recipe data.word_column)"
            if len(rows[0]) > 2
            else "Write the word before each tag, or choose --word-column 0 if the words are numbers",
        )


def _separator(ordinary: list[Line], given: _GivenColumns, report: Report) -> str:
    if given.separator != "auto":
        separator = _SEPARATORS.get(given.separator, given.separator)
        if not separator or not any(separator in text or separator == MIXED for _, text in ordinary):
            raise InputError(
                f"columns are not separated by {_name(separator)}: {ordinary[0][1][:60]!r}",
                path=given.path,
                line=ordinary[0][0],
                fix="Choose another separator, or auto",
            )
        report.choose("separator", _name(separator), "as given")
        return separator
    tabs = sum("\t" in text for _, text in ordinary)
    separator = "\t" if 2 * tabs >= len(ordinary) else " "
    agreeing = f"{tabs:,} of the first {len(ordinary):,} token lines have tabs"
    if _is_mixed([text for _, text in ordinary], separator):
        separator = MIXED
        agreeing = f"every line has {_columns(len(_FIELDS.findall(ordinary[0][1])))} then"
    report.choose("separator", _name(separator), agreeing)
    return separator


def _is_mixed(texts: list[str], separator: str) -> bool:
    """Return whether the lines have the same number of columns only if tabs and spaces both separate them.

    Words may contain spaces, so lines that tabs alone split evenly must have more columns than that.
    """
    fields = {len(_FIELDS.findall(text)) for text in texts}
    split = Counter(len(text.strip(" ").split(separator)) for text in texts)
    usual, times = split.most_common(1)[0]
    both = any("\t" in text for text in texts) and any(" " in text.strip() for text in texts)
    if not both or len(fields) != 1 or usual in fields:
        return False
    return times < len(texts) or (len(texts) >= _FEW and usual < min(fields))


def _numbers_tokens(head: list[Line], layout: ColumnLayout, width: int) -> bool:
    """Return whether the first column numbers the tokens, from 0 or 1, in sentences of two or more tokens."""
    return any(_numbered_from(first, head, layout, width) for first in (1, 0))


def _numbered_from(start: int, head: list[Line], layout: ColumnLayout, width: int) -> bool:
    expected, longest = start, 0
    for _, text in head:
        if not text.strip():
            expected = start
            continue
        fields = layout.split(text)
        if len(fields) != width or _RANGE.fullmatch(fields[0]) or text.startswith(("#", DOCUMENT)):
            continue
        if fields[0] != str(expected):
            return False
        longest = max(longest, expected - start + 1)
        expected += 1
    return width > 1 and longest > 1


def _word_column(numbered: bool, width: int, given: _GivenColumns, report: Report) -> int:
    if given.word is not None:
        column = _column(given.word, width, "word", given.path)
        report.choose("word column", str(column), "as given")
        return column
    report.choose(
        "word column",
        "1" if numbered else "0",
        "the first column numbers the tokens" if numbered else "the first",
    )
    return 1 if numbered else 0


def _tag_column(
    rows: list[list[str]],
    word: int,
    taken: set[int],
    given: _GivenColumns,
    report: Report,
) -> int | None:
    width = len(rows[0])
    free = [column for column in reversed(range(width)) if column not in taken]
    if given.tag is not None:
        column = _column(given.tag, width, "tag", given.path)
        if column == word:
            raise InputError(
                f"column {column} is the column of the words, so it cannot be that of the tags",
                path=given.path,
                fix="Choose another one with --tag-column N, or also set the column of the words with "
                "--word-column N (in a recipe data.tag_column and data.word_column)",
            )
        report.choose("tag column", str(column), _given_reason(rows, column, free))
        return column
    if not free:
        report.choose("tag column", "none", "the words are the only column")
        return None
    column, reason = _likeliest(rows, free)
    report.choose("tag column", str(column), reason)
    return column


def _given_reason(rows: list[list[str]], column: int, free: list[int]) -> str:
    """Return the reason of a given tag column. It names a column of entity tags if the given one has none."""
    if schemes.looks_tagged(Counter(row[column] for row in rows)):
        return "as given"
    likeliest, _ = _likeliest(rows, free or [column])
    if likeliest == column or not schemes.looks_tagged(Counter(row[likeliest] for row in rows)):
        return "as given"
    return f"as given, but only the values of column {likeliest} look like B-X, I-X and O"


def _likeliest(rows: list[list[str]], free: list[int]) -> tuple[int, str]:
    counts = {column: Counter(row[column] for row in rows) for column in free}
    for column in free:
        if schemes.looks_tagged(counts[column]):
            return column, "the last whose values look like B-X, I-X and O"
    for column in free:
        if set(counts[column]) == {schemes.OUTSIDE}:
            return column, "the last whose values are O"
    return free[0], "the last; no column looks like B-X, I-X and O"


def _column(index: int, width: int, name: str, path: str) -> int:
    """Return a column index as a nonnegative number. It may count from the end."""
    if not -width <= index < width:
        raise InputError(
            f"no {name} column {index}: the file has {_columns(width)}",
            path=path,
            fix=f"Use 0 to {width - 1}, or -1 to {-width} from the end",
        )
    return index % width


# --- writing ---------------------------------------------------------------------------------------------


def write(sentences: Iterable[Sentence], *, columns: Sequence[str] = ()) -> Iterator[str]:
    """Yield each sentence as tab-separated word, named columns and tag, with ``# text`` if known."""
    tagged: bool | None = None
    for sentence in sentences:
        tagged = sentence.tags is not None if tagged is None else tagged
        if tagged != (sentence.tags is not None):
            raise InputError(
                f"sentence {'without' if tagged else 'with'} tags, unlike the first sentence",
                path=sentence.path or None,
                line=sentence.line,
                fix="Tag all sentences or none",
            )
        yield _comment(sentence) + "".join(_lines(sentence, columns)) + "\n"


def _comment(sentence: Sentence) -> str:
    """Return the ``# text`` line. A sentence cut from a longer text has only its own part of it."""
    if sentence.text is None or not sentence.words:
        return ""
    text = sentence.text[sentence.starts[0] : sentence.ends[-1]]
    return "" if _UNFIT.search(text) else f"{TEXT}{text}\n"


def _lines(sentence: Sentence, columns: Sequence[str]) -> Iterator[str]:
    rest = [sentence.columns[name] for name in columns]
    if sentence.tags is not None:
        rest.append(sentence.tags)
    for index, word in enumerate(sentence.words):
        if not word or word.isspace() or _UNFIT.search(word) or word.startswith(("# ", DOCUMENT)):
            raise InputError(
                f"a column file cannot store the word {word!r}",
                path=sentence.path or None,
                line=sentence.line,
                fix="Write JSONL instead",
            )
        yield "\t".join((word, *(column[index] for column in rest))) + "\n"


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    if isinstance(options.tag_column, str):
        raise InputError(
            f"tag column {options.tag_column!r} is not a number",
            path=report.path,
            fix="Columns have names only in CoNLL-U files",
        )
    return read(
        content.lines,
        report=report,
        separator=options.separator,
        word_column=options.word_column,
        tag_column=options.tag_column,
        columns=options.columns,
        meta=options.meta,
    )


def _recognise(head: FileHead) -> str | None:
    """Return why these lines are columns of tokens, or None.

    They have the same number of columns, one of which looks like tags. The last one may also be of few
    different values, if blank lines separate sentences.
    """
    lines = [] if head.is_json else [line for line in head.filled if _ordinary(line)]
    rows = [_FIELDS.findall(line) for line in lines]
    width = len(rows[0]) if rows else 0
    if width < 2 or any(len(row) != width for row in rows):
        return None
    columns = [Counter(row[column] for row in rows) for column in range(1, width)]
    if any(schemes.looks_tagged(counts) for counts in columns):
        return "one token per line, with tags like B-X, I-X and O"
    sentences = 1 + sum(not line.strip() for line in head.lines[:-1])
    fits = 1 < sentences <= len(rows) / 2 and len(columns[-1]) <= max(3, len(rows) // 3)
    return "one token per line, blank lines between sentences" if fits else None


TAGGED = TaggedFormat(
    name="conll",
    description="one token per line in columns, blank lines between sentences",
    read=_read,
    write=lambda sentences, scheme: write(sentences),
    suffixes=(".conll", ".iob", ".iob2", ".bio"),
    recognise=_recognise,
    rank=6,
)
