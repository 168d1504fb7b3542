"""``gonie.evaluate``: score a model on a labelled file, or on examples in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gonie.api.models import loaded
from gonie.api.rows import Data, is_path, row_messages, write_rows
from gonie.api.scores import ModelScores
from gonie.api.settings import python_messages
from gonie.errors import InputError
from gonie.tasks.evaluation import FORMAT


def evaluate(
    model: Any,
    data: Data,
    *,
    map: str | Mapping[str, str] | Sequence[str] | None = None,
    format: str = "auto",
    **options: Any,
) -> ModelScores:
    """Score a model, as ``gonie evaluate`` does.

    ``model`` is a model or its folder. ``data`` is a file with gold labels, or examples in memory as for
    ``gonie.train``. ``map`` renames labels of the data: ``{"person": "PER", "misc": "O"}``, or the name of a
    shipped map. ``options`` are those of the command: ``mode``, ``repair``, ``decode``, ``bias``,
    ``text_column``, ``label_column``, ``tag_column`` and others.
    """
    with python_messages():
        found, folder = loaded(model)
        given = {name: value for name, value in options.items() if value is not None}
        if map is not None:
            given["map"] = _rules(map)
        if "bias" in given:
            given["bias"] = _biases(given["bias"])
        for name in ("text_column", "label_column"):
            if isinstance(given.get(name), int):  # as pandas numbers columns
                given[name] = str(given[name])
        if isinstance(given.get("text_column"), str):
            given["text_column"] = [given["text_column"]]
        evaluator = found.evaluator(given)
        with _file(data, found.task.name, found.model.recipe.get("data", {}), given) as file:
            scores = evaluator.score(found.model, file, folder=folder, options={**given, FORMAT: format})
            notes = (*scores.notes, *found.notes_on(file))
        return ModelScores(scores.evaluation, notes)


def _rules(map: str | Mapping[str, str] | Sequence[str]) -> list[str]:
    if isinstance(map, Mapping):
        return [f"{old}={new}" for old, new in map.items()]
    return [map] if isinstance(map, str) else list(map)


def _biases(bias: float | Mapping[str, float]) -> list[str]:
    if isinstance(bias, Mapping):
        return [f"{label}={number}" for label, number in bias.items()]
    return [str(bias)]


@contextmanager
def _file(data: Data, task: str, recipe: Mapping[str, Any], given: dict[str, Any]) -> Iterator[Path]:
    """Yield the file of the data. Examples in memory are written to a temporary one."""
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
        with row_messages({"data": path}):
            write_rows(data, path, task=task, columns=columns)
            yield path


def _existing(data: str | PathLike[str]) -> Path:
    path = Path(data)
    if not path.exists():
        raise InputError(f"file not found: {path}", fix="For a text, call the model itself: model(text)")
    return path
