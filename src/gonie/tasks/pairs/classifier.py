"""Predict a label or a value for two texts: tokenise, encode, score in batches, calibrate.

A bundle runs it with an ONNX scorer. Training scores dev pairs with a torch scorer on the same path, so the
score that is reported is the score of the model that ships.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from gonie.features.text_corpus import TextCorpus
from gonie.runtime.groups import FIRST, grouped
from gonie.runtime.scorer import TextScorer
from gonie.tasks.classification.reading import TextBatchSize, TextReader
from gonie.tasks.contexts import check_stream, with_contexts
from gonie.tasks.pairs.answer import Pair, PairAnswer, checked_pair
from gonie.tasks.pairs.encoding import PairEncoding
from gonie.text.labelled_text import LabelledPair
from gonie.text.passages import Passage
from gonie.text.report import Report

Context = TypeVar("Context")

ONNX_PAIR_BATCH = TextBatchSize(8192, 128, 0)
"""Pairs in a batch are equally long: attention sums in another order over padding, which changes a digit."""


class TokenisedPair(NamedTuple):
    """A pair, its tokens, and notes about what was left out."""

    pair: LabelledPair
    passage: Passage
    notes: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """The number of tokens of both texts."""
        return sum(map(len, self.passage.sentences))


class EncodedPairs(NamedTuple):
    """Pairs tokenised and encoded once, so that they can be scored again after every epoch."""

    pairs: Sequence[TokenisedPair]
    corpus: TextCorpus


class PairClassifier(TextReader):
    """Predicts a label or a value for two texts with a trained model.

        classifier("A man plays a flute.", "A man makes music.").label
        list(classifier.pipe([("first", "second"), ...]))

    Calls share no state, so threads may share a model. Results do not depend on ``batch_size``.
    """

    task: ClassVar[str] = "pair"

    def __init__(
        self,
        *,
        encoding: PairEncoding,
        scorer: TextScorer,
        temperature: float = 1.0,
        recipe: Mapping[str, Any] | None = None,
        batch_size: TextBatchSize = ONNX_PAIR_BATCH,
    ) -> None:
        super().__init__(
            encoding=encoding.texts, scorer=scorer, temperature=temperature, batch_size=batch_size
        )
        self.pair_encoding = encoding
        self.recipe = recipe or {}

    @property
    def gives_values(self) -> bool:
        """Whether an answer is a value and not a label."""
        return self.pair_encoding.scale is not None

    def predicts(self) -> str:
        """Say what the model predicts: its labels, or values on its scale."""
        scale = self.pair_encoding.scale
        return super().predicts() if scale is None else f"values from {scale.low:g} to {scale.high:g}"

    def __call__(self, text: str, text_pair: str) -> PairAnswer:
        """Return the prediction for one pair."""
        return next(self.pipe([(text, text_pair)]))

    @overload
    def pipe(
        self, pairs: Iterable[tuple[Pair, Context]], *, first: int = FIRST, as_tuples: Literal[True]
    ) -> Iterator[tuple[PairAnswer, Context]]: ...
    @overload
    def pipe(
        self, pairs: Iterable[Pair], *, first: int = FIRST, as_tuples: Literal[False] = False
    ) -> Iterator[PairAnswer]: ...

    def pipe(self, pairs: Iterable[Any], *, first: int = FIRST, as_tuples: bool = False) -> Iterator[Any]:
        """Yield the predictions for a stream of pairs, in order.

        Some pairs are read ahead to be scored together, at first about ``first`` tokens. With ``as_tuples``,
        ``pairs`` are (pair, context) and the results (answer, context).
        """
        check_stream(pairs, example="[(text, text_pair)]")
        return (
            with_contexts(lambda own: self._answers(own, first), pairs)
            if as_tuples
            else self._answers(pairs, first)
        )

    def _answers(self, pairs: Iterable[Pair], first: int) -> Iterator[PairAnswer]:
        for group in grouped(map(self.tokenise, pairs), lambda pair: pair.tokens, first=first):
            yield from self.answer_encoded(self._encoded(group))

    def encode(self, pairs: Iterable[Pair]) -> EncodedPairs:
        """Tokenise and encode pairs once, for ``answer_encoded``."""
        return self._encoded([self.tokenise(pair) for pair in pairs])

    def answer_encoded(self, encoded: EncodedPairs) -> list[PairAnswer]:
        """Return the predictions for pairs that ``encode`` returned. Their corpus may have further arrays."""
        if not encoded.pairs:
            return []
        scores = np.stack([reading.scores for reading in self.read_encoded(encoded.corpus)])  # (N, K)
        if self.gives_values:
            return [self._value(*each) for each in zip(encoded.pairs, scores[:, 0].tolist(), strict=True)]
        return [self._label(*each) for each in zip(encoded.pairs, self.probabilities(scores), strict=True)]

    def tokenise(self, pair: Pair) -> TokenisedPair:
        """Check and tokenise one pair."""
        report = Report()
        given = checked_pair(pair)
        return TokenisedPair(given, self.pair_encoding.passage(given, report), tuple(report.noticed))

    def _encoded(self, pairs: Sequence[TokenisedPair]) -> EncodedPairs:
        corpus = self.encoding.encode_passages([pair.passage for pair in pairs])
        return EncodedPairs(pairs, self.pair_encoding.with_answers(corpus, [pair.pair for pair in pairs]))

    def _label(self, given: TokenisedPair, probabilities: NDArray[np.float64]) -> PairAnswer:
        best = int(probabilities.argmax())
        return PairAnswer(
            text=given.pair.first,
            text_pair=given.pair.second,
            label=self.labels[best],
            score=float(probabilities[best]),
            scores=dict(zip(self.labels, probabilities.tolist(), strict=True)),
            tokens=given.tokens,
            notes=given.notes,
        )

    def _value(self, given: TokenisedPair, value: float) -> PairAnswer:
        return PairAnswer(
            text=given.pair.first,
            text_pair=given.pair.second,
            value=value,
            tokens=given.tokens,
            notes=given.notes,
        )
