"""Scoring a classifier on a file with gold labels, and showing the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gonie.errors import InputError
from gonie.features.external_vectors import open_for_model
from gonie.formats.labelled import LabelledSource
from gonie.formats.tagged import check_labels
from gonie.metrics.class_errors import ClassError
from gonie.metrics.classes import ClassEvaluation
from gonie.reports.class_report import ErrorExplainer, render_classes
from gonie.reports.html.markup import Markup
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.read_options import text_options
from gonie.tasks.classification.scoring import PredictedTexts
from gonie.tasks.evaluation import FORMAT, META, VECTORS
from gonie.text.label_map import check_known, parse_map
from gonie.text.labelled_text import LabelledText, count_labels

if TYPE_CHECKING:
    from rich.console import Console

    from gonie.reports.error_list import Cells


TEXT_COLUMN = "text_column"


class TextEvaluator:
    """Scores classifiers on files."""

    options = frozenset({TEXT_COLUMN, "label_column", "map", VECTORS})
    error = ClassError
    error_heading = "text"

    def error_cells(self) -> Callable[[ClassError], Cells]:
        """Return the function that formats the labels of a text, and the text."""
        from gonie.tasks.classification.evaluation_view import text_cells

        return text_cells

    def score(
        self, model: TextClassifier, file: Path, *, folder: Path, options: Mapping[str, Any]
    ) -> TextFileScores:
        """Score the labels of a file. Options that are not given are as in training."""
        changes = {name: value for name, value in options.items() if name in (*self.options, FORMAT, META)}
        if TEXT_COLUMN in changes:
            changes[TEXT_COLUMN] = _one(changes[TEXT_COLUMN])
        changes["map"] = given_map(options, model.recipe, model.labels)
        vectors = changes.pop(VECTORS, None)
        source = LabelledSource(file, text_options(model.recipe, **changes))
        if vectors is None:
            texts = list(source)
        else:
            own = open_for_model(vectors, width=model.vector_width, recipe=model.recipe, per="text")
            texts = list(own.attach_texts(source))
        labels = count_labels(texts)
        if source.options.format == "auto" and labels.keys().isdisjoint(model.labels):
            check_labels(labels, len(texts), noun="label", path=source.report.path)
        check_known(list(labels), model.labels, source.report.path)

        answers = list(model.pipe(texts))
        notes = Counter(note for answer in answers for note in answer.notes)
        scored = PredictedTexts(
            gold=texts,
            answers=answers,
            labels=model.labels,
            multi_label=model.multi_label,
            classify=model.pipe,
            has_probabilities=model.has_probabilities,
        )
        lines = [f"{number:,} {note}" for note, number in notes.most_common()]
        return TextFileScores(scored.evaluate(), [*source.report.lines(), *lines], scored)


@dataclass(frozen=True)
class TextFileScores:
    """The scores of a classifier on one file."""

    evaluation: ClassEvaluation
    notes: Sequence[str]
    predictions: PredictedTexts

    @property
    def examples(self) -> Sequence[LabelledText]:
        """The scored texts."""
        return self.predictions.gold

    def joined(self, others: Sequence[TextFileScores]) -> TextFileScores:
        """Return the scores on the texts of this file and of others."""
        scored = self.predictions.joined([other.predictions for other in others])
        return TextFileScores(scored.evaluate(), (), scored)

    def show(self, console: Console) -> None:
        """Print the scores."""
        from gonie.tasks.classification.evaluation_view import print_class_evaluation

        print_class_evaluation(console, self.evaluation)

    def page(
        self,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        explain: ErrorExplainer | None,
        first: Mapping[str, Markup | None] = {},
    ) -> str:
        """Return the scores as an HTML page, with explanations of the worst errors."""
        return render_classes(
            self.evaluation, title=title, curve=curve, details=details, explain=explain, first=first
        )

    def errors(self) -> list[ClassError]:
        """Return every error, the most confident first."""
        return self.evaluation.errors()


def given_map(
    options: Mapping[str, Any], recipe: Mapping[str, Any], labels: Sequence[str]
) -> Mapping[str, str]:
    """Return the label map of the options, added to that of the recipe, to the labels of the model."""
    rules = parse_map(options.get("map") or (), default=recipe.get("data", {}).get("map", {}))
    return rules.to_labels(labels).rules


def _one(columns: Sequence[str]) -> str:
    if len(columns) > 1:
        raise InputError(f"a classifier reads one text: {', '.join(columns)}", fix="Pass --text-column once")
    return columns[0]
