"""Atomic replacement of a folder: all its files appear, or none.

The files are written and synced in ``.NAME.new`` beside the folder, which is then renamed to the folder's
name. Between the two renames an earlier folder is called ``.NAME.old``. If the process is killed at any
moment, either the old or the new content is complete. It has the folder's name or, between the renames, the
name ``.NAME.old``, which the next write renames back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from gonie.errors import OutputError


def replace_folder(folder: Path, files: Mapping[str, bytes], *, earlier: Iterable[str] = ()) -> None:
    """Write ``files`` as ``folder``, replacing an earlier folder of the same files and nothing else.

    ``earlier`` names further files that the earlier folder may contain.
    """
    folder = folder.absolute()
    fresh, aside = folder.with_name(f".{folder.name}.new"), set_aside(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _restore(folder, aside)
        _refuse_strange(folder, {*files, *earlier})
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            _write_synced(fresh, files)
            _swap(folder, fresh, aside)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise OutputError(
            f"cannot write {folder}: {error.strerror or error}. What was there before is untouched."
        ) from error


def set_aside(folder: Path) -> Path:
    """Return the temporary name of the earlier folder during replacement."""
    return folder.with_name(f".{folder.name}.old")


def _restore(folder: Path, aside: Path) -> None:
    """Recover from a killed write: restore the earlier folder, or delete it if the new one exists."""
    if aside.exists() and not folder.exists():
        aside.rename(folder)
    shutil.rmtree(aside, ignore_errors=True)


def _refuse_strange(folder: Path, known: Collection[str]) -> None:
    """Refuse to delete files that this module did not write."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError(f"cannot write {folder}: expected a folder, got a file. Choose another place.")
    strange = sorted(entry.name for entry in folder.iterdir() if entry.name not in known)
    if strange:
        raise OutputError(
            f"cannot write {folder}: expected a new folder or an earlier bundle, got one that also holds "
            f"{', '.join(strange[:3])}{' …' if len(strange) > 3 else ''}. Choose another place."
        )


def _write_synced(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, content in files.items():
        with open(folder / name, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    _sync(folder)


def _swap(folder: Path, fresh: Path, aside: Path) -> None:
    if folder.exists():
        folder.rename(aside)
    try:
        fresh.rename(folder)
    except OSError:
        _restore(folder, aside)
        raise
    _sync(folder.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Sync the names in a folder to disk, if the system supports it."""
    if os.name == "nt":  # Windows cannot open a folder to sync it
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
