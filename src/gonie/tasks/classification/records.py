"""Answering rows of texts with a classifier, and writing their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gonie.errors import InputError
from gonie.features.external_vectors import VectorFile, open_for_model
from gonie.formats.text_rows import JSONL, PARQUET, TABLES, TEXT, TSV, TextRow, read_table
from gonie.runtime.groups import FIRST
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.read_options import text_options
from gonie.tasks.records import Answered, InputKinds, Reject, noted, rounded
from gonie.text.labelled_text import LabelledText
from gonie.text.report import Report, count
from gonie.text.tokenizers.settings import TokenizerSettings
from gonie.text.types import Classification

if TYPE_CHECKING:
    from rich.text import Text


class TextRecords:
    """Answers rows with classifiers. The option ``columns`` holds the text column of tables.

    ``vectors`` is the file of the external vectors of all rows, for a model that reads them.
    """

    inputs = InputKinds(
        stream=(TEXT, JSONL, *TABLES, PARQUET),
        labelled=TABLES,
        detected=(JSONL, *TABLES, PARQUET),
        files=(TEXT, JSONL, TSV, PARQUET),
    )
    outputs = ("pretty", JSONL)
    fields = ("label", "score", "scores", "labels", "notes")

    def columns(self, recipe: Mapping[str, Any], asked: Sequence[str]) -> tuple[str, ...]:
        """Return one column: the requested one, or that of the recipe."""
        if len(asked) > 1:
            raise InputError(f"a classifier reads one --column: {', '.join(asked)}")
        return tuple(asked) or (text_options(recipe).text_column,)

    def answering(self, model: TextClassifier, options: Mapping[str, Any]) -> TextAnswering:
        """Return the classifier with the options."""
        return TextAnswering(
            model, columns=options.get("columns", ()), vectors=_opened(model, options.get("vectors"))
        )

    def arrow_columns(self, arrow: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return columns for the label, the probability of every label, and the predicted labels.

        label string, score double, scores list<{label string, score double}>, labels list<string>
        """
        text, score = arrow.string(), arrow.float64()
        return {
            "label": text,
            "score": score,
            "scores": arrow.list_(arrow.struct({"label": text, "score": score})),
            "labels": arrow.list_(text),
        }

    def cells(self, answered: Answered, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record with its scores as a list, and ``labels`` also for a single label."""
        scores = [{"label": label, "score": score} for label, score in record["scores"].items()]
        return {"labels": [record["label"]], **record, "text": answered.found.text, "scores": scores}

    def notes(self) -> TextNotes:
        """Return a collector for the notes of one stream."""
        return TextNotes()


def _opened(model: TextClassifier, path: str | None) -> VectorFile | None:
    """Return the file of vectors for the texts of a model, if there is one."""
    if path is None:
        return None
    return open_for_model(path, width=model.vector_width, recipe=model.recipe, per="text")


class TextAnswering:
    """Answers with the label of each text and the probability of every label."""

    def __init__(
        self, classifier: TextClassifier, *, columns: Sequence[str] = (), vectors: VectorFile | None = None
    ) -> None:
        self._classifier = classifier
        self._columns = columns
        self._vectors = vectors

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        """The tokenisation of the model."""
        known = self._classifier.encoding.passages.tokenizer.to_json()
        return TokenizerSettings(known["language"], known["unit"])

    def __call__(self, rows: Iterable[TextRow], reject: Reject, *, first: int = FIRST) -> Iterator[Answered]:
        """Yield the labels of rows, in order."""
        given, known = tee(self._texts(rows, reject))
        labelled = self._classifier.pipe((text for _, text in given), first=first)
        for (row, _), found in zip(known, labelled, strict=True):
            yield Answered(row, found, found.tokens, found.notes)

    def _texts(self, rows: Iterable[TextRow], reject: Reject) -> Iterator[tuple[TextRow, LabelledText]]:
        """Yield texts with their marks parsed, and their vectors. A row with invalid marks is rejected."""
        vectors = None if self._vectors is None else self._vectors.rows()
        for row in rows:
            try:
                given = row.example if row.example is not None else row.texts[0]
                text = self._classifier.text(given, path=row.file, line=row.number)
            except InputError as error:
                reject(row, error)
                continue
            if vectors is not None:
                text = vectors.give_text(replace(text, id=row.id if text.id is None else text.id))
            yield row, text
        if vectors is not None:
            vectors.finish()

    def read(self, path: str | Path, kind: str, report: Report) -> Iterator[TextRow]:
        """Yield the rows of a table, with the text column found by the header as in training."""
        column = self._columns[0] if self._columns else text_options(self._classifier.recipe).text_column
        return read_table(path, kind, report, columns=[[column]], noun="rows")

    def record(self, answered: Answered) -> dict[str, Any]:
        """Return the labels, with the text if it is not a field of the input."""
        text = {"text": answered.found.text} if answered.row.given is None else {}
        return text | label_record(answered.found, multi_label=self._classifier.multi_label)

    def view(self, output: str, *, alone: bool) -> Callable[[Answered], Text | str]:
        """Return a function that formats the label and the text, or all labels if ``alone``."""
        from gonie.tasks.classification.label_view import all_scores, pretty

        show = all_scores if alone else pretty
        return lambda answered: show(answered.found)


def label_record(found: Classification, *, multi_label: bool) -> dict[str, Any]:
    """Return the JSON keys of a prediction: the label and the probability of every label."""
    record: dict[str, Any] = {
        "label": found.label,
        "score": rounded(found.score),
        "scores": {label: rounded(score) for label, score in found.scores.items()},
    }
    if multi_label:
        record["labels"] = list(found.labels)
    return record | noted(found.notes)


class TextNotes:
    """Counts the notes of texts, or of pairs (``noun``), and shows each once at the end."""

    def __init__(self, noun: str = "text") -> None:
        self._noun = noun
        self._counts: Counter[str] = Counter()

    def add(self, notes: Sequence[str]) -> Iterable[str]:
        """Count the notes. None is shown immediately."""
        self._counts.update(notes)
        return ()

    def summary(self) -> Iterable[str]:
        """Return each note with its number of texts."""
        return (f"{note}: {count(times, self._noun)}" for note, times in self._counts.most_common())
