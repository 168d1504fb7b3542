"""Labelled texts in parallel files: line i of ``seq.in`` is a text, line i of ``label`` its label.

Intent corpora (SNIPS, ATIS) have this format, with the slots of each text in a third file, ``seq.out``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from gonie.errors import InputError
from gonie.formats.content import FileHead
from gonie.formats.format import LabelledFormat
from gonie.system.files import lines
from gonie.text.labelled_text import LabelledRow, TextOptions, split_labels
from gonie.text.report import Report

TEXTS, LABELS = "seq.in", "label"
_SUFFIXES = ("", ".gz", ".xz")


def is_parallel(folder: Path) -> bool:
    """Return whether a folder holds texts in parallel files."""
    return any((folder / f"{TEXTS}{suffix}").is_file() for suffix in _SUFFIXES)


def read_parallel(folder: Path, options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield each text with its label. Raise InputError where the shorter file ends."""
    path = _find(folder, TEXTS)
    report.path = str(path)
    if options.label_column is None:
        for number, text in lines(path):
            yield LabelledRow(number, text, ())
        return
    label_path = _find(folder, LABELS)
    for number, (text_line, label_line) in enumerate(zip_longest(lines(path), lines(label_path)), 1):
        if text_line is None or label_line is None:
            raise InputError(
                f"the file ends here, but {LABELS if text_line is None else TEXTS} has more lines",
                path=path if text_line is None else label_path,
                line=number,
                fix=f"{TEXTS} and {LABELS} must have the same number of lines",
            )
        text = text_line[1]
        labels = (
            split_labels(label_line[1], options, path=str(label_path), line=number) if text.strip() else ()
        )
        yield LabelledRow(number, text, labels)


def _find(folder: Path, name: str) -> Path:
    for suffix in _SUFFIXES:
        if (folder / f"{name}{suffix}").is_file():
            return folder / f"{name}{suffix}"
    raise InputError(
        f"no file {name} in the folder" if folder.is_dir() else "folder not found",
        path=folder,
        fix=f"The parallel format is a folder with the files {TEXTS} and {LABELS}",
    )


def _recognise(head: FileHead) -> str | None:
    return f"a folder with {TEXTS} and {LABELS}" if head.folder and is_parallel(head.folder) else None


LABELLED = (
    LabelledFormat(
        name="parallel",
        description="a folder with seq.in and label, line by line",
        read=lambda content, options, report: read_parallel(content.path, options, report),
        recognise=_recognise,
    ),
)
