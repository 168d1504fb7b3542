"""Explanations of a pair model: attention, gradients, and predictions with words removed.

A pair is shown as two rows, the first text above the second. The weights explain the log-odds of a label, or
of the share s = (value − low) / (high − low) of a value on its scale: log(s / (1 − s)).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gonie.errors import InputError
from gonie.formats.detect import is_table
from gonie.formats.pairs import PairSource
from gonie.formats.table import PAIR_FORMATS
from gonie.formats.text_rows import line_row, read_lines
from gonie.metrics.log_odds import Floats, label_log_odds
from gonie.reports.explanation import Faithfulness, LayerShares, Method, TextExplanation, TokenWeights
from gonie.reports.explanations.heat import Rows
from gonie.reports.explanations.layout import lay_out
from gonie.reports.explanations.page import ATTENTION, WEIGHTS
from gonie.reports.explanations.text_page import render_texts
from gonie.reports.explanations.verdict import PROBABILITY
from gonie.runtime.groups import MOST, grouped
from gonie.tasks.classification.erased import without
from gonie.tasks.classification.explanation import TextAnswer, pools_by_attention
from gonie.tasks.classification.reading import Reading
from gonie.tasks.explanation import HeldOutFile, ItemSize, Keep
from gonie.tasks.pairs.classifier import PairClassifier, TokenisedPair
from gonie.tasks.pairs.encoding import VALUE, ValueScale
from gonie.tasks.pairs.read_options import model_options
from gonie.tasks.run_files import SAMPLES
from gonie.text.labelled_text import LabelledPair
from gonie.text.passages import Passage, blank

if TYPE_CHECKING:
    from gonie.reports.explanations.screen import ExplanationScreen

LABEL = "label"
TABLE = "pass it as --file FILE.tsv"
EDGE = 1e-6
"""The share of the scale at which log-odds of values end."""


class PairExplanations:
    """Explains pair models. With the option ``label``, that label is explained, not the most probable one."""

    options = frozenset({LABEL})

    def explained(self, model: PairClassifier, options: Mapping[str, Any]) -> ExplainedPairs:
        """Return the model with explanations, as set by the options."""
        return ExplainedPairs(model, label=options.get(LABEL))


class ExplainedPairs:
    """A pair model with explanations.

    Words are removed as if the text had been written without them.
    """

    noun = "pair"
    quantity = PROBABILITY
    warning = ATTENTION
    methods: tuple[Method, ...] = ("attention", "integrated gradients", "erasure")

    def __init__(self, classifier: PairClassifier, *, label: str | None = None) -> None:
        self._classifier = classifier
        self._label = label
        if classifier.gives_values:
            self.quantity = "the predicted value, as a share of its scale,"
        if not _has_attention(classifier.recipe):
            self.warning, self.methods = WEIGHTS, self.methods[1:]
        if label is not None and classifier.gives_values:
            raise InputError("--label does not apply: the model predicts a value")
        if label is not None and label not in classifier.labels:
            raise InputError(
                f"unknown label: {label!r}", fix=f"The labels are {', '.join(classifier.labels)}"
            )

    def items(self, text: str | None, files: Sequence[Path]) -> Iterator[LabelledPair]:
        """Yield the pairs of tables and JSONL files, with their gold answers if there are any.

        In other files, on the command line and on standard input, a pair is a line with a tab between its
        texts.
        """
        for file in files:
            if is_table(file, PAIR_FORMATS):
                yield from self._table(file)
            else:
                yield from self._lines(None, [file])
        if not files:
            yield from self._lines(text, [])

    def _table(self, file: Path) -> Iterator[LabelledPair]:
        options = model_options(self._classifier.recipe)
        try:
            next(iter(PairSource(file, options)), None)
        except InputError:  # a file need not have gold answers
            options = model_options(self._classifier.recipe, gold=False)
        return iter(PairSource(file, options))

    def _lines(self, text: str | None, files: Sequence[Path]) -> Iterator[LabelledPair]:
        for path, number, line in read_lines(text, files):
            if line.strip():
                row = line_row(path, number, line, ("first text", "second text"), table=TABLE)
                first, second = row.texts
                yield LabelledPair(first, second, path="" if text is not None else path, line=number)

    def held_out(self, folder: Path, file: Path | None) -> HeldOutFile | None:
        """Return the pairs of the given file or, without one, of the run folder."""
        found = file or folder / SAMPLES
        if file is None and not found.is_file():
            return None
        options = model_options(self._classifier.recipe, gold=False)
        return HeldOutFile(PairSource(found, options), found, f"label {self._label}")

    def size(self, item: LabelledPair) -> ItemSize:
        """Return the number of tokens of both texts."""
        return ItemSize(self._classifier.tokenise(item).tokens)

    def ask(self, item: LabelledPair) -> AskedPair:
        """Return the prediction for a pair, and the label to explain."""
        pair = self._classifier.tokenise(item)
        (reading,) = self._classifier.read([pair.passage])
        return AskedPair(self._classifier, pair, reading, self._label)

    def log_odds(self, questions: Iterable[tuple[TextAnswer, Keep]]) -> Floats:
        """Return the log-odds of each answer with only the tokens of its ``Keep``: (Q,)."""
        model, found = self._classifier, [np.zeros(0)]
        for block in grouped(questions, lambda question: 2 + int(question[1].sum()), first=MOST):
            readings = model.read([erased(answer.passage, keep) for answer, keep in block])
            scores = np.stack([reading.scores for reading in readings]).astype(np.float64)  # (Q, K)
            if model.pair_encoding.scale is not None:
                found.append(value_log_odds(scores[:, 0], model.pair_encoding.scale))
                continue
            labels = np.array([model.labels.index(answer.label) for answer, _ in block], dtype=np.int64)
            found.append(label_log_odds(scores / model.temperature, labels, multi_label=False))
        return np.concatenate(found)

    def attention(self, answer: TextAnswer) -> Floats:
        """Return half of the attention that each token receives from the other text. Shape: (M,)."""
        reading = answer.reading or self._classifier.read([answer.passage])[0]
        sides = zip(reading.sentences.tolist(), reading.words, strict=True)
        return np.concatenate([share * words.astype(np.float64) for share, words in sides])

    def rows(self, explanation: TextExplanation) -> Rows:
        """Return the two texts, one row each."""
        return lay_out(explanation.text, explanation.passage.sentences)

    def show(self, explanation: TextExplanation, screen: ExplanationScreen) -> None:
        """Show the prediction, and the texts with the weights of each method."""
        from gonie.tasks.classification.explanation_view import show_text

        show_text(screen, explanation, self.rows(explanation))

    def show_model(self, screen: ExplanationScreen) -> None:
        """Show nothing, because everything is shown with the pairs."""

    def page(
        self,
        explanations: Sequence[TextExplanation],
        faithfulness: Sequence[Faithfulness],
        *,
        title: str,
        notes: Sequence[str] = (),
        layers: Sequence[LayerShares] = (),
    ) -> str:
        """Return the pairs with a heat map for each method as an HTML page."""
        return render_texts(
            explanations,
            faithfulness,
            title=title,
            warning=self.warning,
            noun=self.noun,
            quantity=self.quantity,
            notes=notes,
            layers=layers,
        )


@dataclass(frozen=True)
class AskedPair:
    """The prediction for one pair, and the ``asked`` label if there is one."""

    classifier: PairClassifier
    given: TokenisedPair
    reading: Reading
    asked: str | None

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each label, or the share of the scale of a value."""
        scale = self.classifier.pair_encoding.scale
        if scale is not None:
            return {VALUE: scale.share(float(self.reading.scores[0]))}
        probabilities = self.classifier.probabilities(self.reading.scores[None])[0]
        return dict(zip(self.classifier.labels, probabilities.tolist(), strict=True))

    @property
    def answers(self) -> tuple[TextAnswer]:
        """The requested label, or the most probable one."""
        probabilities = self.probabilities
        best = max(probabilities, key=lambda label: probabilities[label])
        return (TextAnswer(self.given.passage, self.asked or best, self.reading),)

    def explanation(self, weights: Sequence[tuple[TokenWeights, ...]]) -> TextExplanation:
        """Return the pair with its answer and the weights of each method."""
        probabilities, pair, scale = self.probabilities, self.given.pair, self.classifier.pair_encoding.scale
        best = max(probabilities, key=lambda label: probabilities[label])
        gold = pair.labels if pair.value is None else (f"{pair.value:.2f}",)
        if scale is not None:
            value, share = self.reading.scores[0], probabilities[VALUE]
            best = f"value {value:.2f}, {share:.0%} of the scale {scale.low:g} to {scale.high:g}"
            probabilities = {}
        return TextExplanation(
            text=pair.text,
            passage=self.given.passage,
            label=best,
            given=(best,),
            probabilities=probabilities,
            weights=weights[0],
            gold=gold,
        )


def _has_attention(recipe: Mapping[str, Any]) -> bool:
    """Return whether a model aligns the texts by attention, or pools by it. ESIM is the default."""
    matching = (recipe.get("model") or {}).get("matching") or {}
    return matching.get("kind", "esim") == "esim" or pools_by_attention(matching)


def erased(passage: Passage, keep: Keep) -> Passage:
    """Return the passage of two texts with only the tokens of ``keep``.

    A text without any token left is read as an empty text.
    """
    seam = len(passage.sentences[0])
    sides = []
    for sentence, own in zip(passage.sentences, (keep[:seam], keep[seam:]), strict=True):
        empty = blank(passage.running, path=passage.path, line=passage.line)
        alone = passage._replace(sentences=(sentence,))
        sides.append(without(alone, own).sentences[0] if own.any() else empty)
    return passage._replace(sentences=tuple(sides))


def value_log_odds(values: Floats, scale: ValueScale) -> Floats:
    """Return log(s / (1 − s)) of each value's share s of the scale. Shape: (Q,) -> (Q,)."""
    shares = np.clip((values - scale.low) / (scale.high - scale.low), EDGE, 1 - EDGE)
    return np.asarray(np.log(shares) - np.log1p(-shares))
