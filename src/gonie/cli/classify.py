"""`gonie classify`: label texts with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options.bulk import Address, BulkOptions, Column, Engine, Out, ShardSize, Workers
from gonie.cli.options.stream import GivenTexts, ModelFolder


def classify(
    model: ModelFolder,
    text: GivenTexts = None,
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
    from gonie.cli.answer import AnswerCommand

    AnswerCommand(
        command="classify",
        model=model,
        texts=text or [],
        files=file or [],
        input=input,
        output=output,
        bulk=BulkOptions(
            out=out, engine=engine, workers=workers, address=address, column=column, shard_size=shard_size
        ),
    ).run()
