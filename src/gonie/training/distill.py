"""Distillation: a teacher answers unlabelled text, and a student is trained on its answers.

The answers are in ``teacher/`` of the run folder of the student, which is trained as any recipe is, with the
keys ``data.answers`` and ``loss.teacher``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, cast

from torch import nn

from gonie.errors import GonieError, InputError, OutputError, RecipeError, ResumeError
from gonie.tasks.bundled import BundledModel
from gonie.tasks.ensemble import combine
from gonie.tasks.load import is_in_context, load
from gonie.tasks.members import refuse_twice
from gonie.tasks.paths import locate, missing_paths
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import BEST, TEACHER
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.table import TASKS
from gonie.tasks.teacher import INDEX, Answers, AnswerSettings, Request, Teacher, write_answers
from gonie.tasks.torch.job import Note
from gonie.tasks.torch.task import TeachingTask
from gonie.tasks.torch.trained import load_trained
from gonie.tasks.written_recipe import toml_value
from gonie.text.report import count
from gonie.text.types import shortened
from gonie.training.fit import choose_device, memory_errors
from gonie.training.folder import RunFolder, lock_run, next_folder
from gonie.training.loss_terms.table import check_terms
from gonie.training.run import RunDisplay, RunResult, resume_run, start_run

SHOWN = 5
"""Examples without an answer that are named."""
WITHOUT_TEACHER = "without teacher"
"""The name of the variant of the student that learns only the gold labels."""


class DistillObserver(RunDisplay, Protocol):
    """Shows the progress of a distillation."""

    def answered(self, done: int, total: int) -> None:
        """Called while the teacher answers."""


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """A teacher, the recipe of a student, and unlabelled text.

    ``teacher`` are run folders, bundles or loaded models, several for an ensemble, or one ``Teacher`` of
    another kind. ``loading`` are the options of an in-context model (``llm:…``), which teaches alone.
    """

    teacher: Sequence[str | PathLike[str] | BundledModel] | Teacher
    recipe: str | Path
    """The name or the file of the recipe."""
    changes: Sequence[str]
    """Changes of the recipe, ``key=value``."""
    answers: AnswerSettings
    loading: Mapping[str, Any] = field(default_factory=dict)
    compare: bool = False
    """Whether the student is also trained without the teacher, for comparison."""


@dataclass(frozen=True, kw_only=True)
class Distilled:
    """A trained student, with its teacher."""

    result: RunResult
    teacher: Any
    """The predictor that taught: a model, an ensemble, or a ``Teacher`` of another kind."""
    recipe: CorpusRecipe
    answers: Answers
    models: Sequence[Path]
    """The folders of the teacher, none if it is of another kind."""


def default_folder(recipe: str, *, resume: bool = False) -> Path:
    """Return runs/distill-NAME or the next free name. To resume, return the latest run."""
    name = f"distill-{Path(recipe).name.removesuffix('.toml')}"
    return next_folder(name, mark=f"{TEACHER}/{INDEX}", resume=resume)


def distill(
    request: Distillation, folder: Path, display: DistillObserver, *, resume: bool = False
) -> Distilled | None:
    """Ask the teacher, and train the student in ``folder``. Return None if training was interrupted.

    With ``resume``, answers that are in the folder are kept, and so is the progress of training. An interrupt
    while the teacher answers raises ``KeyboardInterrupt``, after the answers so far are saved.
    """
    recipe = _checked_recipe(request)
    task = TASKS[recipe.task]
    half = task.torch()
    if not isinstance(half, TeachingTask):
        raise RecipeError([f"gonie distill works with taggers and text classifiers, not with {task.model}s"])
    run = RunFolder(folder, task.run_files)
    _check_folder(run, resume=resume)
    models: list[Any] = []
    teacher: Any = request.teacher
    if isinstance(teacher, Sequence):
        models, networks = open_models(teacher, recipe, display.note, request.loading)
        teacher = half.teacher_of(models, networks, recipe, request.answers)
    asked = half.answer_request(recipe, teacher, request.answers, display.note)
    created = not resume and run.create()
    try:
        with memory_errors(), lock_run(folder):
            answers = write_answers(asked, folder / TEACHER, display.answered)
    except BaseException:
        if created:
            with suppress(OSError):  # the folder is not empty if there are answers
                folder.rmdir()
        raise
    _note_missing(asked, answers, display.note)
    result = _train(request, recipe, run, display)
    if result is None:
        return None
    predictor = teacher if not models else models[0] if len(models) == 1 else combine(models)
    folders = tuple(model.origin.path for model in models if model.origin is not None)
    return Distilled(result=result, teacher=predictor, recipe=recipe, answers=answers, models=folders)


def _note_missing(asked: Request, answers: Answers, note: Note) -> None:
    """Name the examples that the teacher could not answer."""
    missing = answers.missing()
    if not len(missing):
        return
    examples = (asked.examples[row] for row in missing[:SHOWN].tolist())
    texts = (each.surface if hasattr(each, "surface") else each.text for each in examples)
    shown = "; ".join(repr(shortened(text)) for text in texts)
    more = "; …" if len(missing) > SHOWN else ""
    note(
        f"warning: {count(len(missing), 'unlabelled example')} of {len(answers):,} without an answer, left "
        f"out: {shown}{more}"
    )


def _train(
    request: Distillation, recipe: CorpusRecipe, run: RunFolder, display: DistillObserver
) -> RunResult | None:
    """Train the student, or resume its training. Return None if interrupted."""
    answers = f"data.answers={toml_value(str((run.root / TEACHER).absolute()))}"
    learned = [] if "teacher" in recipe.loss else ["loss.teacher={}"]
    changes, name = [*request.changes, answers, *learned], str(request.recipe)
    if run.recipe.is_file():
        own = cast("CorpusRecipe", load_recipe(run.recipe))
        if request.compare and WITHOUT_TEACHER not in own.variants:
            raise ResumeError(
                f"{run.root} was started without --compare. Resume without it, or start a new run with "
                "another --out."
            )
        return resume_run(run.root, display, changes, name=name)
    student = cast("CorpusRecipe", load_recipe(request.recipe, changes))
    if request.compare:
        loss = {term: values for term, values in recipe.loss.items() if term != "teacher"}
        variants = {**student.variants, WITHOUT_TEACHER: {"data.answers": "none", "loss": loss}}
        student = student.model_copy(update={"variants": variants})
    return start_run(student, run.root, display, name=name)


def _checked_recipe(request: Distillation) -> CorpusRecipe:
    """Return the recipe of the student, before any long work, or raise an error."""
    recipe = load_recipe(request.recipe, request.changes)
    if not isinstance(recipe, CorpusRecipe):
        raise RecipeError([f"gonie distill trains models on labelled examples, not {recipe.task!r}"])
    data: Any = recipe.data
    if getattr(data, "answers", None) is not None:
        raise RecipeError(["data.answers: gonie distill writes the answers itself; remove this key"])
    if recipe.train.start is not None:
        raise RecipeError(["train.start: a student of gonie distill starts from no other model; remove it"])
    if problems := missing_paths(recipe):
        raise RecipeError(problems)
    choose_device(recipe.train)
    check_terms(recipe)
    for file in request.answers.files:
        if not locate(file).is_file():
            raise InputError(f"file not found: {file}", fix="Pass files of text with --text FILE")
    return recipe


def _check_folder(run: RunFolder, *, resume: bool) -> None:
    """Refuse a new run in a folder with answers or with a run, and resuming one without answers."""
    begun = (run.root / TEACHER / INDEX).is_file()
    if resume and not begun:
        raise GonieError(
            f"{run.root} has no answers of a teacher to resume from. Start a run without --resume."
        )
    if resume:
        return
    if begun:
        raise OutputError(
            f"{run.root} already contains the answers of a teacher. Resume it with --resume, or choose "
            "another --out."
        )
    run.check_free()


def open_models(
    paths: Sequence[str | PathLike[str] | BundledModel],
    recipe: CorpusRecipe,
    note: Note,
    loading: Mapping[str, Any] = {},
) -> tuple[list[Any], dict[int, nn.Module]]:
    """Load the models of a teacher. Also return networks on the GPU, if the student is trained there.

    The networks are those of models in run folders, by the number of the model. ``note`` receives that others
    answer on the CPU. ``loading`` are the options of an in-context model.
    """
    if len(paths) > 1 and (alone := [path for path in paths if is_in_context(path)]):
        raise InputError(
            f"--ensemble needs probabilities, which {alone[0]} does not give",
            fix="Pass it as the only teacher",
        )
    models: list[Any] = [
        path
        if isinstance(path, BundledModel)
        else load(path, task=recipe.task, **loading)
        if is_in_context(path)
        else load(path)
        for path in paths
    ]
    task = TASKS[recipe.task]
    for path, model in zip(paths, models, strict=True):
        if model.task != recipe.task:
            raise InputError(
                f"the teacher {path} is a {TASKS[model.task].model}, and the recipe trains a {task.model}",
                fix="Use a teacher and a recipe of the same task",
            )
        if model.vector_width:
            raise InputError(
                f"the teacher {path} reads external vectors, which unlabelled text does not have",
                fix="Use a teacher without model.external",
            )
    if len(models) == 1 and not getattr(models[0], "has_probabilities", True):
        return models, {}
    refuse_twice(models)
    combine(models)  # checks that their labels are the same
    device = choose_device(recipe.train)
    if device.type != "cuda":
        return models, {}
    networks = {
        number: load_trained(model.origin.path).model.to(device)
        for number, model in enumerate(models)
        if model.origin is not None and (model.origin.path / BEST).is_file()
    }
    if len(networks) < len(models):
        note("teachers that are bundles without a run folder answer on the CPU")
    return models, networks
