"""What `gonie classify` reads: a text, files or standard input, as lines, JSON or tables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from gonie.cli.inputs.stream import Place, check_one_source, is_typed, read_lines, read_tables
from gonie.errors import InputError
from gonie.formats.jsonl import read_record
from gonie.formats.labelled import read_texts
from gonie.formats.table import TEXT_FORMATS
from gonie.system.files import STANDARD_INPUT
from gonie.system.parquet import SUFFIX
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.read_options import text_options
from gonie.text.labelled_text import LabelledText
from gonie.text.report import Report
from gonie.text.types import Classification

AUTO, PARQUET = "auto", "parquet"
TABLES = ("tsv", "csv")


class Given(NamedTuple):
    """A text to classify, and the JSON object it stood in, if any."""

    text: LabelledText
    record: Mapping[str, Any] | None = None


class LabelledInput(NamedTuple):
    """What was given, and what the model says of it."""

    given: Given
    found: Classification


def classified(
    classifier: TextClassifier,
    *,
    text: str | None,
    files: Sequence[str | Path],
    kind: str,
    report: Report,
) -> Iterator[LabelledInput]:
    """The labels of what the user named, in order; ``report`` gets what of tables was left out.

    ``AUTO`` goes by the suffix of each file.
    """
    if kind not in (AUTO, *KINDS, *TABLES, PARQUET):
        raise InputError(expected=f"--input {', '.join([AUTO, *KINDS, *TABLES, PARQUET])}", got=repr(kind))
    by_line = [file for file in files if PARQUET not in (kind, _by_suffix(file))]
    check_one_source(text, files if text is not None else by_line)
    if kind == AUTO and files:
        each = (_given(classifier, None, [file], _by_suffix(file), report) for file in files)
        return _labelled(classifier, chain.from_iterable(each))
    known = _given(classifier, text, files, "text" if kind == AUTO else kind, report)
    if not is_typed(text, files):
        return _labelled(classifier, known)
    return chain.from_iterable(_labelled(classifier, [given]) for given in known)


def _given(
    classifier: TextClassifier, text: str | None, files: Sequence[str | Path], kind: str, report: Report
) -> Iterator[Given]:
    """What there is to classify, all of one kind."""
    if kind == PARQUET:
        column = text_options(classifier.recipe).text_column
        return (_line(classifier, row) for row in read_tables(text, files, column=column))
    if kind in TABLES:
        return _tables(classifier, text, files, kind, report)
    rows = (KINDS[kind](classifier, row) for row in read_lines(text, files))
    return (given for given in rows if given is not None)


def _by_suffix(file: str | Path) -> str:
    """The kind of a file, as its name tells it; lines of text where it tells nothing."""
    suffixes = Path(file).suffixes
    if suffixes and suffixes[-1] == SUFFIX:
        return PARQUET
    for kind in (*KINDS, *TABLES):
        known = TEXT_FORMATS[kind].suffixes if kind in TEXT_FORMATS else ()
        if not set(known).isdisjoint(suffixes):
            return kind
    return "text"


def _labelled(classifier: TextClassifier, texts: Iterable[Given]) -> Iterator[LabelledInput]:
    """Each text with its label; those that were read ahead wait for theirs."""
    waiting: deque[Given] = deque()

    def noted() -> Iterator[LabelledText]:
        for given in texts:
            waiting.append(given)
            yield given.text

    return (LabelledInput(waiting.popleft(), found) for found in classifier.pipe(noted()))


def _line(classifier: TextClassifier, row: Place) -> Given:
    """A line is a text."""
    path, number, line = row
    return Given(classifier.text(line, path=path, line=number))


def _record(classifier: TextClassifier, row: Place) -> Given | None:
    """A line is a JSON object with a text; blank ones are passed over."""
    path, number, line = row
    if not line.strip():
        return None
    key = text_options(classifier.recipe).text_column
    record = read_record(line, path, number, key=key)
    return Given(classifier.text(record[key], path=path, line=number), record)


KINDS: Mapping[str, Callable[[TextClassifier, Place], Given | None]] = {"text": _line, "jsonl": _record}


def _tables(
    classifier: TextClassifier, text: str | None, files: Sequence[str | Path], kind: str, report: Report
) -> Iterator[Given]:
    """The texts of tables, found by the header as in training."""
    if text is not None:
        raise InputError(expected=f"--input {kind} with --file or standard input", got="a TEXT")
    options = text_options(classifier.recipe, format=kind, label_column=None)
    for path in files or [STANDARD_INPUT]:
        own = Report()
        yield from map(Given, read_texts(path, options, own))
        report.skipped.update(own.skipped)
