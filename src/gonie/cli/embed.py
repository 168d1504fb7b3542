"""`gonie embed`: vectors in context from a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from gonie.cli.options.stream import GivenText


def embed(
    bilm: Annotated[
        Path,
        typer.Argument(
            metavar="BILM", help="A language model that `gonie pretrain` or `gonie import-elmo` left."
        ),
    ],
    text: GivenText = None,
    *,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="FILE.npz, FILE.h5 or FILE.hdf5: an array a sentence.")
    ],
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="A file to read, plain, .gz or .xz. Repeatable.")
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            help="text: one text a line; tokens: one sentence a line, tokens apart by blanks; "
            'conll: words in columns; jsonl: one {"text": …} a line.'
        ),
    ] = "text",
    device: Annotated[
        Literal["auto", "cpu", "cuda"], typer.Option(help="auto takes a GPU where there is one.")
    ] = "auto",
) -> None:
    """Write every layer of every token of TEXT, files or standard input: one array (layers, tokens, width) a
    sentence, under "0", "1", … in the order asked.

    Examples:

      gonie embed runs/bilm "They play in the play." --out play.npz

      gonie embed runs/bilm --file corpus.txt.gz --out corpus.h5

      gonie embed runs/bilm --file train.conll --input conll --out train.npz
    """
    from gonie.cli.heap import keep_heap
    from gonie.cli.threads import calm_threads

    calm_threads()
    keep_heap()
    from itertools import tee

    from gonie.cli.inputs import read_sentences
    from gonie.cli.views.embed_output import vector_file
    from gonie.cli.views.waiting import Waiting
    from gonie.tasks.language_model.torch.embedder import Embedder, pick_device
    from gonie.tasks.language_model.torch.folder import load_bilm
    from gonie.text.tokenizers import tokenizer

    place = pick_device(device)
    with vector_file(out) as write, Waiting("embedding") as waiting:
        saved = load_bilm(bilm)
        embedder = Embedder(saved, device=place)
        cut = tokenizer(language=saved.language, unit=saved.unit)
        # what was read ahead and is not yet embedded waits in the tee, a group at most
        given, known = tee(read_sentences(cut, text=text, files=file or [], kind=input))
        number = tokens = 0
        for words, vectors in zip(known, embedder.pipe(given), strict=True):
            write(words, vectors)
            number, tokens = number + 1, tokens + len(words)
            waiting.say(f"{number:,} sentences, {tokens:,} tokens")
    shape = f"{embedder.depth} layers of width {embedder.width}"
    typer.echo(f"{out}: sentences {number:,}, tokens {tokens:,}; {shape}")
