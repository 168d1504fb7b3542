"""Explanations of a classifier: its labels, asked for again with words taken out, and what it attends to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.formats.labelled import LabelledSource
from gonie.formats.table import TEXT_FORMATS
from gonie.formats.text_rows import read_lines
from gonie.metrics.log_odds import Floats, label_log_odds
from gonie.reports.explanation import Faithfulness, LayerShares, Method, TextExplanation, TokenWeights
from gonie.reports.explanations.heat import Rows
from gonie.reports.explanations.layout import lay_out
from gonie.reports.explanations.page import ATTENTION
from gonie.reports.explanations.text_page import render_texts
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


class TextExplanations:
    """The facet. Its option ``label`` is explained instead of the most probable one."""

    options = frozenset({LABEL})

    def explained(self, model: TextClassifier, options: Mapping[str, Any]) -> ExplainedClassifier:
        """The classifier, explained as the options say."""
        return ExplainedClassifier(model, label=options.get(LABEL))


class TextAnswer(NamedTuple):
    """That the passage has this label; ``reading`` is what the model made of the whole of it."""

    passage: Passage
    label: str
    reading: Reading | None = None

    @property
    def lengths(self) -> list[int]:
        """The tokens of each sentence."""
        return [len(sentence) for sentence in self.passage.sentences]

    @property
    def tokens(self) -> int:
        """M, over all sentences."""
        return sum(self.lengths)


class ExplainedClassifier:
    """A classifier whose labels can be explained.

    Explained is the label that the model finds most probable, or ``label`` for every text: why it has it, or
    has it not. A word is taken out as if the text had been written without it.
    """

    noun = "text"
    warning = ATTENTION
    methods: tuple[Method, ...] = ("attention", "integrated gradients", "erasure")

    def __init__(self, classifier: TextClassifier, *, label: str | None = None) -> None:
        self._classifier = classifier
        self._label = label
        self._numbers = {name: number for number, name in enumerate(classifier.labels)}
        if label is not None and label not in self._numbers:
            raise InputError(f"expected a label among {', '.join(classifier.labels)}, got {label!r}")

    def items(self, text: str | None, files: Sequence[Path]) -> Iterator[LabelledText]:
        """The texts in order: of tables and JSONL with their labels, else one a line, blank ones left out."""
        for file in files:
            if _is_table(file):
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

    def _label_column(self, file: Path) -> str | None:
        """The recipe's column of labels, if the file can be read by it: it need not have any."""
        options = text_options(self._classifier.recipe)
        try:
            next(iter(LabelledSource(file, options)), None)
        except InputError:
            return None
        return options.label_column

    def held_out(self, folder: Path, file: Path | None) -> HeldOutFile | None:
        """The file that was named, else what training has left."""
        found = file or folder / SAMPLES
        if file is None and not found.is_file():
            return None
        options = text_options(self._classifier.recipe, label_column=None)
        return HeldOutFile(LabelledSource(found, options), found, f"label {self._label}")

    def size(self, item: str | LabelledText) -> ItemSize:
        """Its tokens; there is one answer."""
        return ItemSize(sum(map(len, self._classifier.passage(item).sentences)))

    def ask(self, item: str | LabelledText) -> AskedText:
        """The probabilities of the labels, and the label to explain."""
        classifier = self._classifier
        text = classifier.text(item)
        passage = classifier.passage(text)
        (reading,) = classifier.read([passage])
        chances = classifier.probabilities(reading.scores[None])[0]  # (K,)
        return AskedText(classifier, text, passage, reading, chances, self._label)

    def log_odds(self, questions: Iterable[tuple[TextAnswer, Keep]]) -> Floats:
        """The log-odds of each label where only the tokens of its ``Keep`` are left, calibrated: (Q,)."""
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
        """Each token's share of the whole text: that of its sentence, times its own within it. Shape: (M,).

        The shares are the same whatever the label.
        """
        reading = answer.reading or self._classifier.read([answer.passage])[0]
        sentences = zip(reading.sentences.tolist(), reading.words, strict=True)
        return np.concatenate([share * words.astype(np.float64) for share, words in sentences])

    def rows(self, explanation: TextExplanation) -> Rows:
        """The text, a row for each sentence."""
        return lay_out(explanation.text, explanation.passage.sentences)

    def show(self, explanation: TextExplanation, screen: ExplanationScreen) -> None:
        """The labels, and the text by each method."""
        from gonie.tasks.classification.explanation_view import show_text

        show_text(screen, explanation, self.rows(explanation))

    def show_model(self, screen: ExplanationScreen) -> None:
        """Nothing: all is said with the texts."""

    def page(
        self,
        explanations: Sequence[TextExplanation],
        faithfulness: Sequence[Faithfulness],
        *,
        title: str,
        notes: Sequence[str] = (),
        layers: Sequence[LayerShares] = (),
    ) -> str:
        """Texts with a heat map for each method."""
        return render_texts(explanations, faithfulness, title=title, notes=notes, layers=layers)


@dataclass(frozen=True)
class AskedText:
    """What a classifier says of one text: probabilities (K,), and the ``asked`` label if there is one."""

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
        """The label asked for, else the most probable one."""
        return (TextAnswer(self.passage, self.best if self.asked is None else self.asked, self.reading),)

    def explanation(self, weights: Sequence[tuple[TokenWeights, ...]]) -> TextExplanation:
        """The text with its labels and the weights of its one answer."""
        return TextExplanation(
            text=self.text.text,
            passage=self.passage,
            label=self.best,
            given=self.classifier.given(self.chances),
            probabilities=dict(zip(self.classifier.labels, self.chances.tolist(), strict=True)),
            weights=weights[0],
            gold=self.text.labels,
        )


def _is_table(file: Path) -> bool:
    """Does its name say that a text is only a part of each line?"""
    known = {suffix for each in TEXT_FORMATS.values() for suffix in each.suffixes}
    return not known.isdisjoint(file.suffixes)
