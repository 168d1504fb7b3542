"""`gonie explain`: explain the predictions of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options import GivenTexts, ModelFolder, check_nbest_range
from gonie.system.outputs import check_output_files


def explain(
    model: ModelFolder,
    text: GivenTexts = None,
    *,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file",
            help="File of texts to explain, one per line. For classifiers also a table or JSONL (by file "
            "suffix), with or without gold labels. Repeatable.",
        ),
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a self-contained HTML page to FILE.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="attention, gradients or erasure. Default: all that the model supports. Repeatable."
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Explain this label of a classifier instead of the most probable one."),
    ] = None,
    span: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT=TYPE",
            help="Ask a tagger why this piece of the text is not tagged with this type (Samsung=ORG, "
            "Samsung#2=ORG for the second occurrence). Without =TYPE: the likeliest type. Repeatable.",
        ),
    ] = None,
    on: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Held-out file to measure faithfulness on. Default for a classifier's run folder: its own "
            "held-out data.",
        ),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(help="Number of most probable tag sequences to list (taggers). Default: 5."),
    ] = None,
) -> None:
    """Explain the predictions of a model, word by word.

    For classifiers and text pairs: word weights by attention, integrated gradients and erasure. For taggers:
    tag probabilities, the most probable tag sequences, word weights for each span, and the learned
    transitions. For models with contextual embeddings: the weights of the language model's layers. Each
    method comes with its faithfulness, measured on this model.

    Examples:

      gonie explain runs/nsmc "정말 재미있는 영화" --html why.html

      gonie explain runs/reviews --file reviews.tsv --method erasure --method attention

      gonie explain runs/pairs "A man plays the flute." "A man makes music."

      gonie explain runs/ner "George is happy about the election outcome." --nbest 3

      gonie explain runs/ner "Samsung managers met in Seoul." --span Samsung=ORG
    """
    if nbest is not None:
        check_nbest_range(nbest)
    check_output_files(html_file, inputs=[*(file or ()), on])
    from gonie.cli.process_settings import limit_spinning
    from gonie.cli.views.progress import StepProgress
    from gonie.explaining.run import explain_folder

    limit_spinning()
    options = {"label": label, "nbest": nbest, "spans": span}
    explain_folder(
        model,
        texts=text or [],
        files=file or [],
        on=on,
        methods=method or [],
        options={name: value for name, value in options.items() if value is not None},
        html=html_file,
        progress=StepProgress,
    )
