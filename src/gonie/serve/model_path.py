"""The name under which a model is served."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gonie.errors import InputError
from gonie.tasks.load import refuse_in_context


class ModelPath(NamedTuple):
    """The name under which a model is served, and its folder."""

    name: str
    path: str

    @classmethod
    def parse(cls, argument: str) -> ModelPath:
        """Return ``NAME=PATH``, or a path with the name of its folder (of its run, for a bundle in a run)."""
        name, equals, path = argument.partition("=")
        if equals and "/" not in name and not Path(argument).exists():
            if not name or not path:
                raise InputError(f"invalid model: {argument!r}", fix="Use PATH or NAME=PATH")
            refuse_in_context(path)
            return cls(name, path)
        refuse_in_context(argument)
        folder = Path(argument).absolute()
        return cls(folder.parent.name if folder.name == "bundle" else folder.name, argument)
