"""`gonie pretrain`: pretrain a bidirectional language model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options import Changes, Device, Resume, RunOut, Seed, complete_recipe, with_seed_and_device
from gonie.cli.train import run_training


def pretrain(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="A recipe file, or the name of a shipped recipe (elmo, elmo-small, elmo-ko).",
            autocompletion=complete_recipe,
        ),
    ],
    *,
    text: Annotated[
        list[Path] | None,
        typer.Option(help="Text file to train on; replaces data.text of the recipe. Repeatable."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="BILM",
            help="Continue from a language model on new text: en or ko, which ship with gonie, or a folder.",
        ),
    ] = None,
    changes: Changes = None,
    out: RunOut = None,
    resume: Resume = False,
    seed: Seed = None,
    device: Device = None,
) -> None:
    """Pretrain a bidirectional language model (ELMo) on raw text.

    Reads text of any size: plain, .gz or .xz with one paragraph per line, or a column of .parquet. Shows
    progress and writes a run folder with the model.

    Examples:

      gonie pretrain elmo-small --text wiki.txt.xz --text news.txt.gz

      gonie pretrain elmo-small --from en --text domain.txt --set train.epochs=3

      gonie pretrain elmo-small --out runs/elmo-small --resume
    """
    settings = with_seed_and_device(changes, seed=seed, device=device)
    settings += [f"data.text={json.dumps([str(path) for path in text])}"] if text else []
    settings += [f"model.start={json.dumps(start)}"] if start else []
    run_training(recipe, settings, out=out, resume=resume, command="pretrain")
