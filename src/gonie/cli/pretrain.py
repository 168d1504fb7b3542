"""`gonie pretrain`: learn a bidirectional language model from running text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options.recipe import Changes, Device, Resume, RunOut, Seed, with_choices
from gonie.cli.train import run_training


def pretrain(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE", help="A recipe file, or the name of a shipped one (elmo, elmo-small, elmo-ko)."
        ),
    ],
    *,
    text: Annotated[
        list[Path] | None,
        typer.Option(help="Text to learn from, in place of the recipe's: same as data.text. Repeatable."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option("--from", metavar="BILM", help="Start from this language model, on other text."),
    ] = None,
    changes: Changes = None,
    out: RunOut = None,
    resume: Resume = False,
    seed: Seed = None,
    device: Device = None,
) -> None:
    """Pretrain the language model of ELMo: reads text of any size, writes a run folder with the model.

    Text is plain, .gz or .xz, one paragraph per line, or a column of .parquet. It is tokenised once.

    Examples:

      gonie pretrain elmo-small --text wiki.txt.xz --text news.txt.gz

      gonie pretrain elmo-small --from runs/elmo-small --text domain.txt --set train.epochs=3

      gonie pretrain elmo-small --out runs/elmo-small --resume
    """
    settings = with_choices(changes, seed=seed, device=device)
    settings += [f"data.text={json.dumps([str(path) for path in text])}"] if text else []
    settings += [f"model.start={json.dumps(str(start))}"] if start else []
    run_training(recipe, settings, out=out, resume=resume, command="pretrain")
