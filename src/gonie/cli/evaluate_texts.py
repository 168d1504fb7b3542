"""A classifier, scored on a file with gold labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

from rich.console import Console

from gonie.cli.evaluation_files import EvaluationFiles
from gonie.cli.views.class_table import print_class_evaluation
from gonie.cli.views.error_list import print_errors, text_cells, write_errors
from gonie.explain.error_heat import ErrorHeat
from gonie.formats.labelled import LabelledSource
from gonie.metrics.class_errors import ClassError
from gonie.reports.class_report import render_classes
from gonie.reports.error_files import error_writer
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.scoring import score_texts
from gonie.text.labelled_text import LabelledText, TextOptions
from gonie.text.types import Classification


def evaluate_texts(classifier: TextClassifier, files: EvaluationFiles, *, options: TextOptions) -> None:
    """Score, show and write what was asked for."""
    write = error_writer(files.errors, ClassError) if files.errors else None  # a bad name is refused at once
    console = Console(highlight=False)
    source = LabelledSource(files.file, options)
    notes: Counter[str] = Counter()
    kept: list[LabelledText] = []

    def classify(texts: Iterable[LabelledText]) -> Iterator[Classification]:
        for found in classifier.pipe(texts):
            notes.update(found.notes)
            yield found

    with console.status(f"scoring {files.file}"):
        kept += source
        result = score_texts(kept, classify, labels=classifier.labels, several=classifier.several)
    told = [*source.report.lines(), *(f"{number:,} {note}" for note, number in notes.most_common())]
    errors = result.errors()
    try:
        for line in told:
            console.print(line, style="dim", markup=False)
        print_class_evaluation(console, result)
        if files.errors:
            print_errors(console, errors, files.errors, cells=text_cells)
    finally:  # whoever reads the first lines only (… | head) gets the files all the same
        if files.errors and write:
            write_errors(files.errors, errors, write)
        with console.status("explaining the worst errors" if files.html else "writing"):
            files.write(result, partial(render_classes, explain=ErrorHeat(classifier, kept)))
