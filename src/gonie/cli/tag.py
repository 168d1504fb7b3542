"""`gonie tag`: tag text with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options.bulk import Address, BulkOptions, Column, Engine, Out, ShardSize, Workers
from gonie.cli.options.decoding import Bias, Decode, NBest, check_nbest
from gonie.cli.options.stream import GivenText, ModelFolder


def tag(
    model: ModelFolder,
    text: GivenText = None,
    *,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", help="A file to tag, plain, .gz, .xz or .parquet. Repeatable."),
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            help="text: one text a line; tokens: one sentence a line, tokens apart by blanks; "
            'conll: words in columns; jsonl: one {"text": …} a line; parquet: a column of texts; '
            "auto: parquet by the suffix of the file, with --out also jsonl, else text."
        ),
    ] = "auto",
    output: Annotated[
        str | None,
        typer.Option(
            help="pretty: text with its labels; conll: word TAB tag (IOB2); jsonl: spans with offsets; "
            "parquet: the same as a table, with --out. By default pretty, with --out jsonl."
        ),
    ] = None,
    decode: Decode = "viterbi",
    bias: Bias = None,
    nbest: NBest = None,
    out: Out = None,
    engine: Engine = None,
    workers: Workers = 0,
    address: Address = None,
    column: Column = None,
    shard_size: ShardSize = None,
) -> None:
    """Tag TEXT, files or standard input; results come in the order asked, as soon as they are ready.

    Examples:

      gonie tag runs/ner "George is happy about the election outcome."

      gonie tag runs/ner --file letters.txt --output jsonl > tagged.jsonl

      cat words.conll | gonie tag runs/ner --input conll --output conll

      gonie tag runs/ner --bias PER=1 --bias ORG=-0.5 "More persons, and only sure organisations."

      gonie tag runs/ner --nbest 3 "What else may Jordan be?"

      gonie tag runs/ner --file a.jsonl --file b.parquet --out tagged --output parquet
    """
    check_nbest(nbest, output=output, decode=decode, bias=bias)
    from gonie.cli.answer import AnswerCommand
    from gonie.tasks.tagging.decoding import parse_biases

    AnswerCommand(
        command="tag",
        model=model,
        texts=[] if text is None else [text],
        files=file or [],
        input=input,
        output=output,
        bulk=BulkOptions(
            out=out, engine=engine, workers=workers, address=address, column=column, shard_size=shard_size
        ),
        options={"decode": decode, "bias": parse_biases(bias or ()), "nbest": nbest},
    ).run()
