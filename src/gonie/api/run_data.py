"""The data of a run or comparison: paths as they are, and examples in memory as files of its folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from gonie.api.rows import Data, check_domain, is_named, is_path, row_messages, write_rows
from gonie.api.settings import settings
from gonie.errors import GonieError, ResumeError

DATA = "data"  # the folder of a run with examples that were given in memory


class DataFolder(NamedTuple):
    """The folder of a run or comparison.

    ``create`` makes it if it is new, refuses one that has results, and returns whether it did not exist.
    ``mark`` is the file that it has from the beginning. ``resume`` says that the folder must have its data.
    """

    path: Path
    create: Callable[[], bool]
    mark: str
    resume: bool


@contextmanager
def data_files(
    recipe: str | Path, given: Mapping[str, Data], changes: Mapping[str, Any], folder: DataFolder
) -> Iterator[dict[str, Any]]:
    """Write examples in memory to the folder, and yield the changes of the recipe with the paths of the data.

    Files of a run that is refused are deleted again.
    """
    from gonie.tasks.recipe import load_recipe

    given, whole = _by_domain(given), given
    for key in (*whole, *given):
        if f"data.{key}" in changes:
            raise GonieError(f"data.{key} is given twice: as {key.split('.')[0]}=… and in set. Remove one.")
    files = {
        key: data if is_path(data) else folder.path.absolute() / DATA / f"{key}.jsonl"
        for key, data in given.items()
    }
    found = {**changes, **{f"data.{key}": path for key, path in files.items()}}
    in_memory = [key for key, data in given.items() if not is_path(data)]
    if not in_memory:
        yield found
        return
    checked = load_recipe(recipe, settings(found))
    columns = checked.data.model_dump()
    if isinstance(found.get("data.tag_column"), str):  # names a column of the table, not of the file
        del found["data.tag_column"]
    if folder.resume:
        for key in in_memory:
            _check_equal(given[key], Path(files[key]), task=checked.task, columns=columns)
        yield found
        return
    made = folder.create()
    try:
        with row_messages({key: files[key] for key in in_memory}):
            for key in in_memory:
                write_rows(given[key], Path(files[key]), task=checked.task, columns=columns)
            yield found
    except BaseException:
        if not (folder.path / folder.mark).exists():
            shutil.rmtree(folder.path / DATA, ignore_errors=True)
            with suppress(OSError):
                folder.path.rmdir() if made else None
        raise


def _by_domain(given: Mapping[str, Data]) -> dict[str, Data]:
    """Return the data by split, or by split and domain where it has names: ``train.web``."""
    found: dict[str, Data] = {}
    for key, data in given.items():
        if not is_named(data):
            found[key] = data
            continue
        for name, each in data.items():
            check_domain(str(name), key)
            found[f"{key}.{name}"] = each
    return found


def _check_equal(data: Data, path: Path, *, task: str, columns: Mapping[str, Any]) -> None:
    """Refuse to resume a run with other examples than it was started with."""
    with TemporaryDirectory() as folder:
        again = Path(folder) / path.name
        write_rows(data, again, task=task, columns=columns)
        if not path.is_file() or again.read_bytes() != path.read_bytes():
            raise ResumeError(
                f"the examples differ from those in {path}. Resume without them, or start a new run with "
                "another out=…."
            )
