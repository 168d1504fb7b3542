"""`gonie explain`: why a model answers as it does, and how far that can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options.decoding import check_number
from gonie.cli.options.stream import GivenText, ModelFolder


def explain(
    model: ModelFolder,
    text: GivenText = None,
    *,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file",
            help="Texts to explain, one a line; for a classifier also a table or JSONL, by its suffix, with "
            "gold labels or without. Repeatable.",
        ),
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a self-contained page to FILE.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="attention, gradients or erasure. Repeatable; all that the model allows if not given."
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Explain this label of a classifier, not the one it finds most probable."),
    ] = None,
    on: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Held-out texts to measure faithfulness on; a classifier's run folder has its own.",
        ),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(help="How many taggings of a sentence a tagger lists; 5 if not given."),
    ] = None,
) -> None:
    """Explain answers word by word, with how faithful each method is on this very model.

    For classifiers: attention, integrated gradients and erasure over the words. For taggers: the
    probabilities of tags, the likeliest taggings, what each span rests on, and the learned transitions. For
    models with a language model's vectors also how they mix its layers.

    Examples:

      gonie explain runs/nsmc "정말 재미있는 영화" --html why.html

      gonie explain runs/reviews --file reviews.tsv --method erasure --method attention

      gonie explain runs/ner "George is happy about the election outcome." --nbest 3
    """
    if nbest is not None:
        check_number(nbest)
    from gonie.cli.threads import calm_threads
    from gonie.cli.views.waiting import Waiting
    from gonie.explain.run import explain_folder

    calm_threads()
    options = {"label": label, "nbest": nbest}
    explain_folder(
        model,
        text=text,
        files=file or [],
        on=on,
        methods=method or [],
        options={name: value for name, value in options.items() if value is not None},
        html=html_file,
        wait=Waiting,
    )
