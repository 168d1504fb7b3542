"""`gonie evaluate`: score a model on labelled files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

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
    Bias,
    Decode,
    FormatName,
    LabelRules,
    ModelFolder,
    Separator,
    TagColumn,
    TagNames,
    WordColumn,
)
from gonie.errors import InputError
from gonie.system.outputs import check_output_files

if TYPE_CHECKING:
    from rich.status import Status

    from gonie.reports.console import MessageConsole
    from gonie.tasks.evaluated_files import EvaluatedFiles
    from gonie.tasks.loaded import LoadedModel

LIMIT = 2000
"""The most examples with noise, unless given."""

TASK_OPTIONS = (
    *("mode", "repair", "separator", "word_column", "tag_column", "tag_names"),
    *("decode", "bias", "map"),
    *("text_column", "label_column"),
    "vectors",
)
"""Options that apply only to models of some tasks (``Evaluator.options`` lists those of a task)."""


def evaluate(
    context: typer.Context,
    model: ModelFolder,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="File with gold tags or labels, in any format that `gonie data` reads. Several files are "
            "compared with the first; NAME=FILE gives a file a name.",
        ),
    ],
    *,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Also score the examples of each value of a column, JSON key or comment '# NAME = value', "
            "such as year. Can be repeated.",
        ),
    ] = None,
    noise: Annotated[
        bool,
        typer.Option(
            "--noise",
            help="Also score the texts with noise: one typo in 5, 10, 20 and 40% of the words (a "
            "neighbouring key, two letters swapped, one missing or doubled); all in lower, upper or title "
            "case; 10, 30 and 100% of the spaces lost. Random noise is drawn three times.",
        ),
    ] = False,
    limit: Annotated[
        int, typer.Option(metavar="N", min=0, help="With --noise: the most examples that get it; 0: all.")
    ] = LIMIT,
    ensemble: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="MODEL",
            help="Another model with the same labels: score the mean of the probabilities of all models. Can "
            "be repeated.",
        ),
    ] = None,
    mc_dropout: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Score the mean of the probabilities of N passes of the network with dropout. MODEL must be "
            "a run folder.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="With --mc-dropout: the seed of the dropout.", min=0)] = 0,
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
    vectors: Annotated[
        list[str] | None,
        typer.Option(
            "--vectors",
            metavar="FILE",
            help="External vectors of FILE (.npz or .parquet), for a model with model.external. Repeat it "
            "for each file, in order, or write NAME=FILE.",
        ),
    ] = None,
    shots_from: ShotsFrom = None,
    shots: Shots = None,
    llm: LlmSettings = None,
    show_prompt: ShowPrompt = False,
) -> None:
    """Score a model on a file with gold tags or labels.

    Prints precision, recall and F1 with 95% confidence intervals, per type and for seen and unseen entities,
    and the calibration of probabilities. For classifiers also accuracy, AUC (two labels), and scores by text
    length. For values of text pairs, the correlation with the gold values.

    Of several files, the first should be like the training data: the gap of each other file to it is shown.

    Examples:

      gonie evaluate runs/ner test.conll

      gonie evaluate runs/ner test.conll --mode strict --json scores.json --html report.html

      gonie evaluate runs/ner dev.conll --errors errors.tsv

      gonie evaluate runs/ner dev.conll --decode posterior --bias 0.5

      gonie evaluate runs/nsmc test.tsv --errors worst.tsv --html report.html

      gonie evaluate runs/ner news=test.conll web=wnut.conll --map wnut

      gonie evaluate runs/ner test.jsonl --by year --noise --html report.html

      gonie evaluate runs/ner-1 test.conll --ensemble runs/ner-2 --ensemble runs/ner-3

      gonie evaluate runs/ner test.conll --mc-dropout 20

      gonie evaluate runs/ner-pictures test.conll --vectors test.npz

      gonie evaluate llm:http://127.0.0.1:8080/v1 test.conll --shots-from train.conll --shots 5
    """
    given = [name for name in TASK_OPTIONS if _is_given(context, name)]
    values = context.params
    if _is_given(context, "limit") and not noise:
        raise InputError("--limit applies only to --noise", fix="Add --noise, or leave --limit out")
    if _is_given(context, "seed") and mc_dropout is None:
        raise InputError("--seed applies only to --mc-dropout", fix="Add --mc-dropout N, or leave --seed out")
    if mc_dropout is not None and ensemble:
        raise InputError("--mc-dropout cannot be combined with --ensemble", fix="Leave one of them out")
    refuse_decoding(model, decode=decode, bias=bias)
    loading = in_context_options(model, shots_from=shots_from, shots=shots, llm=llm, show_prompt=show_prompt)
    with printing_prompt(show_prompt):
        _evaluate(
            model,
            parse_files(files),
            given={name: values[name] for name in given if values[name] is not None},
            loading=loading,
            members=Members(tuple(ensemble or ()), mc_dropout, seed),
            extras=Extras(tuple(dict.fromkeys(by or ())), limit if noise else None),
            format=format,
            outputs=Outputs(json_file, html_file, errors_file),
        )


class Members(NamedTuple):
    """Other models of an ensemble, or the number of passes with dropout and their seed."""

    others: tuple[Path, ...]
    passes: int | None
    seed: int

    def of(self, loaded: LoadedModel, advance: Callable[[int, int], None]) -> LoadedModel:
        """Return the model, or its ensemble, which reports its progress."""
        if self.passes is not None:
            return loaded.with_passes(self.passes, seed=self.seed, advance=advance)
        return loaded.combined(self.others, advance) if self.others else loaded

    def line(self) -> str | None:
        """Return what the scores are of, None for a single model."""
        if self.passes is not None:
            return f"mean of passes with dropout: {self.passes}"
        return f"ensemble of {len(self.others) + 1} models" if self.others else None

    def to_json(self, model: Path) -> dict[str, Any]:
        """Return the models, or the passes, as plain values; nothing for a single model."""
        if self.passes is not None:
            return {"mc_dropout": {"passes": self.passes, "seed": self.seed}}
        return {"ensemble": [str(each) for each in (model, *self.others)]} if self.others else {}


class Extras(NamedTuple):
    """The columns by which examples are grouped, and the most examples with noise; None: no noise."""

    by: tuple[str, ...]
    noisy: int | None


class Outputs(NamedTuple):
    """The files to write, if any."""

    json: Path | None
    html: Path | None
    errors: Path | None


class NamedFiles(NamedTuple):
    """The files to score by name. ``named`` says that they are compared."""

    paths: Mapping[str, Path]
    named: bool


def parse_files(arguments: Sequence[str]) -> NamedFiles:
    """Return the files of arguments ``FILE`` and ``NAME=FILE``. The default name is the stem."""
    found: dict[str, Path] = {}
    named = len(arguments) > 1
    for argument in arguments:
        name, equals, path = argument.partition("=")
        whole = not equals or not name or not path or Path(argument).exists()
        named = named or not whole
        name, file = (Path(argument).stem, Path(argument)) if whole else (name, Path(path))
        if name in found:
            raise InputError(
                f"two files have the name {name}: {found[name]} and {file}",
                fix="Name them: NAME=FILE" if whole else "Give each its own name",
            )
        found[name] = file
    return NamedFiles(found, named)


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _evaluate(
    model: Path,
    files: NamedFiles,
    *,
    given: Mapping[str, Any],
    loading: Mapping[str, Any],
    members: Members,
    extras: Extras,
    format: str,
    outputs: Outputs,
) -> None:
    """Score files, print the scores and write the requested files.

    ``given`` are options of the task, and ``loading`` those of an in-context model.
    """
    import json
    from shlex import quote

    from gonie.messages import say
    from gonie.reports.console import MessageConsole
    from gonie.reports.error_list import error_writer, print_errors, write_errors
    from gonie.system.files import atomic_write
    from gonie.tasks.evaluated_files import score_files, vectors_by_name
    from gonie.tasks.evaluation import FORMAT, VECTORS
    from gonie.tasks.load import is_in_context, is_model
    from gonie.tasks.loaded import load_model

    check_output_files(*outputs, inputs=files.paths.values())
    first = next(iter(files.paths.values()))
    if model.is_file() and is_model(first):
        raise InputError(
            f"{model} is a file, and {first} is a model",
            fix=f"Type: gonie evaluate {quote(str(first))} {quote(str(model))}",
        )
    console = MessageConsole(highlight=False)
    doing = f"scoring {', '.join(map(str, files.paths.values()))}"
    status = console.status(doing)
    if is_in_context(model):
        loading = {**loading, "advance": _text_progress(status, doing)}
    loaded = members.of(
        load_model(model, **loading),
        lambda done, number: status.update(say(f"{say(doing)}: model {done} of {number}")),
    )
    evaluator = loaded.evaluator(given)
    if VECTORS in given:
        given = {**given, VECTORS: vectors_by_name(given[VECTORS], list(files.paths))}
    # before scoring, since it refuses an unknown file suffix
    write = error_writer(outputs.errors, evaluator.error) if outputs.errors else None
    with status:
        found = score_files(
            evaluator,
            loaded.model,
            files.paths,
            folder=model,
            options={**given, FORMAT: format},
            by=extras.by,
            named=files.named,
        )
    if extras.noisy is not None:
        found = _with_noise(found, extras.noisy, console)
    errors = found.pooled.errors() if outputs.errors else []
    try:
        if line := members.line():
            console.print(line, style="bold", markup=False)
        _show(console, loaded, files, found)
        if outputs.errors:
            cells, heading = evaluator.error_cells(), evaluator.error_heading
            print_errors(console, errors, outputs.errors, cells=cells, text=heading)
    finally:  # write the files even if standard output is closed early, as by … | head
        if outputs.errors and write:
            write_errors(outputs.errors, errors, write)
        if outputs.json:
            record = {**members.to_json(model), **found.to_json()}
            if loaded.usage is not None:
                record["usage"] = loaded.usage.to_json()
            atomic_write(outputs.json, json.dumps(record, ensure_ascii=False, indent=1))
        if outputs.html:
            with console.status("explaining the worst errors"):
                atomic_write(outputs.html, _page(loaded, model, files, found))


def _text_progress(status: Status, doing: str) -> Callable[[int, int], None]:
    """Return a function that shows how many texts are answered."""
    from gonie.messages import say

    return lambda done, number: status.update(say(f"{say(doing)}: text {done} of {number}"))


def _with_noise(found: EvaluatedFiles, limit: int, console: MessageConsole) -> EvaluatedFiles:
    """Add the scores under noise, and show how far it is."""
    from dataclasses import replace

    from gonie.messages import say
    from gonie.tasks.robustness import noise_curve

    with console.status("scoring texts with noise") as status:
        curve = noise_curve(
            [scores.predictions for scores in found.files.values()],
            limit=limit,
            progress=lambda done, runs: status.update(
                say(f"scoring texts with noise: {done} of {runs} runs")
            ),
        )
    return replace(found, noise=curve)


def _show(console: MessageConsole, loaded: LoadedModel, files: NamedFiles, found: EvaluatedFiles) -> None:
    """Print what was read, and the scores."""
    from gonie.reports.group_grid import print_domains, print_groups, print_noise, print_separation
    from gonie.reports.score_grid import print_unknown
    from gonie.reports.usage_lines import print_usage

    for name, file in files.paths.items():
        scores = found.files[name]
        if files.named:
            console.print(f"{name}: {file}", style="bold", markup=False)
        for line in [*scores.notes, *loaded.notes_on(file)]:
            style = "yellow" if line.startswith("warning:") else "dim"
            console.print(line, style=style, markup=False)
        if files.named:
            print_unknown(console, getattr(scores.evaluation, "unknown_labels", {}))
    if files.named:
        print_domains(console, found.domains)
        print_separation(console, found.separation)
    else:
        found.pooled.show(console)
    for column, groups in (found.by or {}).items():
        print_groups(console, column, groups)
    if found.noise is not None:
        print_noise(console, found.noise)
    if loaded.usage is not None:
        print_usage(console, loaded.usage)


def _page(loaded: LoadedModel, model: Path, files: NamedFiles, found: EvaluatedFiles) -> str:
    from functools import partial

    from gonie.explaining.error_heat import ErrorHeat
    from gonie.messages import say
    from gonie.reports.group_tables import domains_part, groups_part, noise_part, separation_part
    from gonie.training.folder import RunFolder

    explains = not loaded.is_ensemble and loaded.usage is None
    explanation = loaded.task.explanation if explains else None
    explained = None if explanation is None else partial(explanation().explained, loaded.model)
    scores = found.pooled
    evaluations = {name: each.evaluation for name, each in found.files.items()}
    names = ", ".join(files.paths) if files.named else next(iter(files.paths.values())).name
    return scores.page(
        title=f"{model.name}{say(' on ')}{names}",
        curve=RunFolder(model).history(),
        details={"file": ", ".join(map(str, files.paths.values()))}
        | ({"members": loaded.model.members} if loaded.is_ensemble else {}),
        explain=None if explained is None else ErrorHeat(explained, scores.examples),
        first={
            "Scores by file": domains_part(found.domains, evaluations) if files.named else None,
            "Uncertainty by file": separation_part(found.separation) if files.named else None,
            "Scores by value": None if found.by is None else groups_part(found.by),
            "Scores under noise": None if found.noise is None else noise_part(found.noise),
        },
    )
