"""`gonie tag`: tag text with a trained tagger."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from gonie.cli.commands import Command
from gonie.cli.in_context import (
    LlmSettings,
    Shots,
    ShotsFrom,
    ShowPrompt,
    in_context_options,
    printing_prompt,
    refuse_decoding,
)
from gonie.cli.options import (
    Address,
    Bias,
    BulkOptions,
    Column,
    Decode,
    Engine,
    GivenText,
    ModelOrService,
    NBest,
    OffsetUnit,
    Out,
    ShardSize,
    Vectors,
    Workers,
    check_nbest,
    check_offsets,
)
from gonie.errors import InputError


class OneText(Command):
    """A command with a TEXT. If the text is typed as several arguments, the error says to quote it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and refuse any that follow the text."""
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if rest:
            text = shlex.quote(" ".join([ctx.params["text"], *rest]))
            raise InputError("TEXT must be a single argument", fix=f"Quote the text: {text}")
        return rest


def tag(
    model: ModelOrService,
    text: GivenText = None,
    *,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file", help="File to tag: text, table or CoNLL; plain, .gz, .xz or .parquet. Repeatable."
        ),
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            help="text: one text per line; tokens: one sentence per line as space-separated tokens; "
            'conll: words in columns; jsonl: one {"text": …} per line; tsv, csv: a table with a header; '
            "parquet: a column of texts; auto: by file suffix and content, otherwise text."
        ),
    ] = "auto",
    output: Annotated[
        str | None,
        typer.Option(
            help="pretty: text with its labels; conll: word TAB tag (IOB2); jsonl: spans with offsets, "
            "after the fields of the input; parquet: a table (only with --out). "
            "Default: pretty, or jsonl with --out."
        ),
    ] = None,
    decode: Decode = "viterbi",
    bias: Bias = None,
    nbest: NBest = None,
    offsets: OffsetUnit = "codepoints",
    morphemes: Annotated[
        bool,
        typer.Option(
            "--morphemes",
            help="With --output conll and a model of Korean morphemes: add them as a column before the tag.",
        ),
    ] = False,
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
    """Tag a text, files or standard input.

    Results are written in input order, each as soon as it is ready.

    Examples:

      gonie tag runs/ner "George is happy about the election outcome."

      gonie tag runs/ner --file letters.txt --output jsonl > tagged.jsonl

      gonie tag runs/ner --file tickets.csv --column question --output jsonl > tagged.jsonl

      cat words.conll | gonie tag runs/ner --input conll --output conll

      gonie tag runs/ner --bias PER=1 --bias ORG=-0.5 "Finds more persons and fewer organisations."

      gonie tag runs/ner --nbest 3 "Is Jordan a person or a country?"

      gonie tag runs/ner --file posts.txt --output jsonl --offsets utf16 > for-javascript.jsonl

      gonie tag http://127.0.0.1:8000/ner "Tagged by gonie serve."

      gonie tag llm:http://127.0.0.1:8080/v1 --shots-from train.conll "Tagged by a language model."

      gonie tag runs/ner --file a.jsonl --file b.parquet --out tagged --output parquet
    """
    check_nbest(nbest, output=output, decode=decode, bias=bias)
    check_offsets(offsets, output=output, out=out)
    if morphemes and output != "conll":
        raise InputError(
            "--morphemes requires --output conll and a model of Korean morphemes",
            fix="JSONL and Parquet of such a model have the morphemes without this option",
        )
    from gonie.cli.answer import AnswerCommand
    from gonie.tasks.tagging.decoding import parse_biases

    refuse_decoding(model, decode=decode, bias=bias, nbest=nbest)
    loading = in_context_options(
        model, shots_from=shots_from, shots=shots, llm=llm, show_prompt=show_prompt, task="tag"
    )
    with printing_prompt(show_prompt):
        AnswerCommand(
            command="tag",
            model=model,
            texts=[] if text is None else [text],
            files=file or [],
            input=input,
            output=output,
            vectors=vectors,
            bulk=BulkOptions(
                out=out, engine=engine, workers=workers, address=address, column=column, shard_size=shard_size
            ),
            options={
                "decode": decode,
                "bias": parse_biases(bias or ()),
                "nbest": nbest,
                **({"morphemes": True} if morphemes else {}),
                **({"offsets": offsets} if offsets != "codepoints" else {}),
            },
            loading=loading,
        ).run()
