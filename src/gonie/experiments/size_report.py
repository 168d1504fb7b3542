"""The report of a comparison over training sizes: the lines of all models, and what the models cost.

Besides the files of any comparison, the folder has

    sizes.html              the page: where the lines cross, a chart and a table
    sizes.png, sizes.svg    the chart
    sizes.json              all scores, costs and regions
    costs.json              the measured costs, which are not measured again
    models/NAME.json        the score of an existing model, or models/NAME_size=N_seed=S.json
    samples/…               the training examples of a size and seed, if an in-context model shows them
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gonie.errors import GonieError, InputError, ResumeError
from gonie.experiments.cell import Preparations
from gonie.experiments.comparison import Comparison, ComparisonRow, Spread
from gonie.experiments.existing_models import ModelScore, column_settings, score_model
from gonie.experiments.grid import SIZE, Grid
from gonie.experiments.line import ExistingModel, read_model
from gonie.experiments.model_costs import TEXTS, measure_costs
from gonie.experiments.plan import CELLS, RECIPE, ComparisonPlan, PlannedRun
from gonie.experiments.sizes import line_name
from gonie.formats.jsonl import json_line
from gonie.formats.tagged import write as write_tagged
from gonie.metrics.score_curves import ScoreCurve, ScorePoint
from gonie.reports.size_comparison import ModelCost, SizeComparison, SizeLine, read_cost
from gonie.system.files import atomic_write, make_folder
from gonie.tasks.evaluation import evenly
from gonie.tasks.load import is_model
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import BUNDLE
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.table import TASKS
from gonie.tasks.torch.prepare import read_dev
from gonie.text.labelled_text import LabelledText
from gonie.training.folder import file_name

PAGE, CHART, VALUES, COSTS = "sizes.html", "sizes", "sizes.json", "costs.json"
SIZE_REPORTS = (PAGE, f"{CHART}.png", f"{CHART}.svg", VALUES, COSTS)
MODELS, SAMPLES = "models", "samples"

Note = Callable[[str], None]


class SizeReport:
    """Collects the lines of a finished comparison in its folder.

    ``note`` receives notes, and ``told`` has those for the page: warnings, and what in-context models cost.
    ``advance`` receives what is done, how much of it, and how much there is.
    """

    def __init__(
        self, plan: ComparisonPlan, folder: Path, note: Note, advance: Callable[[str, int, int], None]
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._note = note
        self._advance = advance
        self._shipped = {run.cell: run for run in plan.runs if run.shipped}
        self.told: list[str] = []

    def collect(self, comparison: Comparison) -> SizeComparison:
        """Score the existing models, measure all costs, and return the lines."""
        noun = TASKS[self._recipe(self._plan.runs[0]).task].examples
        sizes = self._sizes(comparison.rows)
        if not sizes:
            raise GonieError("all runs failed, so there are no scores by size. See the table for the errors.")
        curves = {**self._trained(comparison, sizes), **self._in_context_curves(sizes)}
        references = self._references(comparison.metric, sizes)
        costs = self._costs()
        lines = [SizeLine(curve, costs.get(name)) for name, curve in curves.items()]
        lines += [replace(line, cost=costs.get(line.name)) for line in references]
        return SizeComparison(
            metric=comparison.metric,
            tested_on=comparison.tested_on,
            noun=noun,
            sizes=tuple(sorted(set(sizes.values()))),
            seeds=comparison.seeds,
            lines=tuple(lines),
        )

    @property
    def _models(self) -> list[ExistingModel]:
        return [read_model(argument) for argument in self._plan.request.models]

    def _recipe(self, run: PlannedRun) -> CorpusRecipe:
        recipe: CorpusRecipe = load_recipe(self._folder / CELLS / run.folder / RECIPE)
        return recipe

    def _sizes(self, rows: Sequence[ComparisonRow]) -> dict[str, float]:
        """Return the number of training examples of each size that has a score."""
        at = _size_place(self._plan.grid)
        found: dict[str, float] = {}
        for row in rows:
            labelled = Spread.of([scores.labelled for scores in row.scores])
            if labelled is not None:
                found.setdefault(row.values[at], labelled.mean)
        return {size: found[size] for size in self._plan.request.sizes if size in found}

    def _trained(self, comparison: Comparison, sizes: Mapping[str, float]) -> dict[str, ScoreCurve]:
        """Return the curves of the trained models. A size at which all runs failed is left out."""
        grid, at = self._plan.grid, _size_place(self._plan.grid)
        found: dict[str, list[ScorePoint]] = {}
        for cell, row in zip(grid.cells, comparison.rows, strict=True):
            points = found.setdefault(line_name(grid, cell), [])
            spread = row.test if comparison.tested_on == "test" else row.dev
            if spread is not None:
                points.append(ScorePoint(sizes[row.values[at]], spread.mean, spread.sd))
        return {name: ScoreCurve(name, tuple(sorted(points))) for name, points in found.items() if points}

    def _in_context_curves(self, sizes: Mapping[str, float]) -> dict[str, ScoreCurve]:
        """Return the curves of the in-context models."""
        found: dict[str, ScoreCurve] = {}
        for model in (model for model in self._models if model.in_context):
            scored = (self._in_context(model, size, number) for size, number in sizes.items())
            if points := tuple(point for point in scored if point is not None):
                found[model.name] = ScoreCurve(model.name, points)
        return found

    def _references(self, metric: str, sizes: Mapping[str, float]) -> list[SizeLine]:
        """Return the lines of the models that were trained before, without their costs."""
        lines = []
        for model in (model for model in self._models if not model.in_context):
            score = self._score(model, model.name, None)
            self._check_metric(model, score, metric)
            points = tuple(ScorePoint(number, score.score) for number in sizes.values())
            lines.append(SizeLine(ScoreCurve(model.name, points), constant=True, labelled=score.labelled))
        return lines

    def _in_context(self, model: ExistingModel, size: str, number: float) -> ScorePoint | None:
        """Return the score of an in-context model that chooses its shots from the samples of a size.

        A sample that cannot be shown, for example without any entity, is noted and left out.
        """
        at = _size_place(self._plan.grid)
        cell = next(n for n, each in enumerate(self._plan.grid.cells) if each.values[at] == size)
        scores = []
        for run in (run for run in self._plan.runs if run.cell == cell):
            name = f"{model.name}_size={size}_seed={run.seed}"
            try:
                scores.append(self._score(model, name, self._sample(run, size)).score)
            except InputError as error:
                self._warn(f"warning: {name} is left out: {error}")
        spread = Spread.of(scores)
        return None if spread is None else ScorePoint(number, spread.mean, spread.sd)

    def _score(self, model: ExistingModel, name: str, examples: Path | None) -> ModelScore:
        """Score a model, or read its score if it is already known."""
        path = self._folder / MODELS / f"{file_name(name)}.json"
        values = _read_json(path)
        if values is None:
            self._advance(f"scoring {name}", 0, 1)
            score = score_model(
                model,
                self._recipe(self._plan.runs[0]),
                examples,
                lambda done, number: self._advance(f"scoring {name}", done, number),
            )
            make_folder(path.parent)
            atomic_write(path, json.dumps(asdict(score), ensure_ascii=False))
        else:
            score = ModelScore.from_json(values)
        for text in score.notes:
            self._note(f"{name}: {text}")
            if model.in_context or is_warning(text):  # the others are about reading the test file
                self.told.append(f"{name}: {text}")
        return score

    def _check_metric(self, model: ExistingModel, score: ModelScore, metric: str) -> None:
        own = score.metric.replace("_", " ")
        if own.casefold() != metric.casefold():
            self._warn(
                f"warning: {model.name} is scored by {own}, the others by {metric}, which cannot be compared"
            )

    def _warn(self, text: str) -> None:
        self.told.append(text)
        self._note(text)

    def _sample(self, run: PlannedRun, size: str) -> Path:
        """Write the training examples of a run to a file, if it is not there yet."""
        path = self._folder / SAMPLES / f"size={size}_seed={run.seed}.jsonl"
        if not path.exists():
            job = Preparations().get(self._recipe(run), lambda text: None)
            make_folder(path.parent)
            if job.recipe.task == "tag":
                write_tagged(path, job.examples("train"), "jsonl", scheme=job.encoding.scheme)
            else:
                atomic_write(path, "".join(map(_text_line(job.recipe), job.examples("train"))))
        return path

    def _costs(self) -> dict[str, ModelCost]:
        """Return the costs of all models with a bundle, measured together or read from their file."""
        path = self._folder / COSTS
        known = _read_json(path)
        if known is not None:
            return {name: read_cost(values) for name, values in known.items()}
        grid = self._plan.grid
        folders = {
            line_name(grid, grid.cells[cell]): self._folder / CELLS / run.folder / BUNDLE
            for cell, run in self._shipped.items()
        }
        folders |= {model.name: Path(model.place) for model in self._models if not model.in_context}
        folders = {name: place for name, place in folders.items() if is_model(place)}
        recipe = self._recipe(self._plan.runs[0])
        data = recipe.data.model_copy(update={"dev": recipe.data.test or recipe.data.dev})
        examples = read_dev(recipe.model_copy(update={"data": data}), lambda text: None)
        chosen = evenly([each for each in examples if _text(each)], TEXTS)
        texts = [_text(each) if recipe.task == "tag" else each for each in chosen]
        tokens = sum(len(each) if recipe.task == "tag" else len(each.text.split()) for each in chosen)

        def advance(done: int, number: int) -> None:
            self._advance("measuring the speed of the models", done, number)

        found = measure_costs(folders, texts, tokens, advance)
        in_context = {model.name: self._cost_in_context(model) for model in self._models if model.in_context}
        atomic_write(path, json.dumps({name: cost._asdict() for name, cost in (found | in_context).items()}))
        return found | in_context

    def _cost_in_context(self, model: ExistingModel) -> ModelCost:
        """Return the time per text of an in-context model, in its last scoring."""
        last = f"{model.name}_size={self._plan.request.sizes[-1]}_seed={self._plan.runs[0].seed}"
        values = _read_json(self._folder / MODELS / f"{file_name(last)}.json")
        milliseconds = None if values is None else 1000 * ModelScore.from_json(values).seconds_per_text
        return ModelCost(None, milliseconds, None)


def is_warning(note: str) -> bool:
    """Return whether a note is a warning. It may begin with the name of what it is about."""
    return "warning: " in note.partition("\n")[0]


def _text(example: Any) -> str:
    """Return the text of an example."""
    return str(example.surface if hasattr(example, "surface") else example.text)


def _text_line(recipe: CorpusRecipe) -> Callable[[LabelledText], str]:
    """Return a function that writes a text as a line of JSON, with the columns of the recipe."""
    named = {"text_column": "text", "label_column": "label", "label_separator": "", **column_settings(recipe)}
    separator = named["label_separator"]

    def line(text: LabelledText) -> str:
        label = separator.join(text.labels) if separator else text.labels[0]
        return json_line({named["text_column"]: text.text, named["label_column"]: label})

    return line


def _size_place(grid: Grid) -> int:
    return next(at for at, axis in enumerate(grid.axes) if axis.key == SIZE)


def _read_json(path: Path) -> dict[str, Any] | None:
    """Return the content of a file that this module wrote, or None if there is none."""
    if not path.exists():
        return None
    try:
        values: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError as error:
        raise ResumeError(f"{path}: invalid file ({error}). Delete it to measure again.") from error
    return values
