"""``gonie.distill``: train a small model on the answers of a large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gonie.api.events import EventDisplay, run_scores
from gonie.api.run_data import DataFolder, data_files
from gonie.api.settings import changed_keys, python_messages, recipe_path, refuse_arguments, settings
from gonie.api.train import Run
from gonie.api.training import training_process
from gonie.errors import InputError
from gonie.tasks.bundled import BundledModel

if TYPE_CHECKING:
    from gonie.api.events import OnEvent
    from gonie.api.options import Device
    from gonie.api.rows import Data
    from gonie.experiments.distilled import ComparedModels
    from gonie.tasks.teacher import Teacher
    from gonie.training.distill import DistillObserver

ModelPath = str | PathLike[str]


@dataclass(frozen=True)
class DistilledRun(Run[Any]):
    """A finished run of a student. ``compared`` has score, speed and size of teacher and student."""

    compared: ComparedModels = field(kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain values."""
        return {**super().to_dict(), "compared": self.compared.to_json()}


def distill(
    teacher: ModelPath | BundledModel | Sequence[ModelPath | BundledModel] | Teacher,
    recipe: ModelPath,
    text: ModelPath | Sequence[ModelPath],
    *,
    train: Data = None,
    dev: Data = None,
    test: Data = None,
    temperature: float = 1.0,
    nbest: int = 5,
    confidence: float | None = None,
    sentences: int | None = None,
    map: str | Mapping[str, str] | None = None,
    compare: bool = False,
    set: Mapping[str, Any] | None = None,
    out: ModelPath | None = None,
    seed: int | None = None,
    device: Device | None = None,
    resume: bool = False,
    progress: bool = True,
    on_event: OnEvent | None = None,
    **others: Any,
) -> DistilledRun:
    """Train a small model on the answers of a teacher, as ``gonie distill`` does, and return the run.

    ``teacher`` is a run folder, a bundle or a model of ``gonie.load``, several of them for an ensemble, or an
    object that answers texts itself (``gonie.tasks.teacher.Teacher``). ``text`` is a file of unlabelled text,
    or several. ``train``, ``dev`` and ``test`` are labelled data as for ``gonie.train``. ``temperature``
    divides the scores of teacher and student, ``nbest`` tag sequences of the teacher are kept for
    ``loss.teacher.paths``, and answers below ``confidence`` are left out. At most so many ``sentences`` are
    used. ``map`` renames labels of the teacher: ``{"person": "PER", "misc": "O"}``. With ``compare``, the
    student is also trained without the teacher. ``set`` changes keys of the recipe:
    ``{"loss.teacher.gold": 0.5}``.

    Other arguments are those of ``gonie.train``. An interrupted run raises ``KeyboardInterrupt``; with
    ``resume=True``, the answers so far and the progress of training are kept.
    """
    refuse_arguments("gonie.distill", others)
    with python_messages(recipe=True), training_process():
        from gonie.api.train import display_of
        from gonie.experiments.distilled import compare_models
        from gonie.tasks.teacher import AnswerSettings
        from gonie.text.label_map import parse_map
        from gonie.training.distill import Distillation, default_folder
        from gonie.training.distill import distill as run_distillation
        from gonie.training.folder import RunFolder

        name = recipe_path(recipe)
        folder = Path(out) if out is not None else default_folder(name, resume=resume)
        options = {"train.seed": seed, "train.device": device, "loss.teacher.confidence": confidence}
        changes = {**changed_keys(set), **{key: value for key, value in options.items() if value is not None}}
        given = {
            key: data for key, data in (("train", train), ("dev", dev), ("test", test)) if data is not None
        }
        rules = [map] if isinstance(map, str) else [f"{old}={new}" for old, new in (map or {}).items()]
        answers = AnswerSettings(
            files=tuple(str(Path(file).expanduser().absolute()) for file in _paths(text)),
            most=sentences,
            temperature=temperature,
            nbest=nbest,
            map=parse_map(rules).rules,
        )
        run = RunFolder(folder)
        own = DataFolder(folder, create=run.create, mark=run.recipe.name, resume=resume)
        with (
            display_of(progress=progress) as displays,
            data_files(name, given, changes, own) as found,
        ):
            display = _DistillEvents(displays, on_event)
            distilled = run_distillation(
                Distillation(
                    teacher=_teacher(teacher),
                    recipe=name,
                    changes=settings(found),
                    answers=answers,
                    compare=compare,
                ),
                folder,
                display,
                resume=resume,
            )
        if distilled is None:
            raise KeyboardInterrupt(
                f"progress is saved in {folder}. Resume with the same call and resume=True"
            )
        result = distilled.result
        return DistilledRun(
            folder=folder,
            scores=run_scores(result),
            history=run.history(),
            best_epoch=result.best_epoch,
            seconds=result.seconds,
            cost=result.cost,
            notes=tuple(display.notes),
            compared=compare_models(distilled),
        )


class _DistillEvents(EventDisplay):
    """Sends the events of the student's run, and shows the progress of the teacher."""

    def answered(self, done: int, total: int) -> None:
        """Forward the progress to displays that show it."""
        for display in self.displays:
            cast("DistillObserver", display).answered(done, total)


def _paths(text: ModelPath | Sequence[ModelPath]) -> list[str]:
    """Return the files of text."""
    paths = [text] if isinstance(text, str | PathLike) else list(text)
    if not paths or not all(isinstance(path, str | PathLike) for path in paths):
        raise InputError(f"not files of text: {text!r}"[:200], fix="Pass a path, or a list of paths")
    return [fspath(path) for path in paths]


def _teacher(teacher: Any) -> Any:
    """Return the folders or models of the teacher, or a teacher of another kind."""
    if isinstance(teacher, str | PathLike | BundledModel):
        return [teacher]
    if isinstance(teacher, list | tuple):
        return list(teacher)
    if not hasattr(teacher, "answers"):
        raise InputError(
            f"not a teacher: {teacher!r}"[:200],
            fix="Pass a run folder, a bundle, a list of them, or an object with the method answers",
        )
    return teacher
