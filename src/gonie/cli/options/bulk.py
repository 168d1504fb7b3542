"""The options by which `gonie tag` and `gonie classify` go over many files, each written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from gonie.errors import InputError

BULK = "Many files"

Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write numbered parts to this folder, by many workers; the same command again goes on.",
        rich_help_panel=BULK,
    ),
]
Engine = Annotated[
    Literal["local", "ray"] | None,
    typer.Option(help="local: the cores of this machine; ray: Ray Data.", rich_help_panel=BULK),
]
Workers = Annotated[
    int, typer.Option(min=0, help="How many work at once; 0: as many as are good.", rich_help_panel=BULK)
]
Address = Annotated[
    str | None,
    typer.Option(help="The Ray cluster to work on, such as ray://HOST:10001.", rich_help_panel=BULK),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        help="The column of Parquet files, or the key of JSON objects, that has the text; once for each text "
        "where the model takes several.",
        rich_help_panel=BULK,
    ),
]
ShardSize = Annotated[
    int | None,
    typer.Option(metavar="BYTES", min=1, help="Text in a part; 1 MiB if not given.", rich_help_panel=BULK),
]


@dataclass(frozen=True, kw_only=True)
class BulkOptions:
    """The options as they were given."""

    out: Path | None = None
    engine: Literal["local", "ray"] | None = None
    workers: int = 0
    address: str | None = None
    column: Sequence[str] | None = None
    shard_size: int | None = None

    def folder(self, texts: Sequence[str], files: Sequence[Path]) -> Path | None:
        """Where parts go, None if none are asked for; options that mean nothing without are refused."""
        named = [f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value]
        if self.out is None and named:
            raise InputError(f"expected --out DIR with {', '.join(named)}, got none", fix="Name a folder")
        if self.out is not None and (texts or not files):
            raise InputError(f"expected --out with --file FILE, got {'a TEXT' if texts else 'no file'}")
        if self.address and self.engine != "ray":
            raise InputError(f"expected --engine ray with --address, got --engine {self.engine or 'local'}")
        return self.out
