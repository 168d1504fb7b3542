"""Labelled texts and pairs, the options for reading them, and the row that every format reader yields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gonie.errors import InputError
from gonie.text.types import Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

Unlabelled = Literal["skip", "error"]
_MISSING = ("", "NaN", "nan", "null", "NULL", "<NA>", "#N/A")
"""Cells without a label, as pandas, databases and Excel write them."""


_LIST = re.compile(r"\[(?:['\"{].*)?\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text and its labels, as read from a file. A multi-label text may have any number of labels.

    ``marks`` are named ranges of ``text`` by character offset, such as the two nominals of a relation.
    ``path`` and ``line`` locate the start of the text, for messages. ``id`` is its id in the file, if it has
    one. ``meta`` are named values of the text (``year``, ``source`` …), by which scores can be grouped.
    ``vectors`` is the external vector of the text (D,), for models that read one.
    """

    text: str
    labels: tuple[str, ...] = ()
    marks: tuple[Span, ...] = ()
    path: str = ""
    line: int = 0
    id: str | int | None = field(default=None, compare=False)
    meta: Mapping[str, str] = field(default_factory=dict, compare=False)
    vectors: NDArray[Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """Options for reading a file of texts. Unset options are detected and reported.

    ``text_column`` and ``label_column`` are names in a header or keys of a JSON object. Several label columns
    hold 0 or 1 each. If ``label_column`` is None, labels are not read. ``label_separator`` separates several
    labels in one cell. If it is empty, a cell is one label. ``unlabelled`` says what to do with texts without
    a label. ``marks`` lists the names of tags that enclose parts of a text: with ``("e1",)``, ``<e1>…</e1>``.
    ``map`` has new names of labels; those that become O are dropped. ``meta`` are the names of values of the
    texts to read.
    """

    format: str = "auto"
    text_column: str = "text"
    label_column: str | tuple[str, ...] | None = "label"
    label_separator: str = ""
    unlabelled: Unlabelled = "skip"
    marks: tuple[str, ...] = ()
    map: Mapping[str, str] = field(default_factory=dict)
    meta: tuple[str, ...] = ()

    @property
    def multi_label(self) -> bool:
        """Whether a text may have several labels, or none."""
        return bool(self.label_separator) or isinstance(self.label_column, tuple)


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts and their gold answer: a label, or a value on a scale. Both are missing if it is unknown.

    ``meta`` are named values of the pair, as those of ``LabelledText``.
    """

    first: str
    second: str
    labels: tuple[str, ...] = ()
    value: float | None = None
    path: str = ""
    line: int = 0
    meta: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def text(self) -> str:
        """Both texts, one below the other, as messages and reports show a pair."""
        return f"{self.first}\n{self.second}"


class ColumnWords(NamedTuple):
    """Words for messages about the columns of the two texts, and about the column of the gold answer."""

    texts: str
    gold: str


IN_TRAINING = ColumnWords(
    """--set 'data.text_columns=["A", "B"]'""",
    "--set data.label_column=NAME, or --set data.value_column=NAME for numbers",
)
"""How training names columns."""
ASKED = ColumnWords("as asked", "as asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """Options for reading a file of pairs. Columns that are not set are detected and reported.

    ``texts`` are the columns, or JSON keys, of the two texts. ``label`` or ``value`` is the column of the
    gold answer. Without ``gold``, answers are not read. ``reasons`` say why columns are set, and ``advice``
    says how the current command names columns. ``map`` has new names of labels; pairs whose label becomes O
    are skipped. ``meta`` are the names of values of the pairs to read.
    """

    format: str = "auto"
    texts: tuple[str, str] | None = None
    label: str | None = None
    value: str | None = None
    gold: bool = True
    reasons: ColumnWords = ASKED
    advice: ColumnWords = IN_TRAINING
    map: Mapping[str, str] = field(default_factory=dict)
    meta: tuple[str, ...] = ()


class LabelledRow(NamedTuple):
    """A text before its marks are removed, with its line number. ``labels`` is None if they are missing."""

    line: int
    text: str
    labels: tuple[str, ...] | None
    id: str | int | None = None
    meta: Mapping[str, str] = MappingProxyType({})


def split_labels(cell: str, options: TextOptions, *, path: str, line: int) -> tuple[str, ...] | None:
    """Return the labels of one cell: one label, or the separated labels without duplicates.

    Return None for a missing label, or raise an error if ``options.unlabelled`` says so.
    """
    if options.label_column is None:
        return ()
    if options.label_separator:
        parts = (part.strip() for part in cell.split(options.label_separator))
        return tuple(dict.fromkeys(part for part in parts if part))
    if cell.strip() in _MISSING:
        check_unlabelled(options, path=path, line=line)
        return None
    if _LIST.fullmatch(cell.strip()):
        raise InputError(
            f"the label is a list that is written as text: {cell.strip()[:60]!r}",
            path=path,
            line=line,
            fix="Save lists as such, in JSONL or Parquet, or give a separator of labels: "
            "--label-separator CHARACTER (in a recipe data.label_separator)",
        )
    return (cell.strip(),)


def check_unlabelled(options: TextOptions, *, path: str, line: int) -> None:
    """Raise an error for a text without a label, unless such texts are skipped."""
    if options.unlabelled == "error":
        raise InputError(
            "empty label",
            path=path,
            line=line,
            fix="Label the text or remove it, or skip such texts: --set data.unlabelled=skip. If texts may "
            "have several labels or none, give their separator: "
            "--label-separator CHARACTER (in a recipe data.label_separator)",
        )


def count_labels(texts: Iterable[LabelledText | LabelledPair]) -> Counter[str]:
    """Count the texts with each label, in one pass."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.labels)
    return counts
