"""Explanations of a classifier: attention, gradients, and predictions with words removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.formats.detect import is_table
from gonie.formats.labelled import LabelledSource
from gonie.formats.table import TEXT_FORMATS
from gonie.formats.text_rows import read_lines
from gonie.metrics.log_odds import Floats, label_log_odds
from gonie.reports.explanation import Faithfulness, LayerShares, Method, TextExplanation, TokenWeights
from gonie.reports.explanations.heat import Rows
from gonie.reports.explanations.layout import lay_out
from gonie.reports.explanations.page import ATTENTION, WEIGHTS
from gonie.reports.explanations.text_page import render_texts
from gonie.reports.explanations.verdict import PROBABILITY
from gonie.runtime.groups import MOST, grouped
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.erased import without
from gonie.tasks.classification.read_options import text_options
from gonie.tasks.classification.reading import Reading
from gonie.tasks.explanation import HeldOutFile, ItemSize, Keep
from gonie.tasks.run_files import SAMPLES
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import Passage

if TYPE_CHECKING:
    from gonie.reports.explanations.screen import ExplanationScreen

LABEL = "label"
ATTENTIONS = frozenset({"attention", "dot"})
"""The poolings that are attention."""


class TextExplanations:
    """Explains classifiers. With the option ``label``, that label is explained, not the most probable one."""

    options = frozenset({LABEL})

    def explained(self, model: TextClassifier, options: Mapping[str, Any]) -> ExplainedClassifier:
        """Return the classifier with explanations, as set by the options."""
        return ExplainedClassifier(model, label=options.get(LABEL))


class TextAnswer(NamedTuple):
    """The label of a passage. ``reading`` is the model's output for the whole passage."""

    passage: Passage
    label: str
    reading: Reading | None = None

    @property
    def lengths(self) -> list[int]:
        """The number of tokens of each sentence."""
        return [len(sentence) for sentence in self.passage.sentences]

    @property
    def tokens(self) -> int:
        """M, the number of tokens of all sentences."""
        return sum(self.lengths)


class ExplainedClassifier:
    """A classifier with explanations.

    It explains the most probable label, or ``label`` for every text. Words are removed as if the text had
    been written without them.
    """

    noun = "text"
    quantity = PROBABILITY
    warning = ATTENTION
    methods: tuple[Method, ...] = ("attention", "integrated gradients", "erasure")

    def __init__(self, classifier: TextClassifier, *, label: str | None = None) -> None:
        if not _has_attention(classifier.recipe):
            self.warning, self.methods = WEIGHTS, self.methods[1:]
        self._classifier = classifier
        self._label = label
        self._numbers = {name: number for number, name in enumerate(classifier.labels)}
        if label is not None and label not in self._numbers:
            raise InputError(f"unknown label: {label}", fix=f"Use one of {', '.join(classifier.labels)}")

    def items(self, text: str | None, files: Sequence[Path]) -> Iterator[LabelledText]:
        """Yield the texts in order: rows of tables and JSONL, otherwise one per non-blank line."""
        for file in files:
            if is_table(file, TEXT_FORMATS):
                label = self._label_column(file)
                yield from LabelledSource(file, text_options(self._classifier.recipe, label_column=label))
            else:
                yield from self._lines(None, [file])
        if not files:
            yield from self._lines(text, [])

    def _lines(self, text: str | None, files: Sequence[Path]) -> Iterator[LabelledText]:
        for path, number, line in read_lines(text, files):
            if line.strip() or text is not None:
                yield self._classifier.text(line, path="" if text is not None else path, line=number)

    def _label_column(self, file: Path) -> str | tuple[str, ...] | None:
        """Return the recipe's label column, or None if the file has no such column."""
        options = text_options(self._classifier.recipe)
        try:
            next(iter(LabelledSource(file, options)), None)
        except InputError:
            return None
        return options.label_column

    def held_out(self, folder: Path, file: Path | None) -> HeldOutFile | None:
        """Return the texts of the given file or, without one, of the run folder."""
        found = file or folder / SAMPLES
        if file is None and not found.is_file():
            return None
        options = text_options(self._classifier.recipe, label_column=None)
        return HeldOutFile(LabelledSource(found, options), found, f"label {self._label}")

    def size(self, item: str | LabelledText) -> ItemSize:
        """Return the number of tokens. There is one answer."""
        return ItemSize(sum(map(len, self._classifier.passage(item).sentences)))

    def ask(self, item: str | LabelledText) -> AskedText:
        """Return the probabilities of the labels, and the label to explain."""
        classifier = self._classifier
        text = classifier.text(item)
        passage = classifier.passage(text)
        (reading,) = classifier.read([passage])
        chances = classifier.probabilities(reading.scores[None])[0]  # (K,)
        return AskedText(classifier, text, passage, reading, chances, self._label)

    def log_odds(self, questions: Iterable[tuple[TextAnswer, Keep]]) -> Floats:
        """Return the calibrated log-odds of each label with only the tokens of its ``Keep``: (Q,)."""
        found = [np.zeros(0)]
        for block in grouped(questions, lambda question: 1 + int(question[1].sum()), first=MOST):
            readings = self._classifier.read([without(answer.passage, keep) for answer, keep in block])
            scores = np.stack([reading.scores for reading in readings])  # (Q, K)
            labels = np.array([self._numbers[answer.label] for answer, _ in block], dtype=np.int64)
            multi_label = self._classifier.multi_label
            found.append(
                label_log_odds(scores / self._classifier.temperature, labels, multi_label=multi_label)
            )
        return np.concatenate(found)

    def attention(self, answer: TextAnswer) -> Floats:
        """Return each token's attention weight times that of its sentence. Shape: (M,).

        The weights do not depend on the label.
        """
        reading = answer.reading or self._classifier.read([answer.passage])[0]
        sentences = zip(reading.sentences.tolist(), reading.words, strict=True)
        return np.concatenate([share * words.astype(np.float64) for share, words in sentences])

    def rows(self, explanation: TextExplanation) -> Rows:
        """Return the text, one row per sentence."""
        return lay_out(explanation.text, explanation.passage.sentences)

    def show(self, explanation: TextExplanation, screen: ExplanationScreen) -> None:
        """Show the labels, and the text with the weights of each method."""
        from gonie.tasks.classification.explanation_view import show_text

        show_text(screen, explanation, self.rows(explanation))

    def show_model(self, screen: ExplanationScreen) -> None:
        """Show nothing, because everything is shown with the texts."""

    def page(
        self,
        explanations: Sequence[TextExplanation],
        faithfulness: Sequence[Faithfulness],
        *,
        title: str,
        notes: Sequence[str] = (),
        layers: Sequence[LayerShares] = (),
    ) -> str:
        """Return the texts with a heat map for each method as an HTML page."""
        return render_texts(
            explanations, faithfulness, title=title, warning=self.warning, notes=notes, layers=layers
        )


@dataclass(frozen=True)
class AskedText:
    """The prediction for one text: probabilities (K,), and the ``asked`` label if there is one."""

    classifier: TextClassifier
    text: LabelledText
    passage: Passage
    reading: Reading
    chances: NDArray[np.floating[Any]]
    asked: str | None

    @property
    def best(self) -> str:
        """The most probable label."""
        return self.classifier.labels[int(np.argmax(self.chances))]

    @property
    def answers(self) -> tuple[TextAnswer]:
        """The requested label, or the most probable one."""
        return (TextAnswer(self.passage, self.best if self.asked is None else self.asked, self.reading),)

    def explanation(self, weights: Sequence[tuple[TokenWeights, ...]]) -> TextExplanation:
        """Return the text with its labels and the weights of its answer."""
        return TextExplanation(
            text=self.text.text,
            passage=self.passage,
            label=self.best,
            given=self.classifier.given(self.chances),
            probabilities=dict(zip(self.classifier.labels, self.chances.tolist(), strict=True)),
            weights=weights[0],
            gold=self.text.labels,
        )


def pools_by_attention(section: Mapping[str, Any] | None) -> bool:
    """Return whether a section of a recipe with a ``pooling`` pools by attention, as it does by default."""
    kinds = ((section or {}).get("pooling") or {}).get("kinds", ATTENTIONS)
    return not ATTENTIONS.isdisjoint(kinds)


def _has_attention(recipe: Mapping[str, Any]) -> bool:
    model = recipe.get("model") or {}
    upper = model.get("upper")
    return pools_by_attention(model) or (upper is not None and pools_by_attention(upper))
