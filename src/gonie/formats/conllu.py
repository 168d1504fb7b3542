"""CoNLL-U: ten tab-separated columns, with multiword tokens and empty nodes (universaldependencies.org).

Words are the syntactic words. A multiword token ``n-m`` is a surface token that determines the offsets of its
words in ``# text``. Sentences with multiword tokens have a column ``multiword``, which holds ``n-m:form`` for
each of their words and ``_`` for others. Empty nodes ``n.m`` are not in the text; they are skipped and
counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gonie.errors import InputError
from gonie.formats.conll import TEXT
from gonie.formats.content import Content, FileHead
from gonie.formats.format import ReadOptions, TaggedFormat
from gonie.formats.meta import CommentValues
from gonie.formats.spans import with_own_ids
from gonie.system.files import Line
from gonie.text.alignment import locate
from gonie.text.report import Report
from gonie.text.schemes import OUTSIDE, looks_tagged
from gonie.text.types import Sentence

FIELDS: tuple[str, ...] = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
SENTENCE = "# sent_id = "
"""The comment with the id of a sentence."""
MULTIWORD = "multiword"
_EMPTY = "_"
_MISC = "misc:"
_SPAN = re.compile(r"(\d+)-(\d+)")
_NODE = re.compile(r"\d+\.\d+")

Offsets = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(slots=True)
class _Block:
    """The lines of one sentence: rows of words, their line numbers, surface tokens and the text.

    A surface token is its form and the range of words it covers.
    """

    words: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    surface: list[tuple[str, int, int]] = field(default_factory=list)
    text: str | None = None
    id: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)


def read(
    rows: Iterable[Line],
    *,
    report: Report,
    tag_column: str | int | None = None,
    columns: Mapping[str, int] | None = None,
    meta: Collection[str] = (),
) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file.

    ``tag_column`` is a field by name or index (default ``upos``), or ``misc:Key`` for ``Key=value`` in MISC,
    where a word without the key is O. ``columns`` names further fields by index, and ``meta`` values in
    comments.
    """
    tag_of = _tagger(tag_column, report.path)
    kept = columns or {}
    seen_key = False
    for block in _blocks(rows, CommentValues(meta, report), report):
        tags = tuple(map(tag_of, block.words))
        seen_key = seen_key or any(tag != OUTSIDE for tag in tags)
        report.sentences += 1
        report.tokens += len(tags)
        report.rows = block.numbers
        yield _sentence(block, tags, kept, report)
    if isinstance(tag_column, str) and tag_column.startswith(_MISC) and report.sentences and not seen_key:
        raise InputError(f"no word has {tag_column[5:]}= in MISC", path=report.path)


def _tagger(column: str | int | None, path: str) -> Callable[[list[str]], str]:
    """Return a function that takes the tag from a row."""
    if isinstance(column, str) and column.startswith(_MISC):
        key = column.removeprefix(_MISC) + "="
        return lambda row: next(
            (pair[len(key) :] for pair in row[9].split("|") if pair.startswith(key)), OUTSIDE
        )
    if column is None:
        column = "upos"
    known = column in FIELDS if isinstance(column, str) else -len(FIELDS) <= column < len(FIELDS)
    if not known:
        raise _unknown_column(column, path)
    index = FIELDS.index(column) if isinstance(column, str) else column
    return lambda row: row[index]


def _unknown_column(column: str | int, path: str | None = None) -> InputError:
    fix = f"Choose one of {', '.join(FIELDS)}, or misc:KEY"
    return InputError(f"unknown tag column {column!r}", path=path, fix=fix)


def _blocks(rows: Iterable[Line], values: CommentValues, report: Report) -> Iterator[_Block]:
    block = _Block()
    for number, line in rows:
        if not line or line.isspace():
            if block.words:
                block.meta = values.take()
                yield block
            else:
                values.end_block()
            block = _Block()
        elif line.startswith("#"):
            report.comments += 1
            values.add(line)
            if line.startswith(TEXT):
                block.text = line.removeprefix(TEXT)
            elif line.startswith(SENTENCE):
                block.id = line.removeprefix(SENTENCE).strip() or None
        else:
            _add(block, line, number, report)
    if block.words:
        block.meta = values.take()
        yield block


def _add(block: _Block, line: str, number: int, report: Report) -> None:
    """Add one token line to the block."""
    path = report.path
    row = line.split("\t")
    if len(row) != len(FIELDS):
        fix = "Replace spaces by tabs" if "\t" not in line and " " in line else ""
        raise InputError(
            f"expected 10 tab-separated columns, got {len(row)}", path=path, line=number, fix=fix
        )
    identity, form = row[0], row[1]
    if not form:
        raise InputError("empty form (second column)", path=path, line=number)
    at = len(block.words)
    covered = block.surface[-1][2] if block.surface else 0
    if identity == str(at + 1):
        if at >= covered:
            block.surface.append((form, at, at + 1))
        block.words.append(row)
        block.numbers.append(number)
    elif (span := _SPAN.fullmatch(identity)) and at + 1 == int(span[1]) <= int(span[2]) and at >= covered:
        block.surface.append((form, at, int(span[2])))
    elif _NODE.fullmatch(identity):
        report.skipped["empty nodes (n.m)"] += 1
    else:
        raise InputError(
            f"expected word number {at + 1} in the first column, got {identity!r}",
            path=path,
            line=number,
        )


def _sentence(block: _Block, tags: tuple[str, ...], columns: Mapping[str, int], report: Report) -> Sentence:
    words = tuple(row[1] for row in block.words)
    _check_surface(block, report.path)
    text, starts, ends = _placed(block, words, report)
    kept = {name: tuple(row[index] for row in block.words) for name, index in columns.items()}
    if len(block.surface) < len(words) or any(block.surface[i][0] != word for i, word in enumerate(words)):
        kept[MULTIWORD] = _multiwords(block)
        report.noticed["multiword tokens (n-m)"] += sum(form != _EMPTY for form in set(kept[MULTIWORD]))
    line = block.numbers[0]
    return Sentence(words, tags, kept, text, starts, ends, report.path, line, id=block.id, meta=block.meta)


def _check_surface(block: _Block, path: str) -> None:
    form, _, end = block.surface[-1]
    if end > len(block.words):
        raise InputError(
            f"multiword token {form!r} ends at word {end}, but the sentence has {len(block.words)} words",
            path=path,
            line=block.numbers[-1],
        )


def _multiwords(block: _Block) -> tuple[str, ...]:
    marks = [_EMPTY] * len(block.words)
    for form, first, end in block.surface:
        if end - first > 1 or form != block.words[first][1]:
            marks[first:end] = [f"{first + 1}-{end}:{form}"] * (end - first)
    return tuple(marks)


def _placed(
    block: _Block, words: tuple[str, ...], report: Report
) -> tuple[str | None, tuple[int, ...], tuple[int, ...]]:
    """Return the text and the offsets of the words, or none if the surface tokens do not match the text."""
    if block.text is None:
        return None, (), ()
    places = locate(block.text, (form for form, _, _ in block.surface))
    if places is None:
        report.noticed["'# text' lines that do not match their words (no offsets there)"] += 1
        return None, (), ()
    if len(block.surface) == len(words):
        return block.text, *places
    return block.text, *_word_offsets(block, words, places)


def _word_offsets(block: _Block, words: tuple[str, ...], places: Offsets) -> Offsets:
    """Return word offsets from surface token offsets.

    If the words concatenate to the form of their surface token, each gets its own part. Otherwise each gets
    the whole token.
    """
    starts, ends = [], []
    for (form, first, end), start, stop in zip(block.surface, *places, strict=True):
        inner = locate(form, words[first:end])
        for index in range(end - first):
            starts.append(start + inner[0][index] if inner else start)
            ends.append(start + inner[1][index] if inner else stop)
    return tuple(starts), tuple(ends)


def write(sentences: Iterable[Sentence], *, tag_column: str = "upos") -> Iterator[str]:
    """Yield each sentence as CoNLL-U, with its tags in ``upos``, another field, or ``misc:Key``.

    Columns of a sentence that have the name of a field are written to it. Unknown fields are ``_``.
    """
    if tag_column not in FIELDS and not tag_column.startswith(_MISC):
        raise _unknown_column(tag_column)
    for sentence in with_own_ids(sentences):
        yield _comment(sentence) + "".join(_lines(sentence, tag_column)) + "\n"


def _comment(sentence: Sentence) -> str:
    name = "" if sentence.id is None else f"{SENTENCE}{' '.join(str(sentence.id).split())}\n"
    if sentence.text is None:
        return name
    text = sentence.text[min(sentence.starts) : max(sentence.ends)]
    return name if "\n" in text or "\r" in text else f"{name}{TEXT}{text}\n"


def _lines(sentence: Sentence, tag_column: str) -> Iterator[str]:
    marks = sentence.columns.get(MULTIWORD)
    for index in range(len(sentence)):
        mark = marks[index] if marks else _EMPTY
        if mark != _EMPTY and (index == 0 or not marks or marks[index - 1] != mark):
            identity, _, form = mark.partition(":")
            yield "\t".join((identity, form, *[_EMPTY] * 7, _after(sentence, identity))) + "\n"
        yield "\t".join(_row(sentence, index, tag_column)) + "\n"


def _after(sentence: Sentence, identity: str) -> str:
    """Return the MISC field of a multiword token: whether no space follows it, if offsets are known."""
    end = int(identity.partition("-")[2])
    joined = (
        sentence.text is not None and end < len(sentence) and sentence.ends[end - 1] == sentence.starts[end]
    )
    return "SpaceAfter=No" if joined else _EMPTY


def _row(sentence: Sentence, index: int, tag_column: str) -> list[str]:
    row = [sentence.columns[name][index] if name in sentence.columns else _EMPTY for name in FIELDS]
    row[0], row[1] = str(index + 1), sentence.words[index]
    if sentence.tags is not None and tag_column in FIELDS:
        row[FIELDS.index(tag_column)] = sentence.tags[index]
    elif sentence.tags is not None and sentence.tags[index] != OUTSIDE:
        pair = f"{tag_column.removeprefix(_MISC)}={sentence.tags[index]}"
        row[9] = pair if row[9] == _EMPTY else f"{row[9]}|{pair}"
    if any("\t" in value or "\n" in value for value in row):
        raise InputError(
            f"CoNLL-U cannot store tabs or line ends: {sentence.words[index]!r}",
            path=sentence.path or None,
            line=sentence.line,
            fix="Write JSONL instead",
        )
    return row


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    column = options.tag_column
    words = [row for row in _rows(content.head) if len(row) == len(FIELDS)]
    if column is None and (key := _key_of_tags(words)):
        entities = _MISC + key
        if any(row[3] != _EMPTY for row in words):
            choice = f"--tag-column {entities} or --set data.tag_column={entities}"
            report.choose("tag column", "upos", f"for the entities in MISC, {choice}")
        else:
            column = entities
            report.choose("tag column", column, "upos is empty")
    return read(content.lines, report=report, tag_column=column, columns=options.columns, meta=options.meta)


def _rows(head: FileHead) -> list[list[str]]:
    return [line.split("\t") for line in head.filled if not line.startswith("#")]


def _key_of_tags(words: Iterable[Sequence[str]]) -> str | None:
    """Return the key of MISC whose values look like B-X, I-X and O, if there is one."""
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in words:
        for pair in row[9].split("|"):
            key, _, value = pair.partition("=")
            values[key][value] += 1
    return next((key for key, counts in values.items() if looks_tagged(counts)), None)


def _recognise(head: FileHead) -> str | None:
    rows = _rows(head)
    fits = bool(rows) and all(len(row) == len(FIELDS) and row[0][:1].isdigit() for row in rows)
    return "ten columns, the first a number" if fits else None


TAGGED = TaggedFormat(
    name="conllu",
    description="Universal Dependencies' ten columns",
    read=_read,
    write=lambda sentences, scheme: write(sentences, tag_column="misc:NER" if scheme.has_spans else "upos"),
    suffixes=(".conllu",),
    keeps_ids=True,
    unit="eojeol",
    recognise=_recognise,
    rank=2,
)
