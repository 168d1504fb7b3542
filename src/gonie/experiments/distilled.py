"""Teacher and student side by side: score, speed and size."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, cast

from gonie.system.files import atomic_write
from gonie.tasks.load import find_bundle, load
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.table import TASKS
from gonie.tasks.torch.task import TeachingTask
from gonie.training.distill import WITHOUT_TEACHER, Distilled
from gonie.training.folder import RunFolder

DISTILLATION = "distillation.json"
"""The file of the comparison in a run folder."""
MOST_SECONDS = 10.0
"""The longest time in which the speed of a model is measured, apart from its score."""
REPEATS = 4
"""The most repeats of predicting all examples, of which the fastest counts."""
SINGLE = 100
"""Examples that are predicted one at a time."""


@dataclass(frozen=True, kw_only=True)
class ModelFigures:
    """A model of a comparison."""

    name: str
    metric: str
    score: float
    """The main score on the split, as a fraction."""
    tokens_per_second: float
    """Many examples at once."""
    milliseconds: float
    """The median time of an example alone."""
    megabytes: float | None
    """The size of its bundle, or of those of an ensemble. None: not known."""


class MeasuredModel(NamedTuple):
    """A model to measure, its folders if it has any, and new names of its labels."""

    name: str
    model: Any
    folders: Sequence[Path]
    rules: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class ComparedModels:
    """The models of a distillation, compared on the same examples and machine."""

    split: str
    """The name of the split: test or dev."""
    examples: int
    models: Sequence[ModelFigures]

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {**asdict(self), "models": [asdict(each) for each in self.models]}


def compare_models(distilled: Distilled) -> ComparedModels:
    """Score and time the teacher, the student and, if it was trained, the student without teacher.

    All are timed with their bundles on this machine, one after the other. The result is also written to the
    run folder.
    """
    recipe, folder = distilled.recipe, distilled.result.folder
    half = cast("TeachingTask", TASKS[recipe.task].torch())
    split, examples = half.held_out(recipe)
    rules = distilled.answers.settings.map
    models = [
        MeasuredModel("teacher", distilled.teacher, distilled.models, rules),
        MeasuredModel("student", load(folder), [folder]),
    ]
    if WITHOUT_TEACHER in distilled.result.baselines:
        other = RunFolder(folder).variant(WITHOUT_TEACHER).root
        models.append(MeasuredModel(f"student {WITHOUT_TEACHER}", load(other), [other]))
    found = [measure_model(each, recipe, examples) for each in models]
    compared = ComparedModels(split=split, examples=len(examples), models=found)
    atomic_write(folder / DISTILLATION, json.dumps(compared.to_json(), ensure_ascii=False, indent=1))
    return compared


def measure_model(measured: MeasuredModel, recipe: CorpusRecipe, examples: Sequence[Any]) -> ModelFigures:
    """Return the figures of a model.

    Models predict the first examples twice, to warm up. Others, such as services, are asked only once.
    """
    name, model, folders, rules = measured
    half = cast("TeachingTask", TASKS[recipe.task].torch())
    if folders:
        half.predict(model, examples[:SINGLE])
    began = time.perf_counter()
    predicted, tokens = half.predict(model, examples)
    first = seconds = max(time.perf_counter() - began, 1e-9)
    for _ in range(min(REPEATS, int(MOST_SECONDS / first)) if folders else 0):
        began = time.perf_counter()
        half.predict(model, examples)
        seconds = min(seconds, time.perf_counter() - began)
    alone = _single_milliseconds(half, model, examples) if folders else 1000 * seconds / len(examples)
    metric, score = half.score(recipe, model, examples, predicted, rules)
    return ModelFigures(
        name=name,
        metric=metric,
        score=score,
        tokens_per_second=tokens / seconds,
        milliseconds=alone,
        megabytes=sum(map(_megabytes, folders)) if folders else None,
    )


def _single_milliseconds(half: TeachingTask, model: Any, examples: Sequence[Any]) -> float:
    """Return the median time of predicting one example, in milliseconds."""
    times: list[float] = []
    for example in examples[:: max(1, len(examples) // SINGLE)]:
        began = time.perf_counter()
        half.predict(model, [example])
        times.append(1000 * (time.perf_counter() - began))
        if sum(times) > 1000 * MOST_SECONDS:
            break
    return median(times)


def _megabytes(folder: Path) -> float:
    """Return the size of the bundle of a model in megabytes."""
    return sum(file.stat().st_size for file in find_bundle(folder).iterdir() if file.is_file()) / 1e6
