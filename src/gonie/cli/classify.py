"""`gonie classify`: predict the labels of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.in_context import (
    LlmSettings,
    Shots,
    ShotsFrom,
    ShowPrompt,
    in_context_options,
    printing_prompt,
)
from gonie.cli.options import (
    Address,
    BulkOptions,
    Column,
    Engine,
    GivenTexts,
    ModelOrService,
    Out,
    ShardSize,
    Vectors,
    Workers,
)


def classify(
    model: ModelOrService,
    text: GivenTexts = None,
    *,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", help="File to classify: plain, .gz, .xz or .parquet. Repeatable."),
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            help='text: one text per line; jsonl: one {"text": …} per line; tsv, csv: a table with a header; '
            "parquet: a column of texts; auto: by file suffix, otherwise text."
        ),
    ] = "auto",
    output: Annotated[
        str | None,
        typer.Option(
            help="pretty: label, probability and text; jsonl: label, score and scores, after the "
            "fields of the input; parquet: a table (only with --out). Default: pretty, or jsonl with --out."
        ),
    ] = None,
    out: Out = None,
    engine: Engine = None,
    workers: Workers = 0,
    address: Address = None,
    column: Column = None,
    shard_size: ShardSize = None,
    vectors: Vectors = None,
    shots_from: ShotsFrom = None,
    shots: Shots = None,
    llm: LlmSettings = None,
    show_prompt: ShowPrompt = False,
) -> None:
    """Classify texts or pairs of texts: arguments, files or standard input.

    Results are written in input order, each as soon as it is ready. A model of text pairs takes two texts,
    as two arguments, or in a line with a tab between them.

    Examples:

      gonie classify runs/subjectivity "a film that begs to be seen"

      gonie classify runs/nsmc --file reviews.jsonl --output jsonl > labelled.jsonl

      gonie classify runs/relations "The <e1>fire</e1> was caused by the <e2>bomb</e2>."

      gonie classify runs/pairs "A man plays the flute." "A man makes music."

      gonie classify llm:qwen.gguf --shots-from train.tsv --shots 10 --file reviews.jsonl

      gonie classify runs/nsmc --file a.jsonl --file b.parquet --out labelled --output parquet
    """
    from gonie.cli.answer import AnswerCommand

    loading = in_context_options(
        model, shots_from=shots_from, shots=shots, llm=llm, show_prompt=show_prompt, task="classify"
    )
    with printing_prompt(show_prompt):
        AnswerCommand(
            command="classify",
            model=model,
            texts=text or [],
            files=file or [],
            input=input,
            output=output,
            vectors=vectors,
            bulk=BulkOptions(
                out=out, engine=engine, workers=workers, address=address, column=column, shard_size=shard_size
            ),
            loading=loading,
        ).run()
