"""`gonie embed`: contextual embeddings from a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from gonie.cli.options import GivenText
from gonie.system.outputs import check_output_files


def embed(
    bilm: Annotated[
        str,
        typer.Argument(
            metavar="BILM",
            help="A language model: en or ko, which ship with gonie, or a folder from `gonie pretrain` or "
            "`gonie import-elmo`.",
        ),
    ],
    text: GivenText = None,
    *,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File to write: .npz, .h5 or .hdf5.")],
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="File to embed: plain, .gz or .xz. Repeatable.")
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            help="text: one text per line; tokens: one sentence per line as space-separated tokens; "
            'conll: words in columns; jsonl: one {"text": …} per line.'
        ),
    ] = "text",
    device: Annotated[
        Literal["auto", "cpu", "cuda"], typer.Option(help="auto uses a GPU if there is one.")
    ] = "auto",
) -> None:
    """Write contextual embeddings of a text, files or standard input.

    Writes one array of shape (layers, tokens, width) per sentence, under the keys "0", "1", … in input order.

    Examples:

      gonie embed en "They play in the play." --out play.npz

      gonie embed runs/bilm --file corpus.txt.gz --out corpus.h5

      gonie embed runs/bilm --file train.conll --input conll --out train.npz
    """
    from gonie.cli.process_settings import keep_freed_memory, limit_spinning

    check_output_files(out, inputs=file or ())
    limit_spinning()
    keep_freed_memory()
    from itertools import tee

    from gonie.cli.inputs import read_sentences
    from gonie.cli.views.embed_output import vector_file
    from gonie.cli.views.progress import StepProgress
    from gonie.messages import say
    from gonie.tasks.language_model.torch.embedder import Embedder, pick_device
    from gonie.tasks.language_model.torch.folder import load_bilm
    from gonie.tasks.paths import shadowed_folder
    from gonie.text.report import count
    from gonie.text.tokenizers import tokenizer

    place = pick_device(device)
    if shadow := shadowed_folder(bilm):
        typer.echo(say(f"note: {shadow}"), err=True)
    with vector_file(out) as write, StepProgress("embedding") as progress:
        saved = load_bilm(bilm)
        embedder = Embedder(saved, device=place)
        cut = tokenizer(language=saved.language, unit=saved.unit, fold=True)
        # the tee holds what was read but is not embedded yet: at most one group
        given, known = tee(read_sentences(cut, text=text, files=file or [], kind=input))
        number = tokens = 0
        for words, vectors in zip(known, embedder.pipe(given), strict=True):
            write(words, vectors)
            number, tokens = number + 1, tokens + len(words)
            progress.describe(f"{number:,} sentences, {tokens:,} tokens")
    counts = f"{count(number, 'sentence')}, {count(tokens, 'token')}"
    told = f"{counts}; {embedder.depth} layers of width {embedder.width}"
    typer.echo(f"{out}: {say(told)}")
