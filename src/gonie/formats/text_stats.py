"""What is in files of labelled texts: how many of each label, how long, what comes twice.

These are the functions behind ``gonie data check|stats --texts``; they return plain values and print nothing.
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
    """The verdict on one file: what reading found, or why it could not be read."""

    path: str
    report: Report | None
    error: str


@dataclass(frozen=True, slots=True)
class Known:
    """What a file shares with the first one: its texts that are there too, and its labels that are not."""

    texts: int
    unmet: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextStats:
    """The measures of one file.

    ``lengths`` are quantiles, at ``inspect.QUANTILES``, of the words of a text, apart by blanks. ``repeated``
    counts texts that stood in the file before, ``contradicted`` those that stood there with other labels.
    """

    path: str
    labels: Counter[str]
    unlabelled: int
    several: int
    lengths: tuple[float, ...]
    repeated: int
    contradicted: int
    known: Known | None
    report: Report


def check_texts(paths: Iterable[str | PathLike[str]], options: TextOptions) -> Iterator[TextCheck]:
    """Yield the verdict on each file; one that cannot be read does not hide the next."""
    for path in paths:
        source = LabelledSource(path, options)
        try:
            for _ in source:
                pass
            yield TextCheck(str(path), source.report, "")
        except GonieError as error:
            yield TextCheck(str(path), None, str(error))


def text_stats(paths: Iterable[str | PathLike[str]], options: TextOptions) -> Iterator[TextStats]:
    """Yield the measures of each file, with what it shares with the first one."""
    first: tuple[set[int], Counter[str]] | None = None
    for path in paths:
        measured, seen = _measured(LabelledSource(path, options), first)
        first = first or (seen, measured.labels)
        yield measured


def _measured(
    source: LabelledSource, first: tuple[set[int], Counter[str]] | None
) -> tuple[TextStats, set[int]]:
    """The measures of a file, and the hashes of its texts: the texts themselves may be many."""
    labels: Counter[str] = Counter()
    seen: dict[int, int] = {}  # the hash of a text, and that of the labels it first came with
    unlabelled = several = repeated = contradicted = shared = 0
    lengths = []
    for text in source:
        labels.update(text.labels)
        unlabelled += not text.labels
        several += len(text.labels) > 1
        lengths.append(len(text.text.split()))
        key, own = hash((text.text, text.marks)), hash(frozenset(text.labels))
        repeated += key in seen
        contradicted += seen.setdefault(key, own) != own
        shared += first is not None and key in first[0]
    measured = TextStats(
        path=str(source.path),
        labels=labels,
        unlabelled=unlabelled,
        several=several,
        lengths=tuple(float(length) for length in np.quantile(lengths, QUANTILES)),
        repeated=repeated,
        contradicted=contradicted,
        known=None if first is None else Known(shared, tuple(sorted(labels.keys() - first[1].keys()))),
        report=source.report,
    )
    return measured, set(seen)
