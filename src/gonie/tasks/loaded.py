"""A loaded model together with its task, for code that works with any task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from gonie.errors import BundleError, GonieError, InputError, MissingExtraError
from gonie.tasks.bundled import ModelUsage
from gonie.tasks.ensemble import combine
from gonie.tasks.evaluation import Evaluator
from gonie.tasks.explanation import ExplainedModel
from gonie.tasks.load import load
from gonie.tasks.members import Advance, refuse_twice
from gonie.tasks.records import Records
from gonie.tasks.table import TASKS
from gonie.tasks.task import Task

REPEATED = {"spans": "span"}
"""Options that are lists, and the name that is typed for each of their values."""


class LoadedModel(NamedTuple):
    """A model and its task."""

    task: Task
    model: Any
    folder: str

    @property
    def is_ensemble(self) -> bool:
        """Whether the model is an ensemble, which is scored but not explained."""
        return getattr(self.model, "members", None) is not None

    def combined(self, others: Sequence[Any], advance: Advance | None = None) -> LoadedModel:
        """Return the ensemble of this model and others, given as models or by their folders.

        ``advance`` receives the progress of predictions.
        """
        self._check_local()
        self._check_probabilities("--ensemble")
        models = [load(other) if isinstance(other, str | PathLike) else other for other in others]
        ensemble = combine([self.model, *models], advance)
        refuse_twice([self.model, *models])
        return self._replace(model=ensemble)

    def with_passes(self, passes: int, *, seed: int = 0, advance: Advance | None = None) -> LoadedModel:
        """Return the ensemble of several passes of the network of this model with dropout (MC dropout)."""
        self._check_local()
        self._check_probabilities("--mc-dropout")
        if find_spec("torch") is None:
            raise MissingExtraError("torch", extra="train", purpose="MC dropout")
        from gonie.tasks.torch.mc_dropout import load_passes

        return self._replace(
            model=load_passes(Path(self.folder), self.model, passes, seed=seed, advance=advance)
        )

    def records(self, command: str) -> Records:
        """Return the interface that answers rows, or raise an error if another command runs the model."""
        found = self.task.records
        if found is None or self.task.predict != command:
            raise BundleError(f"{self.folder} is a {self.task.model}; {self.task.describe_use(self.folder)}")
        return found()

    def evaluator(self, given: Iterable[str]) -> Evaluator:
        """Return the interface that scores files, or raise an error if a ``given`` option does not apply."""
        self._check_local()
        if self.task.evaluation is None:
            raise GonieError(f"{self.folder} is a {self.task.model}, which cannot be scored on a file")
        found = self.task.evaluation()
        others = [name for name in given if name not in found.options]
        known = {name for task in TASKS.values() if task.evaluation for name in task.evaluation().options}
        if unknown := [name for name in others if name not in known]:
            raise GonieError(
                f"unknown option of gonie.evaluate: {unknown[0]}. Use {', '.join(sorted(found.options))}"
            )
        if others:
            raise GonieError(f"{_listed(others)} not apply to {self.task.model}s")
        return found

    def _check_local(self) -> None:
        """Refuse a model of a service where the model itself is needed."""
        from gonie.client.address import is_url

        if is_url(self.folder):
            raise GonieError(
                f"{self.folder} is a service, but this needs the model itself. Pass its run folder or bundle"
            )

    def _check_probabilities(self, option: str) -> None:
        """Refuse a model without probabilities where they are needed."""
        if not getattr(self.model, "has_probabilities", True):
            raise GonieError(f"{option} needs probabilities, which {self.folder} does not give")

    @property
    def usage(self) -> ModelUsage | None:
        """What the answers of the model cost, if another program gives them."""
        return getattr(self.model, "usage", None)

    @property
    def vector_width(self) -> int:
        """The width of the external vectors that every text must have; 0: the model reads none."""
        return getattr(self.model, "vector_width", 0)

    def notes_on(self, file: str | PathLike[str]) -> list[str]:
        """Return a warning if the model was trained on this file, or a run that it started from."""
        from gonie.tasks.lineage import earlier_runs  # needs pydantic, unlike prediction
        from gonie.tasks.sections import trained_files

        recipe, path = self.model.recipe, Path(file).resolve()
        if path in trained_files(recipe.get("data", {})):
            return [f"warning: the model was trained on {file}, so its scores on this file are too high"]
        for folder, earlier in earlier_runs(recipe.get("train", {}).get("start")):
            if path in trained_files(earlier.data.model_dump(mode="json")):
                return [
                    f"warning: the model started from {folder}, which was trained on {file}, so its scores "
                    "on this file may be too high"
                ]
        return []

    def explained(self, options: Mapping[str, Any]) -> ExplainedModel:
        """Return the model with explanations, or raise an error for options that do not apply."""
        self._check_local()
        self._check_probabilities("an explanation")
        if self.is_ensemble:
            raise GonieError("an ensemble cannot be explained. Explain one of its models")
        if self.task.explanation is None:
            raise GonieError(f"{self.folder} is a {self.task.model}, which cannot be explained")
        if self.vector_width:
            raise GonieError(
                f"{self.folder} reads external vectors, and explanations of such models are not supported. "
                "To see its errors: gonie evaluate MODEL FILE --vectors FILE --errors errors.tsv"
            )
        found = self.task.explanation()
        for name in options:
            if name not in found.options:
                takes = [
                    task for task in TASKS.values() if task.explanation and name in task.explanation().options
                ]
                raise GonieError(
                    f"{_typed(name)} works only with {' and '.join(f'{task.model}s' for task in takes)}; "
                    f"{self.folder} is a {self.task.model}"
                )
        return found.explained(self.model, options)


def _typed(option: str) -> str:
    """Return an option as it is typed on the command line."""
    return f"--{REPEATED.get(option, option).replace('_', '-')}"


def _listed(options: Sequence[str]) -> str:
    named = ", ".join(map(_typed, options))
    return f"{named} {'does' if len(options) == 1 else 'do'}"


def load_model(folder: str | PathLike[str], *, threads: int | None = None, **options: Any) -> LoadedModel:
    """Load the model in a bundle or run folder, or at the URL of a service, together with its task.

    ``options`` are those of an in-context model.
    """
    from gonie.client.address import ServiceAddress, is_url

    if not is_url(folder):
        model = load(folder, threads=threads, **options)
        return LoadedModel(TASKS[model.task], model, str(folder))
    from gonie.client.remote_models import connect

    if options:
        raise InputError(f"{', '.join(options)}: only for in-context models, not for {folder}")

    url = str(ServiceAddress.parse(folder))
    remote = connect(url)
    return LoadedModel(TASKS[remote.task], remote, url)
