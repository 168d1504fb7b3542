"""How a classifier answers rows of texts, and what is written of their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gonie.errors import InputError
from gonie.formats.labelled import read_texts
from gonie.formats.text_rows import JSONL, PARQUET, TEXT, TextRow
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

TABLES = ("tsv", "csv")


class TextRecords:
    """The facet. It has no options."""

    inputs = InputKinds(
        stream=(TEXT, JSONL, *TABLES, PARQUET),
        labelled=TABLES,
        detected=(JSONL, *TABLES, PARQUET),
        files=(TEXT, JSONL, PARQUET),
    )
    outputs = ("pretty", JSONL)

    def columns(self, recipe: Mapping[str, Any], asked: Sequence[str]) -> tuple[str, ...]:
        """One column, that of the recipe unless another is asked for."""
        if len(asked) > 1:
            raise InputError(f"expected one --column for a classifier, got {', '.join(asked)}")
        return tuple(asked) or (text_options(recipe).text_column,)

    def answering(self, model: TextClassifier, options: Mapping[str, Any]) -> TextAnswering:
        """The classifier; there is nothing to choose."""
        return TextAnswering(model)

    def arrow_columns(self, arrow: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The label, the probability of every label, and the labels given where there may be several.

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
        """The record with its scores as a list, and the labels also where there is always one."""
        scores = [{"label": label, "score": score} for label, score in record["scores"].items()]
        return {"labels": [record["label"]], **record, "text": answered.found.text, "scores": scores}

    def notes(self) -> TextNotes:
        """A collector for the notes of one stream."""
        return TextNotes()


class TextAnswering:
    """Answers with the label of each text and every label's probability."""

    def __init__(self, classifier: TextClassifier) -> None:
        self._classifier = classifier

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        """As the model's tokenizer cuts."""
        known = self._classifier.encoding.passages.tokenizer.to_json()
        return TokenizerSettings(known["language"], known["unit"])

    def __call__(self, rows: Iterable[TextRow], reject: Reject, *, first: int = FIRST) -> Iterator[Answered]:
        """The labels of rows, in order."""
        given, known = tee(self._texts(rows, reject))
        labelled = self._classifier.pipe((text for _, text in given), first=first)
        for (row, _), found in zip(known, labelled, strict=True):
            yield Answered(row, found, found.tokens, found.notes)

    def _texts(self, rows: Iterable[TextRow], reject: Reject) -> Iterator[tuple[TextRow, LabelledText]]:
        """Texts with their marks cut out; a row with marks that do not fit is rejected."""
        for row in rows:
            try:
                given = row.example if row.example is not None else row.texts[0]
                text = self._classifier.text(given, path=row.file, line=row.number)
            except InputError as error:
                reject(row, error)
                continue
            yield row, text

    def read(self, path: str | Path, kind: str, report: Report) -> Iterator[LabelledText]:
        """The texts of a table, found by the header as in training."""
        return read_texts(path, text_options(self._classifier.recipe, format=kind, label_column=None), report)

    def record(self, answered: Answered) -> dict[str, Any]:
        """The object that was given, or the text, with its labels."""
        return label_result(answered.found, answered.row.record, multi_label=self._classifier.multi_label)

    def view(self, output: str, *, alone: bool) -> Callable[[Answered], Text | str]:
        """The label, its probability and the text; of a text that comes alone every label."""
        from gonie.tasks.classification.label_view import all_scores, pretty

        show = all_scores if alone else pretty
        return lambda answered: show(answered.found)


def label_result(
    found: Classification, given: Mapping[str, Any] | None = None, *, multi_label: bool
) -> dict[str, Any]:
    """The object that was given, or the text, with the label and every label's probability."""
    record: dict[str, Any] = {
        **(given or {"text": found.text}),
        "label": found.label,
        "score": rounded(found.score),
        "scores": {label: rounded(score) for label, score in found.scores.items()},
    }
    if multi_label:
        record["labels"] = list(found.labels)
    return record | noted(found.notes)


class TextNotes:
    """Notes of texts are of a few kinds: each is counted, and shown once, at the end."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, notes: Sequence[str]) -> Iterable[str]:
        """None of them at once."""
        self._counts.update(notes)
        return ()

    def summary(self) -> Iterable[str]:
        """Each with the number of texts."""
        return (f"{note}: {count(times, 'text')}" for note, times in self._counts.most_common())
