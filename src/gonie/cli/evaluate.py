"""`gonie evaluate`: score a model on a file with gold tags or labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from gonie.cli.options.decoding import Bias, Decode, with_decoding
from gonie.cli.options.stream import ModelFolder

OF_TAGS = ("mode", "repair", "separator", "word_column", "tag_column", "decode", "bias")
OF_TEXTS = ("text_column", "label_column")


def evaluate(
    context: typer.Context,
    model: ModelFolder,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A file with gold tags or labels, in any format that `gonie data` reads."
        ),
    ],
    *,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the scores, as fractions, to FILE.")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a self-contained report to FILE.")
    ] = None,
    errors_file: Annotated[
        Path | None,
        typer.Option(
            "--errors", metavar="FILE", help="List every error in its context in FILE.tsv or FILE.jsonl."
        ),
    ] = None,
    mode: Annotated[
        Literal["conlleval", "strict"],
        typer.Option(help="conlleval: as the CoNLL scorer counts; strict: only well-formed entities count."),
    ] = "conlleval",
    repair: Annotated[
        Literal["none", "error", "begin", "outside"],
        typer.Option(help="Policy for predictions that break the tag scheme."),
    ] = "none",
    format: Annotated[
        str,
        typer.Option(
            help="auto; of tags conll, conllu, jsonl, tsv, klue; of texts tsv, csv, jsonl, semeval, parallel."
        ),
    ] = "auto",
    separator: Annotated[
        str, typer.Option(help="Between columns: auto, tab, blank, or the very characters.")
    ] = "auto",
    word_column: Annotated[
        int | None, typer.Option(help="Column of the word; detected if not given.")
    ] = None,
    tag_column: Annotated[str | None, typer.Option(help="Column of the tag; detected if not given.")] = None,
    text_column: Annotated[
        str | None, typer.Option(help="Column or key of the text; as in training if not given.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Column or key of the label; as in training if not given.")
    ] = None,
    decode: Decode = "viterbi",
    bias: Bias = None,
) -> None:
    """Score a model on FILE: precision, recall and F1 with 95% intervals, by type and by novelty.

    A classifier is also measured by accuracy, AUC where there are two labels, calibration and length of text.

    Examples:

      gonie evaluate runs/ner test.conll

      gonie evaluate runs/ner test.conll --mode strict --json scores.json --html report.html

      gonie evaluate runs/ner dev.conll --errors errors.tsv

      gonie evaluate runs/ner dev.conll --decode posterior --bias 0.5

      gonie evaluate runs/nsmc test.tsv --errors worst.tsv --html report.html
    """
    from gonie.cli.evaluate_tags import evaluate_tags
    from gonie.cli.evaluate_texts import evaluate_texts
    from gonie.cli.evaluation_files import EvaluationFiles
    from gonie.formats.format import ReadOptions
    from gonie.formats.inspect import column_named
    from gonie.tasks.classification.classifier import TextClassifier
    from gonie.tasks.classification.read_options import text_options
    from gonie.tasks.load import load

    found = load(model)
    files = EvaluationFiles(model=model, file=file, json=json_file, html=html_file, errors=errors_file)
    if isinstance(found, TextClassifier):
        refuse_options(context, OF_TAGS, "a tagger")
        columns = {"text_column": text_column, "label_column": label_column}
        given = {name: column for name, column in columns.items() if column is not None}
        evaluate_texts(found, files, options=text_options(found.recipe, format=format, **given))
    else:
        refuse_options(context, OF_TEXTS, "a classifier")
        options = ReadOptions(
            format=format,
            separator=separator,
            word_column=word_column,
            tag_column=column_named(tag_column) if tag_column else None,
        )
        evaluate_tags(with_decoding(found, decode, bias), files, options=options, mode=mode, repair=repair)


def refuse_options(context: typer.Context, names: Sequence[str], owner: str) -> None:
    """Refuse what was given on the command line for the other kind of model."""
    from gonie.errors import InputError

    sources = {name: context.get_parameter_source(name) for name in names}
    given = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise InputError(
            expected="options that the model has a use for",
            got=f"{named}, which is for {owner}",
            fix="Leave it out",
        )
