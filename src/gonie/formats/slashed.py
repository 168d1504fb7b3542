"""One sentence per line, each word with its tag after a slash.

    삼성/B_Com 전자/I 는/O 좋다/O

The last slash of a word separates its tag, so a word may contain slashes and a tag may not. Morphemes of an
eojeol can be joined, as analysers of Korean print them. Then the column ``eojeol`` holds its number.

    삼성/NNP+은/JX 좋/VA+다/EF+./SF
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.eojeols import EOJEOL
from gonie.formats.format import ReadOptions, TaggedFormat
from gonie.text.report import Report
from gonie.text.schemes import OUTSIDE, looks_tagged
from gonie.text.types import Sentence

_ITEM = re.compile(r"\S+/[^\s/]+")
_NAME = re.compile(r"[A-Z][A-Z0-9_$+.-]*|[,.:()`'$#-]+")
"""A tag without a marker, such as a part of speech."""
_SEJONG = r"[A-Z]{2,3}(?:-[A-Z]+)?"
_JOINED = re.compile(rf"\S+?/{_SEJONG}(?:\+\S+?/{_SEJONG})+")
"""Morphemes of an eojeol with Sejong's parts of speech."""
_JOINT = re.compile(rf"(?<=[A-Z])\+(?=\S+?/{_SEJONG})")


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    for number, line in content.lines:
        items = line.split()
        if not items:
            report.skipped["empty lines"] += 1
            continue
        untagged = [item for item in items if not _ITEM.fullmatch(item)]
        if untagged:
            raise InputError(
                f"no word and tag: {untagged[0][:60]!r}",
                path=report.path,
                line=number,
                fix="Write each word with its tag after a slash: Seoul/B-LOC",
            )
        rows = [(*_split(part), str(at)) for at, item in enumerate(items, 1) for part in _parts(item)]
        words, tags, eojeols = zip(*rows, strict=True)
        report.sentences += 1
        report.tokens += len(words)
        report.rows = (number,) * len(words)
        columns = {EOJEOL: eojeols} if len(words) > len(items) else {}
        yield Sentence(words, tags, columns, path=report.path, line=number)


def _parts(item: str) -> list[str]:
    """Return the morphemes of an eojeol, or the item itself."""
    return _JOINT.split(item) if _JOINED.fullmatch(item) else [item]


def _split(item: str) -> tuple[str, str]:
    word, _, tag = item.rpartition("/")
    return word, tag


def _write(sentences: Iterable[Sentence]) -> Iterator[str]:
    for sentence in sentences:
        items = [f"{word}/{tag}" for word, tag in zip(sentence.words, sentence.tags or (), strict=False)]
        unfit = [item for item in items if not _ITEM.fullmatch(item)]
        slashes = [tag for tag in sentence.tags or () if "/" in tag]
        if sentence.tags is None or unfit or slashes:
            what = (
                "sentences without tags"
                if sentence.tags is None
                else f"words with spaces or tags with slashes: {(unfit or slashes)[0]!r}"
            )
            raise InputError(
                f"slashed cannot store {what}",
                path=sentence.path or None,
                line=sentence.line,
                fix="Write conll instead",
            )
        joined = all(re.fullmatch(_SEJONG, tag) for tag in sentence.tags)
        eojeols = sentence.columns.get(EOJEOL) if joined else None
        groups = groupby(zip(eojeols or range(len(items)), items, strict=True), key=itemgetter(0))
        yield " ".join("+".join(item for _, item in own) for _, own in groups) + "\n"


def _recognise(head: FileHead) -> str | None:
    items = [item for line in head.filled for item in line.split()]
    if not items or any("\t" in line for line in head.filled) or not all(map(_ITEM.fullmatch, items)):
        return None
    counts = Counter(_split(part)[1] for item in items for part in _parts(item))
    lines_of_words = len(items) > len(head.filled)
    sejong = all(re.fullmatch(_SEJONG, tag) for tag in counts)
    if lines_of_words and sejong and any(map(_JOINED.fullmatch, items)):
        return "each eojeol has its morphemes like 나/NP+는/JX"
    named = all(_NAME.fullmatch(tag) for tag in counts) and 3 * len(counts) <= 2 * len(items)
    fits = looks_tagged(counts) or set(counts) == {OUTSIDE} or (named and lines_of_words)
    return "each word has a tag after a slash" if fits else None


TAGGED = TaggedFormat(
    name="slashed",
    description="one sentence per line, each word with its tag after a slash",
    read=_read,
    write=lambda sentences, scheme: _write(sentences),
    recognise=_recognise,
    rank=3,
)
