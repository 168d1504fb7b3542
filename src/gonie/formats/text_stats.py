"""Statistics of labelled text files: label counts, lengths, duplicates.

These functions implement ``gonie data check|stats --texts``. They return plain values and print nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike

import numpy as np

from gonie.errors import GonieError
from gonie.formats.inspect import QUANTILES
from gonie.formats.labelled import LabelledSource
from gonie.text.labelled_text import TextOptions
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


def check_texts(paths: Iterable[str | PathLike[str]], options: TextOptions) -> Iterator[TextCheck]:
    """Yield the result for each file. A file that cannot be read does not stop the others."""
    for path in paths:
        source = LabelledSource(path, options)
        try:
            for _ in source:
                pass
            yield TextCheck(str(path), source.report, "")
        except GonieError as error:
            yield TextCheck(str(path), None, str(error))


def text_stats(paths: Iterable[str | PathLike[str]], options: TextOptions) -> Iterator[TextStats]:
    """Yield the statistics of each file, with its overlap with the first file."""
    first: tuple[set[int], Counter[str]] | None = None
    for path in paths:
        measured, seen = _measured(LabelledSource(path, options), first)
        first = first or (seen, measured.labels)
        yield measured


def _measured(
    source: LabelledSource, first: tuple[set[int], Counter[str]] | None
) -> tuple[TextStats, set[int]]:
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
        key, own = hash((text.text, text.marks)), hash(frozenset(text.labels))
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
