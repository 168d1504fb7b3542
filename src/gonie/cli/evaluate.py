"""`gonie evaluate`: score a model on a file with gold tags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from gonie.cli.dial import Bias, Decode, turned


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A run folder or a bundle.")],
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A file with gold tags, in any format that `gonie data` reads."),
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
    format: Annotated[str, typer.Option(help="auto, conll, conllu, jsonl, tsv or klue.")] = "auto",
    separator: Annotated[
        str, typer.Option(help="Between columns: auto, tab, blank, or the very characters.")
    ] = "auto",
    word_column: Annotated[
        int | None, typer.Option(help="Column of the word; detected if not given.")
    ] = None,
    tag_column: Annotated[str | None, typer.Option(help="Column of the tag; detected if not given.")] = None,
    decode: Decode = "viterbi",
    bias: Bias = None,
) -> None:
    """Score a model on FILE: precision, recall and F1 with 95% intervals, by type and by novelty.

    Examples:

      gonie evaluate runs/ner test.conll

      gonie evaluate runs/ner test.conll --mode strict --json scores.json --html report.html

      gonie evaluate runs/ner dev.conll --errors errors.tsv

      gonie evaluate runs/ner dev.conll --decode posterior --bias 0.5
    """
    import json

    from rich.console import Console

    from gonie.cli.error_list import print_errors, write_errors
    from gonie.cli.evaluation_table import print_evaluation
    from gonie.data.files import atomic_write
    from gonie.data.formats import ReadOptions, Source
    from gonie.data.inspect import column_named
    from gonie.metrics.error_files import error_writer
    from gonie.metrics.errors import Error
    from gonie.metrics.report import render
    from gonie.metrics.scoring import score_source
    from gonie.runtime.load import load_tagger
    from gonie.training.folder import RunFolder

    write = error_writer(errors_file, Error) if errors_file else None  # a bad name is refused at once
    tagger = turned(load_tagger(model), decode, bias)
    console = Console(highlight=False)
    data = tagger.recipe.get("data", {})
    options = ReadOptions(
        format=format,
        separator=separator,
        word_column=word_column,
        tag_column=column_named(tag_column) if tag_column else data.get("tag_column"),
        columns=data.get("columns", {}),
        tokenizer=tagger.tokenizer,
    )
    source = Source(file, options)
    with console.status(f"scoring {file}"):
        result = score_source(
            source,
            tagger.tag_sentences,
            model_scheme=tagger.encoding.scheme,
            known_tags=tagger.labels,
            mode=mode,
            repair=repair,
            seen=model / "seen.json",
            types=data.get("types", ()),
        )
    for line in source.report.lines():
        console.print(line, style="dim", markup=False)
    print_evaluation(console, result)
    if errors_file and write:
        errors = result.errors()
        write_errors(errors_file, errors, write)
        print_errors(console, errors, errors_file)
    if json_file:
        atomic_write(json_file, json.dumps(result.to_json(), ensure_ascii=False, indent=1))
    if html_file:
        title, curve = f"{model.name} on {file.name}", RunFolder(model).history()
        atomic_write(html_file, render(result, title=title, curve=curve, details={"file": str(file)}))
