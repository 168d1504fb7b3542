"""`gonie classify`: label texts with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.stream_options import GivenText, ModelFolder


def classify(
    model: ModelFolder,
    text: GivenText = None,
    *,
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="A file to classify, plain, .gz or .xz. Repeatable.")
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            help='text: one text a line; jsonl: one {"text": …} a line; tsv, csv: a table with a header; '
            "auto: by the suffix of the file, else text."
        ),
    ] = "auto",
    output: Annotated[
        str,
        typer.Option(
            help="pretty: the label, its probability and the text; jsonl: label, score and scores, beside "
            "the keys of the object that was given."
        ),
    ] = "pretty",
) -> None:
    """Classify TEXT, files or standard input; results come in the order asked, as soon as they are ready.

    Examples:

      gonie classify runs/subjectivity "a film that begs to be seen"

      gonie classify runs/nsmc --file reviews.jsonl --output jsonl > labelled.jsonl

      gonie classify runs/relations "The <e1>fire</e1> was caused by the <e2>bomb</e2>."
    """
    from gonie.cli.classify_input import classified
    from gonie.cli.classify_output import writer
    from gonie.cli.classify_progress import ClassifyProgress
    from gonie.runtime.load import load_classifier

    with ClassifyProgress() as progress:
        classifier = load_classifier(model)
        write = writer(output, several=classifier.several, alone=text is not None)
        for labelled in classified(
            classifier, text=text, files=file or [], kind=input, report=progress.report
        ):
            write(labelled)
            progress.advance(labelled.found)
