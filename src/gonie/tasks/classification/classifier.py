"""The prediction path of classifiers: tokenise, encode, score in batches, calibrate.

A bundle runs it with an ONNX scorer. Training scores dev texts on the same path with a torch scorer. So the
dev score is that of the bundle, including the limits on the length of a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from gonie.features.external_vectors import checked_vector
from gonie.features.text_corpus import TextCorpus
from gonie.features.text_encoding import TextEncoding
from gonie.runtime.groups import FIRST, grouped
from gonie.runtime.scorer import TextScorer
from gonie.tasks.classification.long_texts import bounded, searched
from gonie.tasks.classification.read_options import text_options
from gonie.tasks.classification.reading import ONNX_TEXT_BATCH, TextBatchSize, TextReader
from gonie.tasks.contexts import check_stream, with_contexts
from gonie.text.labelled_text import LabelledText
from gonie.text.marks import cut_marks, mark_words
from gonie.text.passages import Passage
from gonie.text.plain_text import checked_text, warn_of_path
from gonie.text.report import Report
from gonie.text.types import Classification

Context = TypeVar("Context")
GIVEN = 0.5  # minimum probability of a predicted label if a text may have several

Cut = tuple[LabelledText, Passage, tuple[str, ...]]
"""A text, the passage that is read, and notes."""


class EncodedTexts(NamedTuple):
    """Texts tokenised and encoded once, to be classified many times during training."""

    cuts: Sequence[Cut]
    corpus: TextCorpus


class TextClassifier(TextReader):
    """Labels texts with a trained model.

    A text is a string, or a ``LabelledText`` with its marks. In a string, the marks that the model's recipe
    names (``data.marks``) are written as tags, ``<e1>…</e1>``. Any character is allowed except lone
    surrogates, which raise an error. Probabilities are calibrated: scores are divided by the ``temperature``
    fitted on dev. A classifier keeps no state between calls, so threads may share it. ``batch_size`` limits
    the size of a batch. Results do not depend on it.
    """

    task: ClassVar[str] = "classify"
    """The name of its task."""

    def __init__(
        self,
        *,
        encoding: TextEncoding,
        scorer: TextScorer,
        temperature: float = 1.0,
        recipe: Mapping[str, Any] | None = None,
        batch_size: TextBatchSize = ONNX_TEXT_BATCH,
    ) -> None:
        super().__init__(encoding=encoding, scorer=scorer, temperature=temperature, batch_size=batch_size)
        self.recipe = recipe or {}

    @property
    def marks(self) -> tuple[str, ...]:
        """The names of the marks that the model was trained with."""
        return text_options(self.recipe).marks

    def __call__(self, text: str | LabelledText, *, vectors: Any = None) -> Classification:
        """Classify one text. ``vectors`` is its external vector (D,), for a model that reads one."""
        warn_of_path(text)
        return next(self.pipe([text if vectors is None else self._with_vector(text, vectors)]))

    @overload
    def pipe(
        self,
        texts: Iterable[tuple[str | LabelledText, Context]],
        *,
        first: int = FIRST,
        as_tuples: Literal[True],
    ) -> Iterator[tuple[Classification, Context]]: ...
    @overload
    def pipe(
        self, texts: Iterable[str | LabelledText], *, first: int = FIRST, as_tuples: Literal[False] = False
    ) -> Iterator[Classification]: ...

    def pipe(self, texts: Iterable[Any], *, first: int = FIRST, as_tuples: bool = False) -> Iterator[Any]:
        """Classify a stream of texts in order, reading ahead only as far as batching needs.

        ``first`` is the approximate number of tokens read before the first result, as for ``Tagger.pipe``.
        With ``as_tuples``, ``texts`` are (text, context) and the results (classification, context).
        """
        check_stream(texts)
        if as_tuples:
            return with_contexts(lambda own: self._classified(own, first), texts)
        return self._classified(texts, first)

    def _classified(self, texts: Iterable[str | LabelledText], first: int) -> Iterator[Classification]:
        for group in grouped(map(self.cut, texts), token_count, first=first):
            yield from self.classify_encoded(self._encoded(group))

    def encode(self, texts: Iterable[str | LabelledText]) -> EncodedTexts:
        """Tokenise and encode texts once. ``classify_encoded`` then gives the same results as ``pipe``."""
        return self._encoded([self.cut(text) for text in texts])

    def classify_encoded(self, encoded: EncodedTexts) -> list[Classification]:
        """Classify the result of ``encode``, optionally with additional arrays in its corpus."""
        return [
            self.classification(cut, row)
            for cut, row in zip(encoded.cuts, self.chances(encoded), strict=True)
        ]

    def chances(self, encoded: EncodedTexts) -> NDArray[np.float64]:
        """Return the probability of each label for the result of ``encode``, (N, K)."""
        if not encoded.cuts:
            return np.zeros((0, len(self.labels)))
        scores = np.stack([reading.scores for reading in self.read_encoded(encoded.corpus)])  # (N, K)
        return self.probabilities(scores)

    def text(self, text: str | LabelledText, *, path: str = "", line: int = 0) -> LabelledText:
        """Return a text with its marks parsed. ``path`` and ``line`` are for messages."""
        if isinstance(text, LabelledText):
            checked_text(text.text)
            return text
        clean, marks = cut_marks(checked_text(text), self.marks, path=path or None, line=line or None)
        return LabelledText(clean, (), marks, path, line)

    def _with_vector(self, text: str | LabelledText, vector: Any) -> LabelledText:
        """Return a text with its external vector."""
        return replace(self.text(text), vectors=checked_vector(vector, self.vector_width))

    def passage(self, text: str | LabelledText, report: Report | None = None) -> Passage:
        """Return the passage of a text that the model reads, within its limits on length."""
        report, given = report or Report(), self.text(text)
        if lacking := [name for name in self.marks if all(mark.label != name for mark in given.marks)]:
            named = ", ".join("…".join(mark_words(name)) for name in lacking)
            report.noticed[f"texts without {named}, which the model was trained on"] += 1
        passage = bounded(self.encoding.passages(given, report), report)
        return passage if self.encoding.bag is None else searched(passage, report)

    def given(self, chances: NDArray[np.floating]) -> tuple[str, ...]:
        """Return the predicted labels for probabilities (K,): the best one, or for several those from ½."""
        if self.multi_label:
            return tuple(self.labels[k] for k in np.flatnonzero(chances >= GIVEN))
        return (self.labels[int(chances.argmax())],)

    def with_scorer(self, scorer: TextScorer, batch_size: TextBatchSize) -> TextClassifier:
        """Return the classifier with another scorer of the same network, and batches of another size."""
        classifier = TextClassifier(
            encoding=self.encoding,
            scorer=scorer,
            temperature=self.temperature,
            recipe=self.recipe,
            batch_size=batch_size,
        )
        classifier.origin = self.origin
        return classifier

    def cut(self, text: str | LabelledText) -> Cut:
        """Return a text with the passage that the model reads of it, and notes."""
        report = Report()
        given = self.text(text)
        return given, self.passage(given, report), tuple(report.noticed)

    def _encoded(self, cuts: Sequence[Cut]) -> EncodedTexts:
        return EncodedTexts(cuts, self.encoding.encode_passages([passage for _, passage, _ in cuts]))

    def classification(self, cut: Cut, chances: NDArray[np.float64]) -> Classification:
        """Return the result for a text with these probabilities (K,)."""
        text, _, notes = cut
        best = int(chances.argmax())
        return Classification(
            text=text.text,
            label=self.labels[best],
            score=float(chances[best]),
            scores=dict(zip(self.labels, chances.tolist(), strict=True)),
            labels=self.given(chances),
            tokens=token_count(cut),
            notes=notes,
            multi_label=self.multi_label,
        )


def token_count(cut: Cut) -> int:
    """Return the number of tokens that are read."""
    return sum(map(len, cut[1].sentences))
