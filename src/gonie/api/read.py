"""``gonie.read``: the examples of a labelled file, with the report of what was read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, overload

from gonie.errors import InputError
from gonie.formats.format import ReadOptions
from gonie.formats.jsonl import read_record, recognise_object
from gonie.formats.labelled import LabelledSource
from gonie.formats.labelled_tables import first_row
from gonie.formats.pairs import TEXTS, PairOptions, PairSource
from gonie.formats.tagged import TaggedSource
from gonie.reports.html.markup import element
from gonie.system.files import lines
from gonie.text.labelled_text import TextOptions
from gonie.text.report import Report
from gonie.text.tokenizers import tokenizer

Kind = Literal["tag", "classify", "pair"]


@dataclass(frozen=True)
class ReadExamples(Sequence[Any]):
    """The examples of a file: ``Sentence``, ``LabelledText`` or ``LabelledPair``, by ``kind``.

    ``report`` says what was detected, skipped and repaired.
    """

    kind: Kind
    path: Path
    items: tuple[Any, ...] = field(repr=False)
    report: Report = field(repr=False)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        return self.items[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __repr__(self) -> str:
        return (
            f"ReadExamples({str(self.path)!r}, kind={self.kind!r}): {'; '.join(self.report.lines(shown=3))}"
        )

    def _repr_html_(self) -> str:
        return element(
            "ul", element("b", str(self.path)), *(element("li", each) for each in self.report.lines())
        )


def read(
    path: str | PathLike[str],
    *,
    kind: Kind | None = None,
    language: Literal["en", "ko"] = "en",
    unit: str | None = None,
    **options: Any,
) -> ReadExamples:
    """Read a labelled file into memory, in any format that training reads.

    ``kind`` is the task of the examples: ``tag`` for sentences with tags, ``classify`` for texts with labels,
    ``pair`` for pairs of texts. By default it follows from the file. ``options`` are those of the format:
    ``format``, ``tag_column``, ``text_column``, ``label_column`` and others. ``language`` and ``unit`` choose
    the tokenizer of raw text with spans.
    """
    file = Path(path)
    chosen = kind or _kind(file)
    if chosen == "tag":
        splitter = tokenizer(language=language, unit=unit or ("eojeol" if language == "ko" else "word"))
        source: Any = TaggedSource(file, ReadOptions(tokenizer=splitter, **options))
    elif chosen == "classify":
        source = LabelledSource(file, TextOptions(**options))
    elif chosen == "pair":
        source = PairSource(file, PairOptions(**options))
    else:
        raise InputError(f"unknown kind {kind!r}", fix='Use "tag", "classify" or "pair"')
    items = tuple(source)
    return ReadExamples(chosen, file, items, source.report)


def _kind(file: Path) -> Kind:
    """Return the kind of a file from its first line: a JSON object, a header, or columns of tokens."""
    first = next((line for _, line in lines(file) if line.strip()), "")
    suffixes = {suffix for suffix in file.suffixes if suffix not in (".gz", ".xz")}
    if recognise_object([first]):
        names: Collection[str] = read_record(first, str(file), 1, keys=())
        if {"spans", "entities", "tokens"} & set(names):
            return "tag"
    elif suffixes & {".tsv", ".csv"}:
        names = first_row(first) if ".csv" in suffixes else first.split("\t")
    else:
        return "tag"
    if any(set(pair) <= set(names) for pair in TEXTS):
        return "pair"
    return "classify" if "text" in names or suffixes & {".tsv", ".csv"} else "tag"
