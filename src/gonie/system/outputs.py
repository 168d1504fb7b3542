"""Checks of files and folders to write, before any work."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from shlex import quote
from tempfile import TemporaryFile

from gonie.errors import OutputError


def check_output_files(
    *files: Path | None, inputs: Iterable[Path | None] = (), folders: bool = False
) -> None:
    """Refuse files that cannot be written, or whose writing would destroy one of the ``inputs``.

    With ``folders``, they may also be existing folders.
    """
    read = [each for each in inputs if each is not None]
    for file in files:
        if file is not None and (problem := output_problem(file, read, folders=folders)):
            raise OutputError(problem)


def check_output_folder(folder: Path | None) -> None:
    """Refuse a folder that cannot be created or written to."""
    if folder is None:
        return
    place = folder.absolute()
    there = next(each for each in (place, *place.parents) if each.exists())
    if not there.is_dir():
        raise OutputError(f"cannot write {folder}: {there} is a file, not a folder. Choose another folder")
    if problem := _refused(folder, there):
        raise OutputError(problem)


def output_problem(file: Path, inputs: Iterable[Path] = (), *, folders: bool = False) -> str | None:
    """Return why a file must not or cannot be written. Devices and pipes are not checked."""
    from gonie.system.files import STANDARD_INPUT

    if file.exists() and not file.is_dir() and not file.is_file():
        return None
    folder = file.absolute().parent
    if file.exists() and any(map(partial(_is_part, file), inputs)):
        return f"cannot write {file}: it is an input file. Choose another file"
    if str(file) == STANDARD_INPUT:
        return "cannot write the file to standard output, which has the report. Name a file"
    if file.is_dir():
        return None if folders else f"cannot write {file}: it is a folder. Name a file in it"
    if not folder.is_dir():
        return f"cannot write {file}: folder {folder} does not exist. Run: mkdir -p {quote(str(folder))}"
    return _refused(file, folder)


def _is_part(file: Path, whole: Path) -> bool:
    """Return whether an existing file is the same as ``whole``, or in this folder."""
    return whole.exists() and (file.samefile(whole) or whole.resolve() in file.resolve().parents)


def _refused(output: Path, folder: Path) -> str | None:
    """Return why the system refuses to create files in the folder, None if it does not."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        return f"cannot write {output}: {why}. Choose another folder"
    return None
