"""Recognising what a file is: by its content first, then by its name.

A file with examples of another kind, and a file that is no labelled data at all, are refused and named for
what they are, with the command that fits.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeVar

from gonie.errors import GonieError, InputError
from gonie.formats.content import Content, FileHead, open_content
from gonie.formats.format import Format, LabelledFormat, PairFormat, RowFormat, TaggedFormat
from gonie.formats.json_list import objects_of
from gonie.formats.table import FORMATS, PAIR_FORMATS, ROW_FORMATS, TEXT_FORMATS
from gonie.formats.tagged_rows import TAGS, WORDS
from gonie.system.files import is_empty, is_stream
from gonie.text.schemes import looks_tagged
from gonie.text.units import is_korean

AnyFormat = TypeVar("AnyFormat", bound=Format)
_RECIPES = {TaggedFormat.kind: "tag", LabelledFormat.kind: "classify", PairFormat.kind: "pairs"}
"""The recipe that trains on examples of each kind."""
_ENTITY = re.compile(r"(?<![^\t ])[BS]-\w")
FEW = 5
"""Fewer lines may have different numbers of columns by mistake."""
_SENTENCE = re.compile(r"\S+ \S+ \S+.*\w[.!?]$")
_MARKUP = re.compile(r"\s*<(\?xml|!doctype|[A-Za-z][\w.-]*(\s[^<>]*)?/?>\s*$)", re.IGNORECASE)
_MAGIC = {
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"\x1f\x8b": "compressed by gzip, without the suffix .gz",
    b"SQLite": "an SQLite database",
    b"%PDF": "a PDF",
    **dict.fromkeys((b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a Python pickle"),
}


class Recognised(NamedTuple):
    """A format that a file was recognised as, and the reason."""

    format: Format
    reason: str


def identify(path: str | PathLike[str]) -> Recognised | None:
    """Return the format of a file by its content, or None if its content fits none in particular."""
    return next(iter(_matches(open_content(path).head)), None)


def is_tagged(path: str | PathLike[str]) -> bool:
    """Return whether a file has tagged sentences, by its content."""
    found = None if is_stream(path) or is_empty(path) else identify(path)
    return found is not None and isinstance(found.format, TaggedFormat)


def check_plain_text(path: str | PathLike[str], readable: Collection[str] = ()) -> None:
    """Raise InputError if a file that is to be read as one text per line has another structure.

    ``readable`` are the formats that the command reads instead, to one of which the file can be converted.
    """
    if is_stream(path) or is_empty(path):
        return
    head = open_content(path).head
    match = next(iter(_matches(head)), None)
    what = _foreign(head) if match is None else f"{_a_file(match.format)} ({match.reason})"
    table = next((each for each in ROW_FORMATS.values() if _suffix(head.path) in each.suffixes), None)
    if what is None and head.record is not None:
        what = "one JSON object per line"
    if what is None and table is not None:
        what = _a_file(table)
    if what is None:
        return
    quoted = shlex.quote(str(path))
    to = "conll" if match is not None and isinstance(match.format, TaggedFormat) else "jsonl"
    labels = "" if match else " --label ''"
    convert = f"Convert it first: gonie data convert {quoted} --to {to}{labels} --out NEW.{to}"
    raise InputError(
        f"the file is {what}, not plain text with one text per line",
        path=path,
        fix=convert
        if to in readable and (match or _has_texts(head, table))
        else "Write its texts to a file, one per line",
    )


def _a_file(format: Format | RowFormat) -> str:
    return f"{'an' if format.name[0] in 'aeiou' else 'a'} {format.name} file"


def _has_texts(head: FileHead, table: RowFormat | None) -> bool:
    """Return whether a table that is not recognised may have a column of texts."""
    if head.document is None:
        return table is not None
    sample = head.document[0] if isinstance(head.document, list) and head.document else None
    return isinstance(sample, dict) and "text" in sample


def kind_of_examples(path: str | PathLike[str]) -> str:
    """Return the kind of a file's examples by its content, or tagged sentences if that is not clear."""
    try:
        found = None if is_stream(path) else identify(path)
    except GonieError:  # told when the file is read
        found = None
    return TaggedFormat.kind if found is None else found.format.kind


def choose(content: Content, formats: Mapping[str, AnyFormat], given: str = "auto") -> tuple[AnyFormat, str]:
    """Return which of ``formats`` a file is in, and the reason. A format that is ``given`` is not questioned.

    Raise InputError if the content is of another kind, or is not labelled data.
    """
    if given != "auto":
        return format_named(given, formats), "as given"
    head = content.head
    suffix = _suffix(head.path)
    named = next((each for each in formats.values() if suffix in each.suffixes), None)
    matches = _matches(head, formats)
    own = [match for match in matches if match.format in formats.values()]
    if own:  # the suffix decides between formats that are equally specific
        equal = [match for match in own if match.format.rank == own[0].format.rank]
        found = next((match for match in equal if match.format == named), own[0])
        reason = f"by the suffix {suffix}" if found.format == named else found.reason
        return formats[found.format.name], reason
    kind = next(iter(formats.values())).kind
    if matches:
        raise _other_kind(matches[0], kind, head)
    _refuse_tables(head)
    problem = _foreign(head)
    if problem:
        raise InputError(
            f"{problem}, not a file of {kind}", path=head.path, fix=f"gonie reads {', '.join(formats)}"
        )
    if named is not None:
        return named, f"by the suffix {suffix}"
    name, reason = _fallback(head, formats)
    return formats[name], reason


def format_named(name: str, formats: Mapping[str, AnyFormat]) -> AnyFormat:
    """Return the format with this name."""
    if name not in formats:
        raise _unknown_format(name, formats)
    return formats[name]


def _unknown_format(name: str, formats: Mapping[str, Format]) -> InputError:
    """Return the error for a name that is a format of other examples, or of none."""
    kinds = [table[name].kind for table in (FORMATS, TEXT_FORMATS, PAIR_FORMATS) if name in table]
    known = f"Choose one of {', '.join(formats)}"
    if kinds:
        own = next(iter(formats.values())).kind
        return InputError(f"{name} is a format of {' and '.join(kinds)}, not of {own}", fix=known)
    near = next(iter(get_close_matches(name, formats, n=1)), None)
    return InputError(f"unknown format {name!r}", fix=f"Did you mean {near}? {known}" if near else known)


def is_table(file: Path, formats: Mapping[str, Format]) -> bool:
    """Return whether a file is in one of the formats, by its suffix or content, and not one text per line."""
    known = {suffix for each in formats.values() for suffix in each.suffixes}
    if not known.isdisjoint(file.suffixes):
        return True
    found = None if is_stream(file) or is_empty(file) else identify(file)
    if found is None or found.format not in formats.values():
        check_plain_text(file, formats)
        return False
    return True


def _matches(head: FileHead, own: Mapping[str, Format] | None = None) -> list[Recognised]:
    """Return the formats of any kind that recognise the content, in the order of their ranks.

    Columns that the user named are columns of the ``own`` kind.
    """
    unnamed = replace(head, columns=())
    mine = list((own or {}).values())
    everything = [*FORMATS.values(), *TEXT_FORMATS.values(), *PAIR_FORMATS.values()]
    found = (
        (each, each.recognise(head if each in mine else unnamed))
        for each in sorted(everything, key=lambda each: each.rank)
    )
    return [Recognised(each, reason) for each, reason in found if reason is not None]


def _suffix(path: str) -> str:
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in (".gz", ".xz")]
    return suffixes[-1].lower() if suffixes else ""


def training_command(head: FileHead, format: Format) -> str:
    """Return the command that trains on a file of this format, with a recipe for its language and tags."""
    return f"gonie train {_recipe(head, format)} {shlex.quote(head.path)}"


def _recipe(head: FileHead, format: Format) -> str:
    """Return the recipe for a file of this format. Korean texts and tags have their own."""
    usual = _RECIPES[format.kind]
    if not head.is_korean or format.kind == PairFormat.kind:
        return usual
    if format.kind == LabelledFormat.kind:
        return "classify-ko"
    if head.is_json or any(map(_ENTITY.search, head.filled)):
        return "ner-ko"
    return "pos-ko" if format.name == "conllu" else usual


def _other_kind(match: Recognised, kind: str, head: FileHead) -> InputError:
    return InputError(
        f"a file of {match.format.kind}, not of {kind} ({match.format.name}: {match.reason})",
        path=head.path,
        fix=f"To train on it, run: {training_command(head, match.format)}. "
        "If this is wrong, choose the format with --format NAME (in a recipe data.format)",
    )


def _refuse_tables(head: FileHead) -> None:
    """Refuse a CSV table of lists, a JSON object of columns, and records with numbers for labels."""
    if isinstance(head.document, dict) and _are_columns(list(head.document.values())):
        raise InputError(
            f"a JSON object of columns: {', '.join(list(head.document)[:8])}",
            path=head.path,
            fix="Write a list of rows: in pandas to_json(orient='records')",
        )
    if any(map(_has_numbered_labels, objects_of(head.document) or head.records)):
        raise InputError(
            "the labels under 'annotations' are numbers without names",
            path=head.path,
            fix='Export the names: in doccano, choose "JSONL (text label)"',
        )
    names = head.filled[0].split(",") if head.filled else []
    found = [name for name in names if name in (*WORDS, *TAGS)]
    if set(found) & set(WORDS) and set(found) & set(TAGS):
        raise InputError(
            f"a CSV table with the columns {', '.join(found)}, whose cells are lists written as text",
            path=head.path,
            fix="Save the lists as such: to_parquet or to_json of datasets and pandas",
        )


def _are_columns(values: list[object]) -> bool:
    """Return whether these are columns of a table, as pandas writes them: objects with the same keys."""
    keys = {frozenset(each) if isinstance(each, dict) else frozenset() for each in values}
    return len(values) > 1 and len(keys) == 1 and frozenset() not in keys


def _has_numbered_labels(record: Mapping[str, object]) -> bool:
    """Return whether a record is one of early versions of doccano, whose JSONL has no names of labels."""
    values = record.get("annotations") if isinstance(record, dict) else None
    return isinstance(values, list) and any(
        isinstance(each, dict) and isinstance(each.get("label"), int) for each in values
    )


def _foreign(head: FileHead) -> str | None:
    """Return what a file is that no format reads, or None."""
    if head.magic:
        return next((what for magic, what in _MAGIC.items() if head.magic.startswith(magic)), "a binary file")
    if head.document is not None and head.record is None:
        return _json(head.document)
    if head.filled and _MARKUP.match(head.filled[0]):
        return "XML or HTML"
    return None


def _json(document: object) -> str:
    """Describe a JSON value whose structure no format has."""
    sample = document[0] if isinstance(document, list) and document else document
    keys = ", ".join(map(repr, list(sample)[:8])) if isinstance(sample, dict) else ""
    what = "a JSON list" if isinstance(document, list) else "a JSON object"
    return f"{what} with the keys {keys}" if keys else what


def _refuse_texts(head: FileHead) -> None:
    """Refuse tables of texts and plain text, which have not one token per line."""
    lines = [line for line in head.filled if not line.startswith("#")]
    rows = [line.split("\t") for line in lines]
    spaced = sum(" " in row[0].strip() for row in rows if len(row) > 1)
    if _suffix(head.path) == ".csv" or 3 * spaced > len(rows):
        names = next(csv.reader(lines[:1]), []) if "\t" not in lines[0] else rows[0]
        raise InputError(
            f"a table whose first line is {', '.join(names)[:100]!r}, not a file of tagged sentences",
            path=head.path,
            fix=f"For labelled texts, name the columns: {training_command(head, TEXT_FORMATS['csv'])} "
            "--text NAME --label NAME, or by their numbers, from 0, if there "
            "is no header. If it has one token per row, name its columns sentence, word and tag",
        )
    if lines and (_are_uneven(lines) or all(_SENTENCE.search(line) for line in lines)):
        raise InputError(
            "plain text without tags, not a file of tagged sentences",
            path=head.path,
            fix=f"To tag it, run: gonie tag MODEL --file {shlex.quote(head.path)}. If it has one token per "
            "line, choose the format with --format conll (in a recipe data.format)",
        )


def _are_uneven(lines: Sequence[str]) -> bool:
    """Return whether lines seem to be text, because they have different numbers of words and no tags.

    Korean lines may also have the same number of words, if their last words are hardly tags.
    """
    rows = [line.split() for line in lines]
    widths = Counter(map(len, rows))
    usual, times = widths.most_common(1)[0]
    if len(lines) >= FEW and 2 * times < len(lines):
        return True
    columns = list(zip(*(row for row in rows if len(row) == usual), strict=True))
    if any("\t" in line for line in lines) or any(looks_tagged(Counter(column)) for column in columns):
        return False
    if usual == 1:
        return max(widths) > 2
    different = 2 * len(set(columns[-1])) > times
    named = all(value.upper() == value and not is_korean([value]) for value in columns[-1])
    return different and not named and (len(widths) > 1 or (usual > 2 and is_korean(columns[-1])))


def _fallback(head: FileHead, formats: Mapping[str, Format]) -> tuple[str, str]:
    """Return the format that reads a text whose content no format recognises."""
    if head.record is not None:
        return "jsonl", "the first line is a JSON object"
    if "conll" in formats:
        _refuse_texts(head)
        return "conll", "one token per line"
    if head.filled and "\t" in head.filled[0]:
        return "tsv", "tabs in the first line"
    texts = next(iter(formats.values())).kind == LabelledFormat.kind
    return ("tsv" if texts else "csv"), "no other format fits"
