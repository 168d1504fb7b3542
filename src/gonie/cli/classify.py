"""`gonie classify`: label texts with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options.bulk import Address, BulkOptions, Column, Engine, Out, ShardSize, Workers
from gonie.cli.options.stream import GivenText, ModelFolder


def classify(
    model: ModelFolder,
    text: GivenText = None,
    *,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", help="A file to classify, plain, .gz, .xz or .parquet. Repeatable."),
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            help='text: one text a line; jsonl: one {"text": …} a line; tsv, csv: a table with a header; '
            "parquet: a column of texts; auto: by the suffix of the file, else text."
        ),
    ] = "auto",
    output: Annotated[
        str | None,
        typer.Option(
            help="pretty: the label, its probability and the text; jsonl: label, score and scores, beside "
            "the keys of the object that was given; parquet: a table, with --out. By default pretty, with "
            "--out jsonl."
        ),
    ] = None,
    out: Out = None,
    engine: Engine = None,
    workers: Workers = 0,
    address: Address = None,
    column: Column = None,
    shard_size: ShardSize = None,
) -> None:
    """Classify TEXT, files or standard input; results come in the order asked, as soon as they are ready.

    Examples:

      gonie classify runs/subjectivity "a film that begs to be seen"

      gonie classify runs/nsmc --file reviews.jsonl --output jsonl > labelled.jsonl

      gonie classify runs/relations "The <e1>fire</e1> was caused by the <e2>bomb</e2>."

      gonie classify runs/nsmc --file a.jsonl --file b.parquet --out labelled --output parquet
    """
    options = BulkOptions(
        out=out, engine=engine, workers=workers, address=address, column=column, shard_size=shard_size
    )
    folder = options.folder(text, file or [])
    if folder is not None:
        from gonie.bulk.job import BulkJob
        from gonie.cli.bulk import go_over, input_kind, output_kind
        from gonie.runtime.bundle import read_about
        from gonie.tasks.classification.read_options import text_options
        from gonie.tasks.load import find_bundle

        kind = input_kind(input, ("text", "jsonl", "parquet"))
        column = column or text_options(read_about(find_bundle(model)).recipe).text_column
        job = BulkJob(task="classify", model=model, output=output_kind(output), column=column)
        go_over(file or [], folder, options, job, kind=kind)
        return
    from gonie.cli.inputs.classify import classified
    from gonie.cli.views.classify_output import writer
    from gonie.cli.views.classify_progress import ClassifyProgress
    from gonie.tasks.load import load_classifier

    with ClassifyProgress() as progress:
        classifier = load_classifier(model)
        write = writer(output or "pretty", several=classifier.several, alone=text is not None)
        for labelled in classified(
            classifier, text=text, files=file or [], kind=input, report=progress.report
        ):
            write(labelled)
            progress.advance(labelled.found)
