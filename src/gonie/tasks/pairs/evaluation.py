"""Score a pair model on a file with gold answers, and show the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gonie.formats.pairs import PairSource
from gonie.metrics.class_errors import ClassError
from gonie.metrics.classes import ClassEvaluation
from gonie.reports.class_report import ErrorExplainer, render_classes
from gonie.reports.html.markup import Markup
from gonie.tasks.classification.evaluation import given_map
from gonie.tasks.evaluation import FORMAT, META
from gonie.tasks.pairs.classifier import PairClassifier
from gonie.tasks.pairs.read_options import model_options
from gonie.tasks.pairs.scoring import PairEvaluation, PredictedPairs, check_answers
from gonie.tasks.pairs.value_report import render_values
from gonie.tasks.pairs.values import PairError
from gonie.text.label_map import check_known
from gonie.text.labelled_text import ColumnWords, LabelledPair, count_labels

if TYPE_CHECKING:
    from rich.console import Console

    from gonie.reports.error_list import Cells


ADVICE = ColumnWords("--text-column A --text-column B", "--label-column NAME")
"""How `gonie evaluate` names columns."""


class PairEvaluator:
    """Scores pair models for `gonie evaluate`."""

    options = frozenset({"text_column", "label_column", "map"})
    error = PairError
    error_heading = "pair"

    def error_cells(self) -> Callable[[PairError], Cells]:
        """Return the function that prints an error."""
        from gonie.tasks.pairs.view import error_cells

        return error_cells

    def score(
        self, model: PairClassifier, file: Path, *, folder: Path, options: Mapping[str, Any]
    ) -> PairFileScores:
        """Score the predictions for a file. The default columns are those of the training file."""
        gold = "value" if model.gives_values else "label"
        asked = {gold: options["label_column"]} if "label_column" in options else {}
        texts = options.get("text_column", ())
        columns = model_options(
            model.recipe,
            texts=texts,
            answer=asked,
            advice=ADVICE,
            format=options[FORMAT],
            map=given_map(options, model.recipe, model.labels),
            meta=tuple(options.get(META, ())),
        )
        source = PairSource(file, columns)
        pairs = list(source)
        check_answers(pairs, values=model.gives_values, advice=ADVICE.gold)
        check_known(list(count_labels(pairs)), model.labels, source.report.path)
        answers = list(model.pipe(pairs))
        notes = Counter(note for answer in answers for note in answer.notes)
        scored = PredictedPairs(
            gold=pairs, answers=answers, labels=model.labels, values=model.gives_values, answer=model.pipe
        )
        told = [f"{number:,} {note}" for note, number in notes.most_common()]
        return PairFileScores(scored.evaluate(), [*source.report.lines(), *told], scored)


@dataclass(frozen=True)
class PairFileScores:
    """The scores of a pair model on one file."""

    evaluation: PairEvaluation
    notes: Sequence[str]
    predictions: PredictedPairs

    @property
    def examples(self) -> Sequence[LabelledPair]:
        """The scored pairs."""
        return self.predictions.gold

    def joined(self, others: Sequence[PairFileScores]) -> PairFileScores:
        """Return the scores on the pairs of this file and of others."""
        scored = self.predictions.joined([other.predictions for other in others])
        return PairFileScores(scored.evaluate(), (), scored)

    def show(self, console: Console) -> None:
        """Print the scores."""
        from gonie.tasks.classification.evaluation_view import print_class_evaluation
        from gonie.tasks.pairs.view import print_values

        if isinstance(self.evaluation, ClassEvaluation):
            print_class_evaluation(console, self.evaluation, noun="pairs")
        else:
            print_values(console, self.evaluation)

    def page(
        self,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        explain: ErrorExplainer | None,
        first: Mapping[str, Markup | None] = {},
    ) -> str:
        """Return the scores as an HTML page."""
        return render_pairs(
            self.evaluation, title=title, curve=curve, details=details, explain=explain, first=first
        )

    def errors(self) -> list[PairError]:
        """Return every error, the worst first."""
        if not isinstance(self.evaluation, ClassEvaluation):
            return self.evaluation.errors()
        pairs = {(pair.path, pair.line): pair for pair in self.examples}
        return [_wrong_label(error, pairs[error.file, error.line]) for error in self.evaluation.errors()]


def render_pairs(
    evaluation: PairEvaluation,
    *,
    title: str,
    curve: Sequence[Mapping[str, object]],
    details: Mapping[str, object],
    explain: ErrorExplainer | None = None,
    first: Mapping[str, Markup | None] | None = None,
) -> str:
    """Render the report of labels or of values as one HTML file."""
    if isinstance(evaluation, ClassEvaluation):
        return render_classes(
            evaluation, title=title, curve=curve, details=details, explain=explain, noun="pairs", first=first
        )
    return render_values(evaluation, title=title, curve=curve, details=details, first=first)


def _wrong_label(error: ClassError, pair: LabelledPair) -> PairError:
    return PairError(
        confidence=error.confidence,
        kind=error.kind.value,
        gold=error.gold or "",
        predicted=error.predicted or "",
        text=pair.first,
        text_pair=pair.second,
        file=error.file,
        line=error.line,
    )
