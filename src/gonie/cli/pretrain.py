"""`gonie pretrain`: learn a bidirectional language model from running text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options.recipe import Changes, Device, Resume, RunOut, Seed, with_choices


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
        typer.Option("--from", metavar="BILM", help="Go on from this language model, on other text."),
    ] = None,
    changes: Changes = None,
    out: RunOut = None,
    resume: Resume = False,
    seed: Seed = None,
    device: Device = None,
) -> None:
    """Pretrain the language model of ELMo: reads text of any size, leaves a run folder with the model.

    Text is plain, .gz or .xz, a paragraph a line, or a column of .parquet. It is tokenised once.

    Examples:

      gonie pretrain elmo-small --text wiki.txt.xz --text news.txt.gz

      gonie pretrain elmo-small --from runs/elmo-small --text domain.txt --set train.epochs=3

      gonie pretrain elmo-small --out runs/elmo-small --resume
    """
    from gonie.cli.heap import keep_heap
    from gonie.cli.threads import calm_threads
    from gonie.cli.views.pretrain_display import PretrainScreen

    calm_threads()
    keep_heap()
    import json

    from gonie.tasks.recipe import load_recipe
    from gonie.training.pretrain_run import resume_pretraining, start_pretraining
    from gonie.training.run import default_folder

    settings = with_choices(changes, seed=seed, device=device)
    settings += [f"data.text={json.dumps([str(path) for path in text])}"] if text else []
    settings += [f"model.start={json.dumps(str(start))}"] if start else []
    with PretrainScreen() as screen:
        if resume:
            result = resume_pretraining(out or default_folder(recipe, resume=True), screen, settings)
        else:
            result = start_pretraining(
                load_recipe(recipe, settings, command="pretrain"), out or default_folder(recipe), screen
            )
    if result is None:
        raise typer.Exit(130)
