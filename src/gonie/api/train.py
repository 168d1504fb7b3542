"""``gonie.train``: train a model from a recipe, with files or with examples in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack, overload

from gonie.api.rows import Data
from gonie.api.run_data import DataFolder, data_files
from gonie.api.settings import changed_keys, python_messages, recipe_path, refuse_arguments, settings
from gonie.api.training import training_process
from gonie.reports.cost import cost_line
from gonie.reports.html.markup import Markup, element, fragment
from gonie.tasks.run_files import FORGETTING

if TYPE_CHECKING:
    from gonie.api.events import OnEvent
    from gonie.api.options import Device, PairRecipe, TagRecipe, TextRecipe, TrainOptions
    from gonie.api.scores import ModelScores
    from gonie.system.cost import RunCost
    from gonie.tasks.classification.classifier import TextClassifier
    from gonie.tasks.pairs.classifier import PairClassifier
    from gonie.tasks.tagging.tagger import Tagger
    from gonie.training.run import RunDisplay

Model_co = TypeVar("Model_co", covariant=True)


@dataclass(frozen=True)
class Run(Generic[Model_co]):
    """A finished training run.

    ``scores`` has those of the best epoch, by split: dev, and test if there is test data. ``history`` has a
    record per epoch, as in ``metrics.jsonl``. ``cost`` is what the run cost, with the sessions before it was
    resumed and without its variants. ``notes`` say what was found in the data.

    A run can be passed in place of the path of its folder: ``gonie.load(run)``, ``set={"train.start": run}``.
    """

    folder: Path
    scores: Mapping[str, ModelScores]
    history: Sequence[Mapping[str, Any]] = field(repr=False)
    best_epoch: int
    seconds: float
    cost: RunCost
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __fspath__(self) -> str:
        """Return the path of the run folder."""
        return str(self.folder)

    @cached_property
    def model(self) -> Model_co:
        """The trained model, loaded from the bundle in ``folder`` when it is first used."""
        from gonie.tasks.load import load

        found: Model_co = load(self.folder)
        return found

    @property
    def forgetting(self) -> Mapping[str, Any] | None:
        """The scores on the held-out data of the start, before and after: the content of forgetting.json.

        None without a start, or if the models share no label.
        """
        path = self.folder / FORGETTING
        found: Mapping[str, Any] | None = json.loads(path.read_bytes()) if path.is_file() else None
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain values."""
        return {
            "folder": str(self.folder),
            "scores": {split: scores.to_dict() for split, scores in self.scores.items()},
            "best_epoch": self.best_epoch,
            "seconds": self.seconds,
            "cost": self.cost.to_json(),
            "notes": list(self.notes),
            "history": [dict(record) for record in self.history],
        }

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _repr_html_(self) -> str:
        parts = (fragment(split, " ", Markup(scores._repr_html_())) for split, scores in self.scores.items())
        where = f"{self.folder}, best epoch {self.best_epoch} of {len(self.history)}, {self.seconds:.0f} s"
        spent = ", ".join(cost_line(self.cost))
        return element(
            "div", element("p", where), element("p", spent), *(element("div", part) for part in parts)
        )


@overload
def train(
    recipe: TagRecipe,
    train: Data = None,
    dev: Data = None,
    test: Data = None,
    **options: Unpack[TrainOptions],
) -> Run[Tagger]: ...
@overload
def train(
    recipe: TextRecipe,
    train: Data = None,
    dev: Data = None,
    test: Data = None,
    **options: Unpack[TrainOptions],
) -> Run[TextClassifier]: ...
@overload
def train(
    recipe: PairRecipe,
    train: Data = None,
    dev: Data = None,
    test: Data = None,
    **options: Unpack[TrainOptions],
) -> Run[PairClassifier]: ...
@overload
def train(
    recipe: str | PathLike[str],
    train: Data = None,
    dev: Data = None,
    test: Data = None,
    **options: Unpack[TrainOptions],
) -> Run[Any]: ...


def train(
    recipe: str | PathLike[str],
    train: Data = None,
    dev: Data = None,
    test: Data = None,
    *,
    set: Mapping[str, Any] | None = None,
    out: str | PathLike[str] | None = None,
    seed: int | None = None,
    device: Device | None = None,
    resume: bool = False,
    progress: bool = True,
    on_event: OnEvent | None = None,
    **others: Any,
) -> Run[Any]:
    """Train a model, as ``gonie train`` does, and return the finished run.

    ``recipe`` is the name of a shipped recipe, or a file. ``train``, ``dev`` and ``test`` are files, or
    examples in memory: a list of ``gonie.Sentence`` or ``gonie.LabelledText``, of (words, tags) or (text,
    label), of dictionaries, or a pandas, polars, PyArrow or ``datasets`` table. Several domains are a
    dictionary of these by name, ``{"web": "web.conll", "news": rows}``, as ``data.train.NAME`` of a recipe.
    ``set`` changes keys of the recipe: ``{"train.epochs": 5, "data.text_column": "question"}``. ``out`` is
    the run folder, by default ``runs/NAME`` or the next free name.

    ``progress=False`` shows nothing. ``on_event`` is called with the events of ``gonie.api.events``. An
    interrupted run raises ``KeyboardInterrupt`` after saving its progress; ``resume=True`` continues it.
    """
    refuse_arguments("gonie.train", others)
    with python_messages(recipe=True), training_process(), display_of(progress=progress) as displays:
        from gonie.api.events import EventDisplay, run_scores
        from gonie.tasks.recipe import load_recipe
        from gonie.training.folder import RunFolder
        from gonie.training.run import default_folder, resume_run, start_run

        name = recipe_path(recipe)
        folder = Path(out) if out is not None else default_folder(name, resume=resume)
        options = {"train.seed": seed, "train.device": device}
        changes = {**changed_keys(set), **{key: value for key, value in options.items() if value is not None}}
        splits = {"train": train, "dev": dev, "test": test}
        given = {key: data for key, data in splits.items() if data is not None}
        display = EventDisplay(displays, on_event)
        run = RunFolder(folder)
        own = DataFolder(folder, create=run.create, mark=run.recipe.name, resume=resume)
        with data_files(run.recipe if resume else name, given, changes, own) as found:
            if resume:
                result = resume_run(folder, display, settings(found), name=name)
            else:
                result = start_run(load_recipe(name, settings(found)), folder, display, name=name)
        if result is None:
            raise KeyboardInterrupt(
                f"progress is saved in {folder}. Resume with: "
                f"gonie.train({str(folder / 'recipe.toml')!r}, out={str(folder)!r}, resume=True)"
            )
        return Run(
            folder=folder,
            scores=run_scores(result),
            history=run.history(),
            best_epoch=result.best_epoch,
            seconds=result.seconds,
            cost=result.cost,
            notes=tuple(display.notes),
        )


def display_of(*, progress: bool) -> AbstractContextManager[Sequence[RunDisplay]]:
    """Return the display of a notebook or of a terminal, or none."""
    if not progress:
        return nullcontext(())
    from gonie.api.notebook import NotebookDisplay, in_notebook
    from gonie.cli.views.training_display import TrainingDisplay

    return _opened(NotebookDisplay() if in_notebook() else TrainingDisplay())


@contextmanager
def _opened(display: Any) -> Iterator[Sequence[RunDisplay]]:
    with display:
        yield (display,)
