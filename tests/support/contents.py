"""The content of a file, given as text, for the readers of formats."""

from __future__ import annotations

from pathlib import Path

from gonie.formats.content import Content, FileHead


def content(text: str, *, path: str = "f") -> Content:
    """Return the content of a text file that need not exist."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return Content(Path(path), FileHead(path, lines), iter(list(enumerate(lines, 1))))
