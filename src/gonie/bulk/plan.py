"""The plan of a bulk run: its files, how they are cut, and the model. It allows the run to resume.

``_plan.json`` in the output folder:

    format      2
    gonie       the version that wrote it
    settings    the settings of the job, with the model as a digest, and the shard size in bytes
    files       path, kind, size, modified (nanoseconds) and pieces [at, row, rows, size] of each, in order

A run into the same folder must have the same plan. The pieces are not compared, since they follow from the
rest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from gonie.bulk.pieces import FilePiece, Shard, cut_file, shards
from gonie.errors import InputError, ResumeError
from gonie.formats.text_rows import AUTO, kind_of
from gonie.system.files import refuse_stream, unreadable
from gonie.version import __version__

FORMAT = 2
SHARD_SIZE = "shard_size"

ShowCutting = Callable[[int, int], None]
"""Called with the number of files cut so far and in total."""


class InputFile(NamedTuple):
    """An input file at the time of planning."""

    path: str
    kind: str
    size: int
    modified: int

    @property
    def name(self) -> str:
        """The path in parts, which are UTF-8: other bytes are written as \\xNN."""
        return os.fsencode(self.path).decode("utf-8", errors="backslashreplace")


@dataclass(frozen=True, kw_only=True)
class BulkPlan:
    """The plan of a run. ``settings`` is everything that the parts depend on except the files."""

    settings: Mapping[str, Any]
    sources: Sequence[InputFile]
    pieces: Sequence[FilePiece] = ()
    gonie: str = __version__

    def shards(self) -> list[Shard]:
        """Return the units of work in the order of the input."""
        return list(shards(self.pieces, size=self.settings[SHARD_SIZE]))

    def cut(self, show: ShowCutting) -> BulkPlan:
        """Return the plan with the pieces of its files. Reads each file once."""
        columns, size = self.settings["columns"], self.settings[SHARD_SIZE]
        pieces: list[FilePiece] = []
        for number, source in enumerate(self.sources):
            show(number, len(self.sources))
            pieces += cut_file(number, Path(source.path), kind=source.kind, columns=columns, size=size)
        return BulkPlan(settings=self.settings, sources=self.sources, pieces=pieces)

    def dump(self) -> str:
        """Return the plan as JSON, with one line per file."""
        found: list[list[list[int]]] = [[] for _ in self.sources]
        for file, *rest in self.pieces:
            found[file].append(rest)
        files = [
            json.dumps({**source._asdict(), "pieces": own})
            for source, own in zip(self.sources, found, strict=True)
        ]
        head = {"format": FORMAT, "gonie": self.gonie, "settings": self.settings}
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        return "{\n" + ",\n".join([*lines, '"files": [\n' + ",\n".join(files) + "\n]"]) + "\n}\n"

    @classmethod
    def load(cls, path: Path) -> BulkPlan:
        """Read a plan file."""
        try:
            found = json.loads(path.read_text("utf-8"))
            if found["format"] != FORMAT:
                raise ValueError(f"unknown format {found['format']!r}")
            files = [(InputFile(file["path"], *_numbers(file)), file["pieces"]) for file in found["files"]]
            own = ([FilePiece(i, *map(int, piece)) for piece in cut] for i, (_, cut) in enumerate(files))
            return cls(
                settings=dict(found["settings"]),
                sources=[source for source, _ in files],
                pieces=list(chain.from_iterable(own)),
                gonie=found["gonie"],
            )
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ResumeError(
                f"{path}: invalid plan of a bulk run ({error}). Delete the folder, or choose another --out."
            ) from error

    def check_same(self, earlier: BulkPlan, folder: Path) -> None:
        """Refuse to resume a run that began with different settings or files."""
        for name, was, now in _differences(earlier, self):
            raise ResumeError(
                f"{folder}: cannot resume, because {name} changed from {was} to {now}. "
                "Run the original command to resume, or choose another --out."
            )


def _numbers(file: Mapping[str, Any]) -> tuple[str, int, int]:
    return str(file["kind"]), int(file["size"]), int(file["modified"])


def _differences(earlier: BulkPlan, later: BulkPlan) -> list[tuple[str, Any, Any]]:
    """Return the differences between two plans: name, old value, new value."""
    pairs: list[tuple[str, Any, Any]] = [("gonie", earlier.gonie, later.gonie)]
    names = dict.fromkeys((*earlier.settings, *later.settings))
    pairs += [(name, earlier.settings.get(name), later.settings.get(name)) for name in names]
    pairs.append(("the number of files", len(earlier.sources), len(later.sources)))
    for was, now in zip(earlier.sources, later.sources, strict=False):
        pairs.append(("a file", was.path, now.path))
        pairs.append((f"the format of {now.path}", was.kind, now.kind))
        pairs.append((f"the size of {now.path}", was.size, now.size))
        pairs.append((f"the modification time of {now.path}", was.modified, now.modified))
    return [(name, was, now) for name, was, now in pairs if was != now]


def make_plan(
    settings: Mapping[str, Any],
    paths: Sequence[Path],
    *,
    kinds: Sequence[str],
    kind: str = AUTO,
    shard_size: int,
) -> BulkPlan:
    """Return the plan for these files, not cut yet. ``AUTO`` chooses among ``kinds`` by file suffix."""
    if not paths:
        raise InputError("no input files", fix="Pass --file FILE")
    sources = [_source(path, kind_of(path, kinds) if kind == AUTO else kind) for path in paths]
    return BulkPlan(settings={**settings, SHARD_SIZE: shard_size}, sources=sources)


def _source(path: Path, kind: str) -> InputFile:
    refuse_stream(path)
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable(path, error) from None
    return InputFile(str(path), kind, status.st_size, status.st_mtime_ns)
