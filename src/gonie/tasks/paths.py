"""The paths in a recipe: keys are marked where they are declared, and paths are resolved here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

BUNDLED = "bundled:"
SectionType = TypeVar("SectionType", bound=BaseModel)


@dataclass(frozen=True)
class PathTo:
    """Marks a key whose values are paths: a file or folder that is read, or a cache folder."""

    what: Literal["file", "folder", "cache"]


NonEmpty = Annotated[str, Field(min_length=1)]
InputFile = Annotated[NonEmpty, PathTo("file")]
InputFolder = Annotated[str, PathTo("folder")]
CacheFolder = Annotated[NonEmpty, PathTo("cache")]


def locate(path: str) -> Path:
    """Resolve a path of a recipe. ``bundled:NAME/FILE`` is a corpus in the package."""
    if not path.startswith(BUNDLED):
        return Path(path).expanduser()
    return Path(str(resources.files("gonie") / "corpora")) / path.removeprefix(BUNDLED)


def with_absolute_paths(section: SectionType) -> SectionType:
    """Return the section with absolute paths, so that a run can be resumed from any folder."""
    changes: dict[str, Any] = {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            changes[name] = with_absolute_paths(value)
        elif value is not None and _mark(field) is not None:
            changes[name] = _mapped(value, _absolute)
    return section.model_copy(update=changes)


def missing_paths(section: BaseModel) -> list[str]:
    """Return a message for each file or folder of the section that does not exist."""
    return [
        f"{key}: {mark.what} not found: {path}"
        for key, path, mark in _named(section, "")
        if mark.what != "cache" and not locate(path).exists()
    ]


def _named(section: BaseModel, prefix: str) -> Iterator[tuple[str, str, PathTo]]:
    for name, field in type(section).model_fields.items():
        value, key = getattr(section, name), f"{prefix}{name}"
        mark = _mark(field)
        if isinstance(value, BaseModel):
            yield from _named(value, f"{key}.")
        elif mark is None or value is None:
            continue
        elif isinstance(value, dict):
            yield from ((f"{key}.{own}", path, mark) for own, path in value.items())
        else:
            paths = value if isinstance(value, list) else [value]
            yield from ((key, path, mark) for path in paths)


def _absolute(path: str) -> str:
    return path if path.startswith(BUNDLED) else str(locate(path).absolute())


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {name: change(path) for name, path in value.items()}
    return [change(path) for path in value] if isinstance(value, list) else change(value)


def _mark(field: FieldInfo) -> PathTo | None:
    """Return the mark of a key's type, or of the items of a list, mapping or optional value."""
    found = [*field.metadata, *_inner(field.annotation)]
    return next((each for each in found if isinstance(each, PathTo)), None)


def _inner(annotation: Any) -> Iterator[Any]:
    for part in get_args(annotation):
        yield part
        yield from _inner(part)
