"""``gonie.evaluate``: score a model on labelled files, or on examples in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gonie.api.models import loaded
from gonie.api.rows import Data, is_path, row_messages, write_rows
from gonie.api.scores import ModelScores, model_scores
from gonie.api.settings import python_messages
from gonie.errors import InputError
from gonie.tasks.evaluated_files import score_files, vectors_by_name
from gonie.tasks.evaluation import FORMAT, VECTORS
from gonie.tasks.robustness import noise_curve

LIMIT = 2000
"""The most examples with noise, unless given."""


def evaluate(
    model: Any,
    data: Data | Mapping[str, Data],
    *,
    map: str | Mapping[str, str] | Sequence[str] | None = None,
    format: str = "auto",
    by: str | Sequence[str] = (),
    noise: bool = False,
    limit: int = LIMIT,
    ensemble: Any = (),
    mc_dropout: int | None = None,
    seed: int = 0,
    vectors: str | PathLike[str] | Mapping[str, str | PathLike[str]] | None = None,
    **options: Any,
) -> ModelScores:
    """Score a model, as ``gonie evaluate`` does.

    ``model`` is a model or its folder. ``data`` is a file with gold labels, or examples in memory as for
    ``gonie.train``. A mapping of names to several of them compares each with the first:
    ``gonie.evaluate(model, {"news": "a.conll", "web": "b.conll"}).domains["web"].f1``. ``map`` renames labels
    of the data: ``{"person": "PER", "misc": "O"}``, or the name of a shipped map. ``by`` names columns by
    whose values examples are scored, too (``scores.by["year"]["2004"]``). With ``noise``, at most ``limit``
    examples (0: all) are scored with typos, in another case and without spaces (``scores.noise``).
    ``ensemble`` is another model with the same labels or its folder, or a sequence of them: the mean of the
    probabilities of all models is scored. With ``mc_dropout``, it is that of so many passes of the network of
    a run folder with dropout, drawn with ``seed``. ``vectors`` is the file of the external vectors of the
    data (.npz or .parquet), for a model that reads them, or a mapping from the names of the data. ``options``
    are those of the command: ``mode``,
    ``repair``, ``decode``, ``bias``, ``text_column``, ``label_column``, ``tag_column`` and others.
    """
    with python_messages():
        numbers: dict[str, Any] = {"mc_dropout": mc_dropout, "seed": seed, "limit": limit}
        for name, number in numbers.items():
            if number is not None and not isinstance(number, Integral):
                raise InputError(f"{name} must be a whole number: {number!r}")
        found, folder = loaded(model)
        if mc_dropout is not None:
            if ensemble:
                raise InputError("mc_dropout cannot be combined with ensemble", fix="Leave one of them out")
            found = found.with_passes(mc_dropout, seed=seed)
        elif ensemble:
            found = found.combined(ensemble if isinstance(ensemble, list | tuple) else [ensemble])
        given = {name: value for name, value in options.items() if value is not None}
        if map is not None:
            given["map"] = _rules(map)
        if "bias" in given:
            given["bias"] = _biases(given["bias"])
        _name_columns(given)
        evaluator = found.evaluator([*given, *([] if vectors is None else [VECTORS])])
        columns = (by,) if isinstance(by, str) else tuple(by)
        named = isinstance(data, Mapping)
        parts = data if isinstance(data, Mapping) else {"data": data}
        if not parts:
            raise InputError("no files to score: the mapping is empty", fix="Pass at least one file")
        if vectors is not None:
            given[VECTORS] = _vectors(vectors, [str(name) for name in parts])
        with ExitStack() as stack:
            recipe = found.model.recipe.get("data", {})
            files = {
                str(name): stack.enter_context(
                    _file(part, found.task.name, recipe, given, name=str(name), meta=columns)
                )
                for name, part in parts.items()
            }
            scored = score_files(
                evaluator,
                found.model,
                files,
                folder=folder,
                options={**given, FORMAT: format},
                by=columns,
                named=named,
            )
            notes = {name: (*scored.files[name].notes, *found.notes_on(file)) for name, file in files.items()}
        if noise:
            curve = noise_curve([scores.predictions for scores in scored.files.values()], limit=limit)
            scored = replace(scored, noise=curve)
        return model_scores(scored, notes)


def _name_columns(given: dict[str, Any]) -> None:
    """Turn columns that are numbers, as pandas has them, into names, and a single text column into a list."""
    for name in ("text_column", "label_column"):
        if isinstance(given.get(name), int):
            given[name] = str(given[name])
    if isinstance(given.get("text_column"), str):
        given["text_column"] = [given["text_column"]]


def _vectors(
    vectors: str | PathLike[str] | Mapping[str, str | PathLike[str]], names: Sequence[str]
) -> dict[str, str]:
    """Return the file of vectors of each part of the data by its name."""
    if not isinstance(vectors, Mapping):
        return vectors_by_name([fspath(vectors)], names)
    given = {str(name): fspath(path) for name, path in vectors.items()}
    if unknown := sorted(given.keys() ^ set(names)):
        raise InputError(
            f"vectors and data have different names: {', '.join(unknown)}",
            fix="Pass the vectors of each part of the data under its name",
        )
    return given


def _rules(map: str | Mapping[str, str] | Sequence[str]) -> list[str]:
    if isinstance(map, Mapping):
        return [f"{old}={new}" for old, new in map.items()]
    return [map] if isinstance(map, str) else list(map)


def _biases(bias: float | Mapping[str, float]) -> list[str]:
    if isinstance(bias, Mapping):
        return [f"{label}={number}" for label, number in bias.items()]
    return [str(bias)]


@contextmanager
def _file(
    data: Data,
    task: str,
    recipe: Mapping[str, Any],
    given: dict[str, Any],
    *,
    name: str,
    meta: Sequence[str],
) -> Iterator[Path]:
    """Yield the file of the data, which has a name in messages. Examples in memory are written to a new one.

    ``meta`` are the names of values of examples.
    """
    if is_path(data):
        yield _existing(data)
        return
    columns = {**recipe, **given}
    if texts := given.get("text_column"):
        columns |= {"text_column": texts[0], "text_columns": texts}
    if isinstance(given.get("tag_column"), str):
        del given["tag_column"]  # names a column of the table, not of the file
    with TemporaryDirectory(prefix="gonie-") as folder:
        path = Path(folder) / "data.jsonl"
        with row_messages({name: path}):
            write_rows(data, path, task=task, columns=columns, meta=meta, part=name)
            yield path


def _existing(data: str | PathLike[str]) -> Path:
    path = Path(data)
    if not path.exists():
        raise InputError(f"file not found: {path}", fix="For a text, call the model itself: model(text)")
    return path
