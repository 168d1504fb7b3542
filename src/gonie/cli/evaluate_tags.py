"""A tagger, scored on a file with gold tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rich.console import Console

from gonie.cli.evaluation_files import EvaluationFiles
from gonie.cli.views.error_list import print_errors, span_cells, write_errors
from gonie.cli.views.evaluation_table import print_evaluation
from gonie.formats.format import ReadOptions
from gonie.formats.tagged import TaggedSource
from gonie.metrics.errors import Error
from gonie.metrics.evaluation import RepairPolicy
from gonie.reports.error_files import error_writer
from gonie.reports.tag_report import render
from gonie.tasks.tagging.scoring import score_source
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.schemes import Mode
from gonie.text.tokenizers import Tokenizer


def evaluate_tags(
    tagger: Tagger, files: EvaluationFiles, *, options: ReadOptions, mode: Mode, repair: RepairPolicy
) -> None:
    """Score, show and write what was asked for; ``options`` are those that the user named."""
    write = error_writer(files.errors, Error) if files.errors else None  # a bad name is refused at once
    console = Console(highlight=False)
    data = tagger.recipe.get("data", {})
    source = TaggedSource(files.file, _as_in_training(options, data, tagger.tokenizer))
    with console.status(f"scoring {files.file}"):
        result = score_source(
            source,
            tagger.tag_sentences,
            model_scheme=tagger.encoding.scheme,
            known_tags=tagger.labels,
            mode=mode,
            repair=repair,
            seen=files.model / "seen.json",
            types=data.get("types", ()),
        )
    errors = result.errors() if files.errors else []
    try:
        for line in source.report.lines():
            console.print(line, style="dim", markup=False)
        print_evaluation(console, result)
        if files.errors:
            print_errors(console, errors, files.errors, cells=span_cells, text="in context")
    finally:  # whoever reads the first lines only (… | head) gets the files all the same
        if files.errors and write:
            write_errors(files.errors, errors, write)
        files.write(result, render)


def _as_in_training(options: ReadOptions, data: Mapping[str, Any], tokenizer: Tokenizer) -> ReadOptions:
    """What the user did not name is as the model's recipe has it."""
    column = data.get("tag_column") if options.tag_column is None else options.tag_column
    return replace(options, tag_column=column, columns=data.get("columns", {}), tokenizer=tokenizer)
