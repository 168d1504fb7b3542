"""``gonie.read``: the examples of a labelled file, with the report of what was read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, Literal, overload

from gonie.api.rows import is_path
from gonie.api.settings import python_messages
from gonie.errors import InputError
from gonie.formats.detect import kind_of_examples
from gonie.formats.format import LabelledFormat, PairFormat, ReadOptions, TaggedFormat
from gonie.formats.inspect import raw_text_tokenizer
from gonie.formats.labelled import LabelledSource
from gonie.formats.pairs import PairSource
from gonie.formats.tagged import TaggedSource
from gonie.reports.html.markup import element
from gonie.text.labelled_text import PairOptions, TextOptions
from gonie.text.report import Report

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
    language: Literal["en", "ko"] | None = None,
    unit: str | None = None,
    **options: Any,
) -> ReadExamples:
    """Read a labelled file into memory, in any format that training reads.

    ``kind`` is the task of the examples: ``tag`` for sentences with tags, ``classify`` for texts with labels,
    ``pair`` for pairs of texts. By default it follows from the file. ``options`` are those of the format:
    ``format``, ``tag_column``, ``text_column``, ``label_column`` and others. ``language`` and ``unit`` choose
    the tokenizer of raw text with spans. By default, text with mostly Hangul letters is cut into syllables,
    other text into English words.
    ``meta=("year",)`` reads named values of the texts: ``example.meta["year"]``.
    """
    if not is_path(path):
        raise InputError(
            f"gonie.read takes the path of a file, got {type(path).__name__}",
            fix="Examples in memory need no reading: pass them to gonie.train or gonie.evaluate",
        )
    file = Path(path)
    with python_messages():
        chosen = kind or _KINDS[kind_of_examples(file)]
        if chosen == "tag":
            splitter = raw_text_tokenizer(language, unit)
            source: Any = TaggedSource(file, _options(ReadOptions, tokenizer=splitter, **options))
        elif chosen == "classify":
            source = LabelledSource(file, _options(TextOptions, **options))
        elif chosen == "pair":
            source = PairSource(file, _options(PairOptions, **options))
        else:
            raise InputError(f"unknown kind {kind!r}", fix='Use "tag", "classify" or "pair"')
        items = tuple(source)
    return ReadExamples(chosen, file, items, source.report)


def _options(kind: Any, **options: Any) -> Any:
    """Return the reading options of a kind of examples, or raise an error for unknown ones."""
    known = [field.name for field in fields(kind)]
    if unknown := [name for name in options if name not in known]:
        raise InputError(f"unknown option of gonie.read: {', '.join(unknown)}", fix=f"Use {', '.join(known)}")
    if isinstance(options.get("meta"), str):
        options["meta"] = (options["meta"],)
    return kind(**options)


_KINDS: dict[str, Kind] = {
    TaggedFormat.kind: "tag",
    LabelledFormat.kind: "classify",
    PairFormat.kind: "pair",
}
"""The task that learns from each kind of examples."""
