"""`gonie evaluate`: score a model on a labelled file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gonie.cli.options import (
    Bias,
    Decode,
    FormatName,
    LabelRules,
    ModelFolder,
    Separator,
    TagColumn,
    TagNames,
    WordColumn,
    check_output_files,
)

if TYPE_CHECKING:
    from gonie.tasks.evaluation import FileScores
    from gonie.tasks.loaded import LoadedModel

TASK_OPTIONS = (
    *("mode", "repair", "separator", "word_column", "tag_column", "tag_names"),
    *("decode", "bias", "map"),
    *("text_column", "label_column"),
)
"""Options that apply only to models of some tasks (``Evaluator.options`` lists those of a task)."""


def evaluate(
    context: typer.Context,
    model: ModelFolder,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="File with gold tags or labels, in any format that `gonie data` reads."
        ),
    ],
    *,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the scores as fractions to FILE.")
    ] = None,
    html_file: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a self-contained HTML report to FILE."),
    ] = None,
    errors_file: Annotated[
        Path | None,
        typer.Option(
            "--errors", metavar="FILE", help="Write every error with its context to FILE (.tsv or .jsonl)."
        ),
    ] = None,
    mode: Annotated[
        Literal["conlleval", "strict"],
        typer.Option(help="conlleval: as the CoNLL scorer; strict: only well-formed entities count."),
    ] = "conlleval",
    repair: Annotated[
        Literal["none", "error", "begin", "outside"],
        typer.Option(
            help="Predictions that violate the tag scheme: none keeps them, error stops, begin turns them "
            "into the start of an entity, outside into O."
        ),
    ] = "none",
    format: FormatName = "auto",
    separator: Separator = "auto",
    word_column: WordColumn = None,
    tag_column: TagColumn = None,
    tag_names: TagNames = None,
    text_column: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            "--text-column",
            help="Column or JSON key of the text; twice for a model of text pairs. Default: as in training.",
        ),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            "--label",
            "--label-column",
            help="Column or JSON key of the label or value. Default: as in training.",
        ),
    ] = None,
    decode: Decode = "viterbi",
    bias: Bias = None,
    map: LabelRules = None,
) -> None:
    """Score a model on a file with gold tags or labels.

    Prints precision, recall and F1 with 95% confidence intervals, per type and for seen and unseen entities,
    and the calibration of probabilities. For classifiers also accuracy, AUC (two labels), and scores by text
    length. For values of text pairs, the correlation with the gold values.

    Examples:

      gonie evaluate runs/ner test.conll

      gonie evaluate runs/ner test.conll --mode strict --json scores.json --html report.html

      gonie evaluate runs/ner dev.conll --errors errors.tsv

      gonie evaluate runs/ner dev.conll --decode posterior --bias 0.5

      gonie evaluate runs/nsmc test.tsv --errors worst.tsv --html report.html
    """
    given = [name for name in TASK_OPTIONS if _is_given(context, name)]
    values = context.params
    _evaluate(
        model,
        file,
        given={name: values[name] for name in given},
        format=format,
        json_file=json_file,
        html_file=html_file,
        errors_file=errors_file,
    )


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _evaluate(
    model: Path,
    file: Path,
    *,
    given: Mapping[str, Any],
    format: str,
    json_file: Path | None,
    html_file: Path | None,
    errors_file: Path | None,
) -> None:
    """Score a file, print the scores and write the requested files. ``given`` are options of the task."""
    import json
    from shlex import quote

    from gonie.errors import InputError
    from gonie.reports.console import MessageConsole
    from gonie.reports.error_list import error_writer, print_errors, write_errors
    from gonie.system.files import atomic_write
    from gonie.tasks.evaluation import FORMAT
    from gonie.tasks.load import is_model
    from gonie.tasks.loaded import load_model

    check_output_files(json_file, html_file, errors_file)
    if model.is_file() and is_model(file):
        raise InputError(
            f"{model} is a file, and {file} is a model",
            fix=f"Type: gonie evaluate {quote(str(file))} {quote(str(model))}",
        )
    loaded = load_model(model)
    evaluator = loaded.evaluator(given)
    # before scoring, since it refuses an unknown file suffix
    write = error_writer(errors_file, evaluator.error) if errors_file else None
    console = MessageConsole(highlight=False)
    with console.status(f"scoring {file}"):
        scores = evaluator.score(loaded.model, file, folder=model, options={**given, FORMAT: format})
    errors = scores.errors() if errors_file else []
    try:
        for line in [*scores.notes, *loaded.notes_on(file)]:
            console.print(line, style="dim", markup=False)
        scores.show(console)
        if errors_file:
            cells, heading = evaluator.error_cells(), evaluator.error_heading
            print_errors(console, errors, errors_file, cells=cells, text=heading)
    finally:  # write the files even if standard output is closed early, as by … | head
        if errors_file and write:
            write_errors(errors_file, errors, write)
        if json_file:
            atomic_write(json_file, json.dumps(scores.evaluation.to_json(), ensure_ascii=False, indent=1))
        if html_file:
            with console.status("explaining the worst errors"):
                atomic_write(html_file, _page(loaded, model, file, scores))


def _page(loaded: LoadedModel, model: Path, file: Path, scores: FileScores) -> str:
    from functools import partial

    from gonie.explaining.error_heat import ErrorHeat
    from gonie.messages import say
    from gonie.training.folder import RunFolder

    explanation = loaded.task.explanation
    explained = None if explanation is None else partial(explanation().explained, loaded.model)
    return scores.page(
        title=f"{model.name}{say(' on ')}{file.name}",
        curve=RunFolder(model).history(),
        details={"file": str(file)},
        explain=None if explained is None else ErrorHeat(explained, scores.examples),
    )
