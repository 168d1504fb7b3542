"""`gonie tag`: tag text with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.dial import Bias, Decode, turned
from gonie.cli.stream_options import GivenText, ModelFolder


def tag(
    model: ModelFolder,
    text: GivenText = None,
    *,
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="A file to tag, plain, .gz or .xz. Repeatable.")
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            help="text: one text a line; tokens: one sentence a line, tokens apart by blanks; "
            'conll: words in columns; jsonl: one {"text": …} a line.'
        ),
    ] = "text",
    output: Annotated[
        str,
        typer.Option(
            help="pretty: text with its labels; conll: word TAB tag (IOB2); jsonl: spans with offsets."
        ),
    ] = "pretty",
    decode: Decode = "viterbi",
    bias: Bias = None,
) -> None:
    """Tag TEXT, files or standard input; results come in the order asked, as soon as they are ready.

    Examples:

      gonie tag runs/ner "George is happy about the election outcome."

      gonie tag runs/ner --file letters.txt --output jsonl > tagged.jsonl

      cat words.conll | gonie tag runs/ner --input conll --output conll

      gonie tag runs/ner --bias PER=1 --bias ORG=-0.5 "More persons, and only sure organisations."
    """
    from gonie.cli.tag_input import documents
    from gonie.cli.tag_output import writer
    from gonie.cli.tag_progress import TagProgress
    from gonie.runtime.load import load_tagger

    with TagProgress() as progress:
        tagger = turned(load_tagger(model), decode, bias)
        write = writer(output, tagger.encoding.scheme)
        for document in documents(tagger, text=text, files=file or [], kind=input):
            write(document)
            progress.advance(document)
