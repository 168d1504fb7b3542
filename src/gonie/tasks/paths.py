"""The paths in a recipe: keys are marked where they are declared, and paths are resolved here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from gonie.errors import InputError
from gonie.system.files import missing_advice
from gonie.system.outputs import output_problem
from gonie.tasks.run_files import BEST, BILM, RECIPE, RUNS

BUNDLED = "bundled:"
SectionType = TypeVar("SectionType", bound=BaseModel)


@dataclass(frozen=True)
class PathTo:
    """Marks a key whose values are paths.

    They are a file, a language model, a transformer or a run to read, a cache, or a file to write.
    ``words`` are values that are not paths.
    """

    what: Literal["file", "language model", "transformer", "run", "cache", "output"]
    words: tuple[str, ...] = ()


NonEmpty = Annotated[str, Field(min_length=1)]
InputFile = Annotated[NonEmpty, PathTo("file")]
LanguageModelName = Annotated[NonEmpty, PathTo("language model")]
RunFolder = Annotated[NonEmpty, PathTo("run")]
CacheFolder = Annotated[NonEmpty, PathTo("cache")]
OutputFile = Annotated[NonEmpty, PathTo("output")]


def locate(path: str) -> Path:
    """Resolve a path of a recipe. ``bundled:NAME/FILE`` is a corpus in the package."""
    if not path.startswith(BUNDLED):
        return Path(path).expanduser()
    return _package_folder("corpora") / path.removeprefix(BUNDLED)


def real_path(path: str) -> Path:
    """Return the absolute path of a file without links. Unlike ``Path.resolve``, accept a loop of links."""
    return Path(os.path.realpath(locate(path)))


def shipped_bilms() -> dict[str, Path]:
    """Return the folders of the language models that ship with gonie, by name."""
    folders = sorted(_package_folder("pretrained").iterdir())
    return {folder.name: folder for folder in folders if (folder / BILM).is_file()}


def locate_bilm(name: str) -> Path:
    """Return the folder of a language model: the name of a shipped one, such as ``en``, or a path.

    Shipped names come first; ``./en`` is a folder in the working folder.
    """
    shipped = shipped_bilms()
    if name in shipped:
        return shipped[name]
    path = locate(name)
    if path.exists():
        return path
    if path.parent.name == "pretrained" and path.name in shipped:  # its path in a clone of gonie 0.1
        raise InputError(
            f"language model not found: {name}", fix=f"It is part of the package now: use {path.name}"
        )
    raise InputError(
        f"language model not found: {name}",
        fix=f"Use the name of a shipped one ({', '.join(shipped)}), or a folder written by "
        "gonie pretrain or gonie import-elmo",
    )


def shadowed_folder(name: str) -> str | None:
    """Return a note if a folder in the working folder has the name of the shipped language model."""
    if name not in shipped_bilms() or not Path(name).is_dir():
        return None
    return (
        f"{name} is the language model that ships with gonie; to use the folder of that name, write ./{name}"
    )


def with_absolute_paths(section: SectionType) -> SectionType:
    """Return the section with absolute paths, so that a run can be resumed from any folder."""
    changes: dict[str, Any] = {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            changes[name] = with_absolute_paths(value)
        elif _has_sections(value):
            changes[name] = {own: with_absolute_paths(inner) for own, inner in value.items()}
        elif value is not None and (mark := _mark(field)) is not None:
            changes[name] = _mapped(value, mark)
    return section.model_copy(update=changes)


def missing_paths(section: BaseModel) -> list[str]:
    """Return a message for each file or language model of the section that does not exist."""
    return [
        f"{key}: {problem}" for key, path, mark in _named(section, "") if (problem := _problem(path, mark))
    ]


def file_stamps(section: BaseModel) -> dict[str, str]:
    """Return the size and the time of the last change of each file and run in the section, by path."""
    named = ((locate(path), mark.what) for _, path, mark in _named(section, ""))
    files = [path / BEST if what == "run" else path for path, what in named if what in ("file", "run")]
    stamps = {str(path): path.stat() for path in files if path.exists()}
    return {path: f"{found.st_size} {found.st_mtime_ns}" for path, found in stamps.items()}


def output_problems(section: BaseModel, others: Iterable[BaseModel] = ()) -> list[str]:
    """Return a message for each file to write that cannot be written, or that any of the sections reads."""
    named = [found for each in (section, *others) for found in _named(each, "")]
    inputs = [locate(path) for _, path, mark in named if mark.what in ("file", "run")]
    return [
        f"{key}: {problem}"
        for key, path, mark in _named(section, "")
        if mark.what == "output" and (problem := output_problem(locate(path), inputs))
    ]


def _named(section: BaseModel, prefix: str) -> Iterator[tuple[str, str, PathTo]]:
    for name, field in type(section).model_fields.items():
        value, key = getattr(section, name), f"{prefix}{name}"
        mark = _mark(field)
        if isinstance(value, BaseModel):
            yield from _named(value, f"{key}.")
        elif _has_sections(value):
            for own, inner in value.items():
                yield from _named(inner, f"{key}.{own}.")
        elif mark is None or value is None:
            continue
        elif isinstance(value, dict):
            yield from ((f"{key}.{own}", path, mark) for own, path in value.items())
        else:
            paths = value if isinstance(value, list) else [value]
            yield from ((key, path, mark) for path in paths)


def _has_sections(value: object) -> bool:
    """Return whether the value is a table of named sections."""
    return isinstance(value, dict) and any(isinstance(inner, BaseModel) for inner in value.values())


def _problem(path: str, mark: PathTo) -> str | None:
    if path in mark.words:
        return None
    if mark.what == "language model":
        try:
            locate_bilm(path)
        except InputError as error:
            return str(error)
        return None
    if mark.what == "run":
        return run_problem(path)
    if mark.what == "transformer":
        return _missing_encoder(path)
    return _missing(path) if mark.what == "file" else None


def _missing(path: str) -> str | None:
    """Return a message if there is no such file. Other problems, such as a folder, appear on reading."""
    try:
        locate(path).stat()
    except FileNotFoundError:
        advice = missing_advice(locate(path))
        return f"file not found: {path}. {advice}" if advice else f"file not found: {path}"
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    return None


def _missing_encoder(path: str) -> str | None:
    """Return a message if there is no such folder. The files in it are checked when they are read."""
    if _missing(path) is None:
        return None
    return (
        f"folder not found: {path}. gonie downloads nothing: put config.json, model.safetensors and "
        "tokenizer.json of the model into a folder, and pass its path"
    )


def run_problem(path: str) -> str | None:
    """Return what is wrong with the path of a run folder, and the run that was probably meant, if any."""
    folder = locate(path)
    if _is_run(folder):
        return None
    meant = _meant_run(folder)
    fix = f"Did you mean {meant}?" if meant else "Pass a folder that `gonie train` wrote"
    if not folder.exists():
        return f"folder not found: {path}. {fix}"
    return f"not a training run: {path}. {fix}"


def _meant_run(path: Path) -> Path | None:
    """Return the run around or inside the path, or one of the same name in ``runs``, or of a similar name."""
    if path.exists():
        inside = _runs_in(path)
        return path.parent if _is_run(path.parent) else inside[0] if len(inside) == 1 else None
    if _is_run(same := path.parent / RUNS / path.name):
        return same
    near = get_close_matches(path.name, [run.name for run in _runs_in(path.parent)], n=1)
    return path.parent / near[0] if near else None


def _runs_in(folder: Path) -> list[Path]:
    return sorted(recipe.parent for recipe in folder.glob(f"*/{RECIPE}"))


def _is_run(folder: Path) -> bool:
    return (folder / RECIPE).is_file()


def _absolute(path: str, mark: PathTo) -> str:
    """Return the absolute path. Names of what ships with gonie stay: the package may be elsewhere later."""
    shipped = path in shipped_bilms() if mark.what == "language model" else path.startswith(BUNDLED)
    return path if shipped or path in mark.words else str(locate(path).absolute())


def _mapped(value: Any, mark: PathTo) -> Any:
    if isinstance(value, dict):
        return {name: _absolute(path, mark) for name, path in value.items()}
    return [_absolute(path, mark) for path in value] if isinstance(value, list) else _absolute(value, mark)


def _package_folder(name: str) -> Path:
    return Path(str(resources.files("gonie") / name))


def _mark(field: FieldInfo) -> PathTo | None:
    """Return the mark of a key's type, or of the items of a list, mapping or optional value."""
    found = [*field.metadata, *_inner(field.annotation)]
    return next((each for each in found if isinstance(each, PathTo)), None)


def _inner(annotation: Any) -> Iterator[Any]:
    for part in get_args(annotation):
        yield part
        yield from _inner(part)
