"""Checking, measuring and converting files of labelled texts or pairs.

These functions implement ``gonie data check|stats|convert`` for such files. They return plain values and
print nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike

import numpy as np

from gonie.errors import GonieError
from gonie.formats.detect import format_named
from gonie.formats.inspect import QUANTILES, IdFinder
from gonie.formats.labelled import LabelledSource
from gonie.formats.pairs import PairSource
from gonie.formats.table import PAIR_FORMATS, TEXT_FORMATS
from gonie.formats.tagged import check_labels
from gonie.formats.writing import write_examples
from gonie.text.labelled_text import LabelledText
from gonie.text.report import Report


@dataclass(frozen=True, slots=True)
class TextCheck:
    """The result of checking one file: what reading found, or why it could not be read."""

    path: str
    report: Report | None
    error: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """The overlap with the first file: the number of shared texts, and the labels that only this file has."""

    texts: int
    new_labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextStats:
    """The statistics of one file.

    ``lengths`` are quantiles, at ``inspect.QUANTILES``, of space-separated words per text. ``repeated``
    counts texts that occurred earlier in the file, ``contradicted`` those that occurred with other labels.
    """

    path: str
    labels: Counter[str]
    unlabelled: int
    multi_label: int
    lengths: tuple[float, ...]
    repeated: int
    contradicted: int
    overlap: Overlap | None
    report: Report


Source = LabelledSource | PairSource


def check_texts(source: Source) -> TextCheck:
    """Read a whole file, and return what was found or why it cannot be read."""
    try:
        labels = Counter(label for example in source for label in example.labels)
        report = source.report
        if source.options.format == "auto":
            check_labels(labels, report.texts or report.pairs, noun="label", path=report.path)
        return TextCheck(str(source.path), report, "")
    except GonieError as error:
        return TextCheck(str(source.path), None, str(error))


def text_stats(sources: Iterable[Source]) -> Iterator[TextStats]:
    """Yield the statistics of each file, with its overlap with the first file."""
    first: tuple[set[int], Counter[str]] | None = None
    for source in sources:
        measured, seen = _measured(source, first)
        first = first or (seen, measured.labels)
        yield measured


def convert_texts(source: Source, *, to: str, out: str | PathLike[str]) -> tuple[int, bool]:
    """Write the texts or pairs of a file in another format. Return their number, and if one has an id."""
    formats = PAIR_FORMATS if isinstance(source, PairSource) else TEXT_FORMATS
    ids = IdFinder(source)
    return write_examples(out, format_named(to, formats), ids), ids.found


def _measured(source: Source, first: tuple[set[int], Counter[str]] | None) -> tuple[TextStats, set[int]]:
    """Return the statistics of a file and the hashes of its texts. The texts themselves may be too many."""
    labels: Counter[str] = Counter()
    seen: dict[int, int] = {}  # hash of a text -> hash of its first labels
    unlabelled = multi_label = repeated = contradicted = shared = 0
    lengths = []
    for text in source:
        labels.update(text.labels)
        unlabelled += not text.labels
        multi_label += len(text.labels) > 1
        lengths.append(len(text.text.split()))
        marks = text.marks if isinstance(text, LabelledText) else ()
        key, own = hash((text.text, marks)), hash(frozenset(text.labels))
        repeated += key in seen
        contradicted += seen.setdefault(key, own) != own
        shared += first is not None and key in first[0]
    measured = TextStats(
        path=str(source.path),
        labels=labels,
        unlabelled=unlabelled,
        multi_label=multi_label,
        lengths=tuple(float(length) for length in np.quantile(lengths, QUANTILES)),
        repeated=repeated,
        contradicted=contradicted,
        overlap=None if first is None else Overlap(shared, tuple(sorted(labels.keys() - first[1].keys()))),
        report=source.report,
    )
    return measured, set(seen)
