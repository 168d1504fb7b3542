"""Options and arguments that commands share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

import typer

from gonie.errors import InputError
from gonie.system.outputs import check_output_folder


def complete_recipe(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the shipped recipes that the command trains and that begin with ``incomplete``."""
    from gonie.tasks.recipe import recipe_names, recipe_summary
    from gonie.tasks.table import TASKS

    command = "pretrain" if ctx.info_name == "pretrain" else "train"
    names = recipe_names(*(task.name for task in TASKS.values() if task.command == command))
    return [(name, recipe_summary(name)) for name in names if name.startswith(incomplete)]


def complete_key(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the recipe keys that begin with ``incomplete``: those of the recipe, or of all tasks."""
    from gonie.errors import RecipeError
    from gonie.tasks.recipe import recipe_keys, recipe_task
    from gonie.tasks.table import TASKS

    try:
        tasks = [recipe_task(ctx.params["recipe"])]
    except (KeyError, RecipeError):
        tasks = list(TASKS)
    keys = {key: text for task in tasks for key, text in recipe_keys(task).items()}
    return [(f"{key}=", text) for key, text in keys.items() if key.startswith(incomplete)]


# The model and its input.
ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="A run folder or a bundle.")]
ModelOrService = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A run folder, a bundle, or the URL of a service: http://127.0.0.1:8000, or with the name of a "
        "model http://127.0.0.1:8000/ner.",
    ),
]
GivenText = Annotated[
    str | None,
    typer.Argument(metavar="TEXT", help="The input text. Without TEXT and --file, standard input is read."),
]
GivenTexts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT",
        help="The input text, or one argument per text if the model takes more than one. Without TEXT and "
        "--file, standard input is read.",
    ),
]

# The recipe and its run.
RecipeName = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE",
        help="A recipe file, or the name of a shipped recipe (ner, pos, tag, classify, …).",
        autocompletion=complete_recipe,
    ),
]
DataFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TRAIN DEV TEST",
        help="Your labelled files; same as --set data.train=TRAIN and so on. Without DEV, a part of TRAIN is "
        "held out. Without TRAIN, the recipe's own files are used.",
        show_default=False,
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a recipe key: --set model.encoder.hidden=300. Repeatable.",
        autocompletion=complete_key,
    ),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Column or JSON key of the text, for labelled texts; twice for text pairs. Default: text.",
    ),
]
LabelName = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column or JSON key of the label, for labelled texts. Default: label.",
    ),
]
RunOut = Annotated[
    Path | None,
    typer.Option("--out", help="Run folder to write. Default: runs/RECIPE, or the next free name."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume the run in --out.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Random seed; same as --set train.seed=N.")]
Device = Annotated[str | None, typer.Option("--device", help="cpu or cuda; same as --set train.device=….")]

# The format and the columns of a labelled file.
FormatName = Annotated[
    str,
    typer.Option(
        "--format",
        help="Format of the file, such as conll, jsonl or tsv; detected by default. An unknown name lists "
        "all formats.",
    ),
]
Separator = Annotated[
    str,
    typer.Option(
        "--separator",
        help="Column separator: auto, tab, blank, mixed (tabs and spaces) or a literal separator.",
    ),
]
WordColumn = Annotated[
    int | None,
    typer.Option(
        "--word-column", help="Column of the words, from 0; negative from the end. Detected by default."
    ),
]
TagColumn = Annotated[
    str | None,
    typer.Option(
        "--tag-column",
        help="Column of the tags; for CoNLL-U upos, xpos, feats or misc:KEY. Detected by default.",
    ),
]
TagNames = Annotated[
    str | None,
    typer.Option(
        "--tag-names",
        metavar="NAME,NAME,…",
        help="Names of tags that a table has as numbers, in the order of the numbers: O,B-PER,I-PER.",
    ),
]

LabelRules = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="OLD=NEW",
        help="Rename a label of the file: --map person=PER; OLD=O drops it. Repeatable. Also the name of a "
        "shipped map: conll, uner, ontonotes, wnut, crossner, klue, tta, naver or nikl.",
    ),
]

# Decoding of a tagger.
Decode = Annotated[
    Literal["viterbi", "posterior"],
    typer.Option(
        help="viterbi: the most probable tag sequence; posterior: the sequence with the highest expected "
        "number of correct tags."
    ),
]
Bias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[TYPE=]NUMBER",
        help="Add NUMBER to the score of every entity, or only of entities of TYPE. Values above 0 raise "
        "recall, values below 0 raise precision. Repeatable.",
    ),
]
NBest = Annotated[
    int | None,
    typer.Option(
        "--nbest",
        metavar="N",
        help="List the N most probable tag sequences of each sentence with their probabilities (output "
        "pretty, jsonl or parquet).",
    ),
]
OffsetUnit = Annotated[
    Literal["codepoints", "utf16"],
    typer.Option(
        "--offsets",
        help="Unit of start and end in JSON lines and Parquet. codepoints: characters as in Python; utf16: "
        "UTF-16 code units as in JavaScript, Java and C#.",
    ),
]

# External vectors of the input.
Vectors = Annotated[
    Path | None,
    typer.Option(
        "--vectors",
        metavar="FILE",
        help="External vectors of the input rows (.npz or .parquet), for a model with model.external.",
    ),
]

# Many files at once.
BULK = "Bulk processing"
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Process the files in parallel and write numbered parts to DIR. Run the same command again to "
        "resume.",
        rich_help_panel=BULK,
    ),
]
Engine = Annotated[
    Literal["local", "ray"] | None,
    typer.Option(
        help="local: worker processes on this machine (default); ray: Ray Data.", rich_help_panel=BULK
    ),
]
Workers = Annotated[
    int,
    typer.Option(min=0, help="Number of workers; 0 chooses automatically.", rich_help_panel=BULK),
]
Address = Annotated[
    str | None,
    typer.Option(help="Address of a Ray cluster, such as ray://HOST:10001.", rich_help_panel=BULK),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        help="Column or JSON key of the text in tables, JSONL and Parquet. Repeat it for each text if the "
        "model takes more than one. Default: as in training, or text."
    ),
]
ShardSize = Annotated[
    int | None,
    typer.Option(
        metavar="BYTES", min=1, help="Bytes of text per part. Default: 1 MiB.", rich_help_panel=BULK
    ),
]


@dataclass(frozen=True, kw_only=True)
class BulkOptions:
    """The values of the options for many files."""

    out: Path | None = None
    engine: Literal["local", "ray"] | None = None
    workers: int = 0
    address: str | None = None
    column: Sequence[str] | None = None
    shard_size: int | None = None

    def folder(self, texts: Sequence[str], files: Sequence[Path]) -> Path | None:
        """Return the folder for the parts, or None to answer on standard output.

        Options that contradict each other or the input raise an ``InputError``.
        """
        options = {name: value for name, value in vars(self).items() if value and name != "column"}
        given = [f"--{name.replace('_', '-')}" for name in options]
        if self.column and texts:
            raise InputError("--column cannot be combined with TEXT", fix="Pass --file FILE instead")
        if self.out is None and given:
            raise InputError(f"{', '.join(given)} {'requires' if len(given) == 1 else 'require'} --out")
        if self.out is not None and texts:
            raise InputError("--out cannot be combined with TEXT", fix="Pass --file FILE instead")
        if self.out is not None and not files:
            raise InputError("--out requires --file", fix="Pass --file FILE")
        if self.address and self.engine != "ray":
            raise InputError("--address requires --engine ray")
        check_output_folder(self.out)
        return self.out


def check_nbest(nbest: int | None, *, output: str | None, decode: str, bias: Sequence[str] | None) -> None:
    """Refuse an invalid --nbest, or one that another option contradicts."""
    if nbest is None:
        return
    check_nbest_range(nbest)
    if output == "conll":
        raise InputError(
            "--nbest cannot be combined with --output conll, which has one tag per word",
            fix="Use --output pretty, jsonl or parquet",
        )
    if decode != "viterbi" or bias:
        other = f"--decode {decode}" if decode != "viterbi" else "--bias"
        raise InputError(
            f"--nbest cannot be combined with {other}: it ranks tag sequences by the model's own probability"
        )


def check_offsets(offsets: str, *, output: str | None, out: Path | None) -> None:
    """Refuse --offsets with an output that has no offsets."""
    shown = output or ("pretty" if out is None else "jsonl")
    if offsets != "codepoints" and shown not in ("jsonl", "parquet"):
        raise InputError(
            f"--offsets {offsets} cannot be combined with --output {shown}, which has no offsets",
            fix="Use --output jsonl",
        )


def check_nbest_range(nbest: int) -> None:
    """Refuse an --nbest below 1 or above the limit of taggers."""
    from gonie.tasks.tagging.candidates import MOST

    if not 1 <= nbest <= MOST:
        raise InputError(f"--nbest must be between 1 and {MOST}: {nbest}")


def file_settings(files: Sequence[str], changes: Sequence[str]) -> list[str]:
    """Return the settings of the files TRAIN, DEV and TEST, which ``changes`` must not contain too."""
    keys = ("data.train", "data.dev", "data.test")
    if len(files) > len(keys):
        raise InputError(
            f"expected at most three files, TRAIN, DEV and TEST, got {len(files)}",
            fix="Join training files first, for example with cat",
        )
    for file, key in zip(files, keys, strict=False):
        if any(change.partition("=")[0].strip() == key for change in changes):
            raise InputError(f"{key} is given twice: as the file {file} and by --set", fix="Remove one")
    return [f"{key}={json.dumps(file, ensure_ascii=False)}" for file, key in zip(files, keys, strict=False)]


def column_settings(
    recipe: str, files: Sequence[str], *, text: Sequence[str] | None, label: str | None
) -> list[str]:
    """Return the settings of --text and --label, which depend on the task of the recipe."""
    if not text and label is None:
        return []
    from gonie.tasks.recipe import recipe_task

    task = recipe_task(recipe)
    typed = "".join(f" {quote(file)}" for file in files) or " FILE"
    if task not in ("classify", "pair"):
        raise InputError(
            f"--text and --label name columns of labelled texts, but {recipe} has the task {task!r}",
            fix=f"To train a tagger, name the column of the tags: gonie train {quote(recipe)}{typed} "
            "--set data.tag_column=N. To classify texts, use the recipe classify",
        )
    names = "".join(f" --text {quote(name)}" for name in text or ())
    if task == "classify" and len(text or ()) > 1:
        raise InputError(
            f"--text is given {len(text or ())} times, but {recipe} reads one text per row",
            fix=f"For text pairs, type: gonie train pairs{typed}{names}",
        )
    if task == "pair" and text and len(text) != 2:
        raise InputError(
            f"--text is given {'once' if len(text) == 1 else f'{len(text)} times'}, but {recipe} reads two "
            "texts per row",
            fix="Pass both columns: --text FIRST --text SECOND",
        )
    settings = [f"data.label_column={json.dumps(label, ensure_ascii=False)}"] if label is not None else []
    if text and task == "classify":
        settings.append(f"data.text_column={json.dumps(text[0], ensure_ascii=False)}")
    elif text:
        settings.append(f"data.text_columns={json.dumps(list(text), ensure_ascii=False)}")
    return settings


def with_seed_and_device(changes: list[str] | None, *, seed: int | None, device: str | None) -> list[str]:
    """Return the ``KEY=VALUE`` changes, followed by those of --seed and --device."""
    settings = list(changes or [])
    settings += [f"train.seed={seed}"] if seed is not None else []
    settings += [f"train.device={device}"] if device is not None else []
    return settings
