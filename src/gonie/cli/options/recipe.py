"""How commands that take a recipe are told which one, and what to change in it."""

from __future__ import annotations

from pathlib import Path
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
RunOut = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for the run; runs/RECIPE, or the next free name, if not given."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume the run in --out.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Same as --set train.seed=N.")]
Device = Annotated[str | None, typer.Option("--device", help="cpu or cuda; same as --set train.device=….")]


def with_choices(changes: list[str] | None, *, seed: int | None, device: str | None) -> list[str]:
    """The changes of a recipe, with those that have an option of their own."""
    settings = list(changes or [])
    settings += [f"train.seed={seed}"] if seed is not None else []
    settings += [f"train.device={device}"] if device is not None else []
    return settings
