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
    fresh, backup = folder.with_name(f".{folder.name}.new"), backup_path(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _restore(folder, backup)
        _refuse_unknown_files(folder, {*files, *earlier})
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            _write_synced(fresh, files)
            _swap(folder, fresh, backup)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise OutputError(
            f"cannot write {folder}: {error.strerror or error}. Its earlier content is unchanged"
        ) from error


def backup_path(folder: Path) -> Path:
    """Return the temporary name of the earlier folder during replacement."""
    return folder.with_name(f".{folder.name}.old")


def _restore(folder: Path, backup: Path) -> None:
    """Recover from a killed write: restore the earlier folder, or delete it if the new one exists."""
    if backup.exists() and not folder.exists():
        backup.rename(folder)
    shutil.rmtree(backup, ignore_errors=True)


def _refuse_unknown_files(folder: Path, known: Collection[str]) -> None:
    """Refuse to delete files that this module did not write."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError(f"cannot write {folder}: expected a folder, got a file. Choose another folder")
    unknown = sorted(entry.name for entry in folder.iterdir() if entry.name not in known)
    if unknown:
        raise OutputError(
            f"cannot write {folder}: it contains files that are not part of a bundle: "
            f"{', '.join(unknown[:3])}{' …' if len(unknown) > 3 else ''}. Choose another folder"
        )


def _write_synced(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, content in files.items():
        with open(folder / name, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    _sync(folder)


def _swap(folder: Path, fresh: Path, backup: Path) -> None:
    if folder.exists():
        folder.rename(backup)
    try:
        fresh.rename(folder)
    except OSError:
        _restore(folder, backup)
        raise
    _sync(folder.parent)
    shutil.rmtree(backup, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Sync the names in a folder to disk, if the system supports it."""
    if os.name == "nt":  # Windows cannot open a folder to sync it
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
