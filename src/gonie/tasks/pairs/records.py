"""Predict rows of two texts, and write the predictions as records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gonie.errors import InputError
from gonie.formats.pair_rows import TEXTS
from gonie.formats.text_rows import JSONL, PARQUET, TABLES, TEXT, TSV, TextRow, read_table
from gonie.runtime.groups import FIRST
from gonie.tasks.classification.records import TextNotes
from gonie.tasks.pairs.answer import PairAnswer, checked_pair
from gonie.tasks.pairs.classifier import PairClassifier
from gonie.tasks.pairs.read_options import pair_options
from gonie.tasks.records import Answered, InputKinds, Reject, noted, rounded
from gonie.text.labelled_text import LabelledPair
from gonie.text.report import Report
from gonie.text.tokenizers.settings import TokenizerSettings

if TYPE_CHECKING:
    from rich.text import Text


class PairRecords:
    """Runs pair models for `gonie classify` and bulk runs. The option ``columns`` holds those of tables."""

    inputs = InputKinds(
        stream=(TEXT, JSONL, *TABLES, PARQUET),
        labelled=TABLES,
        detected=(JSONL, *TABLES, PARQUET),
        files=(TEXT, JSONL, TSV, PARQUET),
    )
    outputs = ("pretty", JSONL)
    fields = ("label", "score", "scores", "value", "notes")

    def columns(self, recipe: Mapping[str, Any], asked: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of the two texts: those asked for, else those of the training file."""
        if len(asked) not in (0, 2):
            raise InputError(
                f"expected two --column options, one for each text of a pair, got {len(asked)}",
                fix="Pass --column FIRST --column SECOND",
            )
        return tuple(asked) or pair_options(recipe).texts or TEXTS[0]

    def answering(self, model: PairClassifier, options: Mapping[str, Any]) -> PairAnswering:
        """Return the model with the options."""
        return PairAnswering(model, columns=options.get("columns", ()))

    def arrow_columns(self, arrow: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the columns of a Parquet part: label, score, scores and value, null where they do not apply.

        label string, score double, scores list<{label string, score double}>, value double
        """
        text, score = arrow.string(), arrow.float64()
        return {
            "text_pair": text,
            "label": text,
            "score": score,
            "scores": arrow.list_(arrow.struct({"label": text, "score": score})),
            "value": score,
        }

    def cells(self, answered: Answered, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record as a row of those columns."""
        found: PairAnswer = answered.found
        scores = [{"label": label, "score": score} for label, score in record.get("scores", {}).items()]
        nothing = {"label": None, "score": None, "value": None}
        return {**nothing, **record, "text": found.text, "text_pair": found.text_pair, "scores": scores}

    def notes(self) -> TextNotes:
        """Return a collector for the notes of one stream."""
        return TextNotes("pair")


class PairAnswering:
    """Predicts the label of each pair with the probability of every label, or its value."""

    def __init__(self, classifier: PairClassifier, *, columns: Sequence[str] = ()) -> None:
        self._classifier = classifier
        self._columns = columns

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        """The language and unit of the model's tokenizer."""
        known = self._classifier.encoding.passages.tokenizer.to_json()
        return TokenizerSettings(known["language"], known["unit"])

    def __call__(self, rows: Iterable[TextRow], reject: Reject, *, first: int = FIRST) -> Iterator[Answered]:
        """Yield the predictions for rows, in order."""
        given, known = tee(self._pairs(rows, reject))
        answers = self._classifier.pipe((pair for _, pair in given), first=first)
        for (row, _), found in zip(known, answers, strict=True):
            yield Answered(row, found, found.tokens, found.notes)

    def _pairs(self, rows: Iterable[TextRow], reject: Reject) -> Iterator[tuple[TextRow, LabelledPair]]:
        for row in rows:
            try:
                given = row.example if row.example is not None else row.texts
                pair = checked_pair(given)
            except InputError as error:
                reject(row, error)
                continue
            yield row, pair

    def read(self, path: str | Path, kind: str, report: Report) -> Iterator[TextRow]:
        """Yield the rows of a table, whose columns are found by the header."""
        set_columns = self._columns or pair_options(self._classifier.recipe).texts
        columns = [set_columns] if set_columns else TEXTS
        return read_table(path, kind, report, columns=columns, noun="pairs")

    def record(self, answered: Answered) -> dict[str, Any]:
        """Return the answer, with the two texts if they are not fields of the input."""
        found: PairAnswer = answered.found
        texts = {"text": found.text, "text_pair": found.text_pair} if answered.row.given is None else {}
        return texts | answer_record(found) | noted(found.notes)

    def view(self, output: str, *, alone: bool) -> Callable[[Answered], Text | str]:
        """Return the function that prints a prediction: one line, or every label of a single pair."""
        from gonie.tasks.pairs.view import all_scores, pretty

        show = all_scores if alone else pretty
        return lambda answered: show(answered.found)


def answer_record(found: PairAnswer) -> dict[str, Any]:
    """Return the JSON keys of a prediction: label, score and scores, or value."""
    if found.value is not None:
        return {"value": rounded(found.value)}
    return {
        "label": found.label,
        "score": rounded(found.score or 0.0),
        "scores": {label: rounded(score) for label, score in found.scores.items()},
    }
