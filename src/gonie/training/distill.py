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
from gonie.text.labelled_text import LabelledText
from gonie.text.report import count
from gonie.text.types import Sentence, shortened
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


TeacherPath = str | PathLike[str] | BundledModel
"""A run folder, a bundle, the address of a language model, or a loaded model."""


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """A teacher, the recipe of a student, and unlabelled text.

    ``teacher`` is a list of run folders, bundles or loaded models, several for an ensemble, or one
    ``Teacher`` of another kind. ``loading`` are the options of an in-context model (``llm:…``), which teaches
    alone.
    """

    teacher: list[TeacherPath] | tuple[TeacherPath, ...] | Teacher
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
    teacher: BundledModel | Teacher
    """The predictor that taught: a model, an ensemble, or a ``Teacher`` of another kind."""
    recipe: CorpusRecipe
    answers: Answers
    models: Sequence[Path]
    """The folders of the teacher, none if it is of another kind."""


class _NotesOnce:
    """A display that shows each note once. The text is read before it is answered, and again for training."""

    def __init__(self, display: DistillObserver) -> None:
        self._display = display
        self._shown: set[str] = set()

    def note(self, text: str) -> None:
        """Show a note, unless it was shown before."""
        if text not in self._shown:
            self._shown.add(text)
            self._display.note(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._display, name)


@dataclass(frozen=True)
class _OpenedTeacher:
    """A source of answers, and the models that it asks, if it is made of models."""

    source: Teacher
    models: Sequence[BundledModel] = ()

    def predictor(self) -> BundledModel | Teacher:
        """Return what predicts as the teacher does: its model, the ensemble of its models, or itself."""
        if not self.models:
            return self.source
        if len(self.models) == 1:
            return self.models[0]
        ensemble: BundledModel = combine(self.models)
        return ensemble

    def folders(self) -> tuple[Path, ...]:
        """Return the folders of its models."""
        return tuple(model.origin.path for model in self.models if model.origin is not None)


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
    display = cast("DistillObserver", _NotesOnce(display))
    recipe = _checked_recipe(request)
    task = TASKS[recipe.task]
    teaching = task.torch()
    if not isinstance(teaching, TeachingTask):
        raise RecipeError([f"gonie distill works with taggers and text classifiers, not with {task.model}s"])
    run = RunFolder(folder, task.run_files)
    _check_folder(run, resume=resume)
    teacher = _open_teacher(request, recipe, teaching, display.note)
    wanted = teaching.answer_request(recipe, teacher.source, request.answers, display.note)
    answers = _ask(wanted, run, display, resume=resume)
    result = _train(request, recipe, run, display)
    if result is None:
        return None
    return Distilled(
        result=result,
        teacher=teacher.predictor(),
        recipe=recipe,
        answers=answers,
        models=teacher.folders(),
    )


def _ask(wanted: Request, run: RunFolder, display: DistillObserver, *, resume: bool) -> Answers:
    """Return the answers of the teacher, which are in the folder. A new folder without any is deleted."""
    created = not resume and run.create()
    try:
        with memory_errors(), lock_run(run.root):
            answers = write_answers(wanted, run.root / TEACHER, display.answered)
    except BaseException:
        if created:
            with suppress(OSError):  # the folder is not empty if there are answers
                run.root.rmdir()
        raise
    _note_missing(wanted, answers, display.note)
    return answers


def _note_missing(wanted: Request, answers: Answers, note: Note) -> None:
    """Name the examples that the teacher could not answer."""
    missing = answers.missing()
    if not len(missing):
        return
    named = [_text_of(wanted.examples[row]) for row in missing[:SHOWN].tolist()]
    shown = "; ".join(repr(shortened(text)) for text in named)
    more = "; …" if len(missing) > SHOWN else ""
    note(
        f"warning: {count(len(missing), 'unlabelled example')} of {len(answers):,} without an answer, left "
        f"out: {shown}{more}"
    )


def _text_of(example: Sentence | LabelledText) -> str:
    return example.surface if isinstance(example, Sentence) else example.text


def _train(
    request: Distillation, recipe: CorpusRecipe, run: RunFolder, display: DistillObserver
) -> RunResult | None:
    """Train the student, or resume its training. Return None if interrupted.

    Its recipe is ``recipe`` with the answers, which are there only now.
    """
    changes = [*request.changes, f"data.answers={toml_value(str((run.root / TEACHER).absolute()))}"]
    if "teacher" not in recipe.loss:
        changes.append("loss.teacher={}")
    name = str(request.recipe)
    if run.recipe.is_file():
        saved = cast("CorpusRecipe", load_recipe(run.recipe))
        if request.compare and WITHOUT_TEACHER not in saved.variants:
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


def _open_teacher(
    request: Distillation, recipe: CorpusRecipe, teaching: TeachingTask, note: Note
) -> _OpenedTeacher:
    """Open the models of the teacher, if it is made of models."""
    if not isinstance(request.teacher, list | tuple):
        return _OpenedTeacher(request.teacher)
    models = open_models(request.teacher, recipe, request.loading)
    networks = networks_on_gpu(models, recipe, note)
    return _OpenedTeacher(teaching.teacher_of(models, networks, recipe, request.answers), models)


def open_models(
    paths: Sequence[TeacherPath], recipe: CorpusRecipe, loading: Mapping[str, Any] | None = None
) -> list[BundledModel]:
    """Return models that can teach together. ``loading`` are the options of an in-context model."""
    if len(paths) > 1 and (alone := [path for path in paths if is_in_context(path)]):
        raise InputError(
            f"--ensemble needs probabilities, which {alone[0]} does not give",
            fix="Pass it as the only teacher",
        )
    models = [_open_model(path, recipe, loading or {}) for path in paths]
    if len(models) > 1 or models[0].has_probabilities:
        combine(models)  # checks that their labels are the same
        refuse_twice(models)
    return models


def _open_model(path: TeacherPath, recipe: CorpusRecipe, loading: Mapping[str, Any]) -> BundledModel:
    """Return a model that can teach students of this recipe."""
    model = path
    if is_in_context(path):
        model = load(path, task=recipe.task, **loading)
    elif not isinstance(path, BundledModel):
        model = load(path)
    if not isinstance(model, BundledModel):
        raise InputError(f"the teacher {path} is a service", fix="Use a run folder or a bundle")
    if model.task != recipe.task:
        raise InputError(
            f"the teacher {path} is a {TASKS[model.task].model}, and the recipe trains a "
            f"{TASKS[recipe.task].model}",
            fix="Use a teacher and a recipe of the same task",
        )
    if model.vector_width:
        raise InputError(
            f"the teacher {path} reads external vectors, which unlabelled text does not have",
            fix="Use a teacher without model.external",
        )
    return model


def networks_on_gpu(models: Sequence[BundledModel], recipe: CorpusRecipe, note: Note) -> dict[int, nn.Module]:
    """Return networks by the number of their model, if the student is trained on a GPU: those of run folders.

    ``note`` receives that others answer on the CPU.
    """
    device = choose_device(recipe.train)
    if device.type != "cuda" or not models[0].has_probabilities:
        return {}
    networks = {
        number: load_trained(model.origin.path).model.to(device)
        for number, model in enumerate(models)
        if model.origin is not None and (model.origin.path / BEST).is_file()
    }
    if len(networks) < len(models):
        note("teachers that are bundles without a run folder answer on the CPU")
    return networks
