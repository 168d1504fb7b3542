"""The paths that a recipe names: marked where a key is declared, found and made absolute in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

BUNDLED = "bundled:"
SectionType = TypeVar("SectionType", bound=BaseModel)


@dataclass(frozen=True)
class PathTo:
    """Marks a key whose values are paths: to a file or folder that is read, or to a cache that is made."""

    what: Literal["file", "folder", "cache"]


InputFile = Annotated[str, PathTo("file")]
InputFolder = Annotated[str, PathTo("folder")]
CacheFolder = Annotated[str, PathTo("cache")]


def locate(path: str) -> Path:
    """The file a recipe means: ``bundled:NAME/FILE`` lies in the package, anything else is as written."""
    if not path.startswith(BUNDLED):
        return Path(path).expanduser()
    return Path(str(resources.files("gonie") / "corpora")) / path.removeprefix(BUNDLED)


def with_absolute_paths(section: SectionType) -> SectionType:
    """The section with every path in full, so that a run can be resumed from any folder."""
    changes: dict[str, Any] = {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            changes[name] = with_absolute_paths(value)
        elif value is not None and _mark(field) is not None:
            changes[name] = _mapped(value, _absolute)
    return section.model_copy(update=changes)


def missing_paths(section: BaseModel) -> list[str]:
    """A sentence for each file or folder that the section names and that is not there."""
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
    """The mark of a key's own type, or of what a list, a mapping or an optional value holds."""
    found = [*field.metadata, *_inner(field.annotation)]
    return next((each for each in found if isinstance(each, PathTo)), None)


def _inner(annotation: Any) -> Iterator[Any]:
    for part in get_args(annotation):
        yield part
        yield from _inner(part)
