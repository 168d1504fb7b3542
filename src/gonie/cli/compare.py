"""`gonie compare`: train and compare a grid of recipes and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options import complete_key, complete_recipe
from gonie.system.outputs import check_output_folder


def compare(
    recipes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]RECIPE[:KEY=VALUE,…]",
            help="Recipe files or names of shipped recipes; more than one are compared. A recipe can have a "
            "name and settings of its own. With --sizes also trained models: run folders or bundles.",
            autocompletion=complete_recipe,
        ),
    ] = None,
    *,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=A,B,C",
            help="Sweep a recipe key over values, or set it to one: --set train.lr=0.1,0.01. Repeatable.",
            autocompletion=complete_key,
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds per cell, counted up from train.seed. Default: 1.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,…,all",
            help="Train on samples of so many training examples, and write a page that shows from which size "
            "on which model is best.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Cross-validation of classifiers: number of folds of the training file."),
    ] = None,
    leave_one_domain_out: Annotated[
        bool,
        typer.Option(
            "--leave-one-domain-out",
            help="Train without each of the named training files in turn (data.train), and test on it.",
        ),
    ] = False,
    in_sequence: Annotated[
        bool,
        typer.Option(
            "--in-sequence",
            help="Train on the named training files one after another (data.train), each time from the model "
            "before, and show how much is forgotten.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write. Default: runs/compare-RECIPE, or the next free name."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the comparison in --out.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Cells to train in parallel. Default: one per core, or one on a GPU."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the checkpoints of every cell.")] = False,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; same as --set train.device=….")] = None,
) -> None:
    """Train every combination of recipes and settings, and compare the results.

    A cell is one combination. Writes a table of means, standard deviations and p-values, and learning curves.
    An interrupted comparison continues with --resume. Exits with 1 if a cell failed.

    Examples:

      gonie compare ner --set train.lr=0.001,0.003,0.01 --set model.dropout.input=0.1,0.3,0.5

      gonie compare lstm bilstm bilstm-crf --set data.vectors=none,glove.6B.50d.txt.gz --seeds 3

      gonie compare subjectivity --set data.train=mine.tsv --set model.encoder.hidden=50,100 --folds 10

      gonie compare ner --set data.train.web=web.conll --set data.train.news=news.conll --leave-one-domain-out

      gonie compare domains.toml --in-sequence --set train.replay=0,100

      gonie compare ner plain=ner:model.elmo.bilm=none old=runs/ner --sizes 20,100,500,all --seeds 3

      gonie compare --out runs/compare-ner --resume
    """
    from gonie.cli.process_settings import keep_freed_memory, limit_spinning
    from gonie.cli.views.compare_display import CompareDisplay

    check_output_folder(out)
    limit_spinning()
    keep_freed_memory()
    from gonie.errors import GonieError
    from gonie.experiments.compare import resume_comparison, start_comparison
    from gonie.experiments.grid import leave_out_each
    from gonie.experiments.line import split_models
    from gonie.experiments.plan import ComparisonRequest
    from gonie.experiments.sizes import read_sizes, refuse_models_alone

    trained, models = split_models(recipes or [])
    if not trained and not resume:
        refuse_models_alone(models)
    folder = _folder(list(trained), out, resume=resume)
    wanted = read_sizes(sizes) if sizes is not None else ()
    settings = [*(changes or []), *([f"train.device={device}"] if device is not None else [])]
    if in_sequence and (leave_one_domain_out or folds):
        other = "--leave-one-domain-out" if leave_one_domain_out else "--folds"
        raise GonieError(f"--in-sequence cannot be combined with {other}. Remove one of them.")
    if leave_one_domain_out and wanted:
        raise GonieError("--sizes cannot be combined with --leave-one-domain-out. Remove one of them.")
    if leave_one_domain_out and not resume:
        settings.append(leave_out_each(trained, settings))
    with CompareDisplay() as display:
        if resume:
            result = resume_comparison(
                folder,
                display,
                recipes=trained,
                changes=settings,
                seeds=seeds,
                folds=folds,
                in_sequence=in_sequence,
                sizes=wanted,
                models=models,
                jobs=jobs,
                keep=keep,
            )
        else:
            request = ComparisonRequest(
                trained, tuple(settings), seeds or 1, folds or 0, in_sequence, wanted, models
            )
            result = start_comparison(request, folder, display, jobs=jobs, keep=keep)
    if result is None:
        raise typer.Exit(130)
    if result.failures:
        raise typer.Exit(1)


def _folder(recipes: list[str], out: Path | None, *, resume: bool) -> Path:
    """Return the folder of the comparison, by default named after the first recipe."""
    from gonie.errors import GonieError
    from gonie.experiments.line import read_recipe
    from gonie.experiments.plan import PLAN
    from gonie.training.folder import next_folder

    if not recipes and not resume:
        raise GonieError("no recipe to compare. Pass one, for example: gonie compare ner --seeds 3")
    if out is not None:
        return out
    if not recipes:
        raise GonieError("--resume requires --out or a recipe")
    name = Path(read_recipe(recipes[0]).recipe).name.removesuffix(".toml")
    return next_folder(f"compare-{name}", mark=PLAN, resume=resume)
