"""`gonie distill`: train a small model on the answers of a large one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.in_context import LlmSettings, Shots, ShotsFrom, in_context_options
from gonie.cli.options import Changes, Device, RecipeName, Resume, Seed, with_seed_and_device
from gonie.system.outputs import check_output_folder


def distill(
    teacher: Annotated[
        str,
        typer.Argument(
            metavar="TEACHER",
            help="The teacher: a run folder, a bundle, or an in-context model: llm:URL or llm:FILE.gguf.",
        ),
    ],
    recipe: RecipeName,
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Further files of text after --text FILE.", show_default=False),
    ] = None,
    *,
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            metavar="FILE",
            help="Unlabelled text, plain, .gz or .xz: one text per line, or a file with the columns of the "
            "training file, whose labels are ignored. Several files may follow: --text *.txt.",
        ),
    ] = None,
    ensemble: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="Another teacher with the same labels: the probabilities of all are averaged. Can be "
            "repeated.",
        ),
    ] = None,
    temperature: Annotated[
        float,
        typer.Option(min=0.01, help="τ, by which the scores of teacher and student are divided."),
    ] = 1.0,
    nbest: Annotated[
        int,
        typer.Option(
            "--nbest", metavar="N", min=1, help="Best tag sequences to learn from (loss.teacher.paths)."
        ),
    ] = 5,
    sentences: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="The most sentences, or texts, to use, evenly spaced. Default: all."
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            min=0.0,
            max=0.999,
            help="Leave out sentences with a token of whose tag the teacher is less sure; same as --set "
            "loss.teacher.confidence=P.",
        ),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="OLD=NEW",
            help="Rename a label of the teacher; OLD=O drops it. Also the name of a shipped map. Repeatable.",
        ),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Also train the student without the teacher, for comparison."),
    ] = False,
    changes: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Run folder to write. Default: runs/distill-RECIPE, or the next free name."
        ),
    ] = None,
    resume: Resume = False,
    seed: Seed = None,
    device: Device = None,
    shots_from: ShotsFrom = None,
    shots: Shots = None,
    llm: LlmSettings = None,
) -> None:
    """Train a small model on the answers of a large one to unlabelled text.

    The teacher answers the text, and the student learns its probabilities, besides the labels of the training
    file of the recipe. Writes an ordinary run folder with the answers in teacher/. At the end, score, speed
    and size of teacher and student are shown. Ctrl-C keeps the answers and the progress of training.

    Examples:

      gonie distill runs/large ner --text news.txt --set data.train=train.conll --set data.test=test.conll

      gonie distill runs/a small.toml --ensemble runs/b --text *.txt.gz --compare

      gonie distill runs/large ner --text news.txt --out runs/small --resume

      gonie distill llm:http://127.0.0.1:8080/v1 ner --text news.txt --shots-from train.conll
    """
    from gonie.cli.process_settings import keep_freed_memory, limit_spinning
    from gonie.cli.views.distill_display import DistillDisplay
    from gonie.errors import InputError

    check_output_folder(out)
    if not text:
        raise InputError("no unlabelled text", fix="Pass files with --text FILE")
    loading = in_context_options(
        Path(teacher), shots_from=shots_from, shots=shots, llm=llm, show_prompt=False
    )
    limit_spinning()
    keep_freed_memory()
    from gonie.experiments.distilled import compare_models
    from gonie.tasks.teacher import AnswerSettings
    from gonie.text.label_map import parse_map
    from gonie.training.distill import Distillation, default_folder, distill

    settings = with_seed_and_device(changes, seed=seed, device=device)
    if confidence is not None:
        settings.append(f"loss.teacher.confidence={confidence}")
    request = Distillation(
        teacher=[teacher, *(ensemble or ())],
        recipe=recipe,
        changes=settings,
        answers=AnswerSettings(
            files=tuple(str(Path(file).expanduser().absolute()) for file in (*text, *(more or ()))),
            most=sentences,
            temperature=temperature,
            nbest=nbest,
            map=parse_map(map or ()).rules,
        ),
        loading=loading,
        compare=compare,
    )
    folder = out or default_folder(recipe, resume=resume)
    with DistillDisplay(folder) as display:
        try:
            distilled = distill(request, folder, display, resume=resume)
        except KeyboardInterrupt:
            display.stopped_answering()
            raise typer.Exit(130) from None
        if distilled is None:
            raise typer.Exit(130)
        display.note("timing teacher and student")
        display.compared(compare_models(distilled))
        display.used(getattr(distilled.teacher, "usage", None))
