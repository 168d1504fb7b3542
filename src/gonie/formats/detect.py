"""Recognising what a file is: by its content first, then by its name.

A file with examples of another kind, and a file that is no labelled data at all, are refused and named for
what they are, with the command that fits.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeVar

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead, open_content
from gonie.formats.format import Format, LabelledFormat, PairFormat, TaggedFormat
from gonie.formats.table import FORMATS, PAIR_FORMATS, TEXT_FORMATS

Kind = TypeVar("Kind", bound=Format)
SPECIFIC = 2
"""A suffix does not overrule a format of a lower rank: what doccano writes also is JSONL."""
_COMMANDS = {
    TaggedFormat.kind: "gonie train tag",
    LabelledFormat.kind: "gonie train classify",
    PairFormat.kind: "gonie train pairs",
}
"""The command that trains on examples of each kind."""
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


def choose(content: Content, formats: Mapping[str, Kind], given: str = "auto") -> tuple[Kind, str]:
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
    if own:
        overruled = own[0].format.rank < SPECIFIC
        found = next((match for match in own if match.format == named and not overruled), own[0])
        reason = f"by the suffix {suffix}" if found.format == named else found.reason
        return formats[found.format.name], reason
    kind = next(iter(formats.values())).kind
    if matches:
        raise _other_kind(matches[0], kind, head.path)
    problem = _foreign(head)
    if problem:
        raise InputError(f"{problem}, not a file of {kind}", path=head.path, fix=_SEE)
    if named is not None:
        return named, f"by the suffix {suffix}"
    name, reason = _fallback(head, formats)
    return formats[name], reason


_SEE = "gonie reads the formats of docs/reference/formats.md; choose one with --format"


def format_named(name: str, formats: Mapping[str, Kind]) -> Kind:
    """Return the format with this name."""
    if name not in formats:
        raise InputError(f"unknown format {name!r}", fix=f"Choose one of {', '.join(formats)}, or auto")
    return formats[name]


def is_table(file: Path, formats: Mapping[str, Format]) -> bool:
    """Return whether the suffix is that of one of the formats, in which a text is only part of a line."""
    known = {suffix for each in formats.values() for suffix in each.suffixes}
    return not known.isdisjoint(file.suffixes)


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


def _other_kind(match: Recognised, kind: str, path: str) -> InputError:
    other = match.format.kind
    return InputError(
        f"a file of {other}, not of {kind} ({match.format.name}: {match.reason})",
        path=path,
        fix=f"To train on it, run: {_COMMANDS[other]} {shlex.quote(path)}. "
        "If this is wrong, choose the format with --format (in a recipe data.format)",
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


def _fallback(head: FileHead, formats: Mapping[str, Format]) -> tuple[str, str]:
    """Return the format that reads a text whose content no format recognises."""
    if head.record is not None:
        return "jsonl", "the first line is a JSON object"
    if "conll" in formats:
        return "conll", "one token per line"
    if head.filled and "\t" in head.filled[0]:
        return "tsv", "tabs in the first line"
    return ("tsv" if "semeval" in formats else "csv"), "no other format fits"
