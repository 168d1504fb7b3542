"""The arguments of commands that run a model over a text, files or standard input, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="A run folder or a bundle.")]
GivenText = Annotated[
    str | None,
    typer.Argument(metavar="TEXT", help="The text; standard input if neither it nor --file is given."),
]
GivenTexts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT",
        help="The text, or the texts of a model that takes several; standard input if neither it nor --file "
        "is given.",
    ),
]
