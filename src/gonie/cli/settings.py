"""How commands that take a recipe are told which one, and what to change in it."""

from __future__ import annotations

from typing import Annotated

import typer

RecipeName = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE", help="A recipe file, or the name of a shipped one (ner, pos, chunk, …)."
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change any key: --set model.encoder.hidden=300. Repeatable."
    ),
]
