"""Explanations of a tagger: the probability of its spans when words are replaced by unknown words.

They also show the marginals of tags, the n-best taggings, and the learned transitions. If tags form no spans,
each token is explained as a span.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.formats.detect import check_plain_text, is_tagged
from gonie.formats.format import ReadOptions, WordUnit
from gonie.formats.tagged import TaggedSource
from gonie.formats.text_rows import read_lines
from gonie.metrics.log_odds import Floats
from gonie.reports.explanation import (
    Faithfulness,
    LayerShares,
    Method,
    SpanExplanation,
    TagExplanation,
    TokenWeights,
    Transitions,
)
from gonie.reports.explanations.heat import Rows
from gonie.reports.explanations.layout import lay_out_sentence
from gonie.reports.explanations.tag_page import WARNING, render_tags
from gonie.reports.explanations.transition_table import has_learned
from gonie.reports.explanations.verdict import PROBABILITY
from gonie.runtime.groups import MOST, grouped
from gonie.tasks.explanation import HeldOutFile, ItemSize, Keep
from gonie.tasks.tagging.labeller import Tagging, TokenSpan
from gonie.tasks.tagging.span_chances import SpanChances
from gonie.tasks.tagging.span_log_odds import span_log_odds
from gonie.tasks.tagging.span_questions import (
    SentenceQuestions,
    SpanQuestion,
    known_types,
    parse_question,
    place_questions,
    tags_of_span,
)
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.passages import BLANK
from gonie.text.types import Sentence

if TYPE_CHECKING:
    from gonie.reports.explanations.screen import ExplanationScreen

NBEST, SPANS = "nbest", "spans"
CANDIDATES = 5
"""Default number of n-best taggings."""
TOKENS_PER_SPAN = 8
"""Approximate number of tokens per span of a sentence."""


class TagExplanations:
    """Explains taggers.

    The option ``nbest`` is the number of taggings listed per sentence. ``spans`` are pieces of the text that
    the user asks about (``span_questions``).
    """

    options = frozenset({NBEST, SPANS})

    def explained(self, model: Tagger, options: Mapping[str, Any]) -> ExplainedTagger:
        """Return the tagger with explanations, as set by the options."""
        given = options.get(SPANS, ())
        types = known_types(model.labels, model.encoding.scheme)
        return ExplainedTagger(
            model,
            candidates=options.get(NBEST, CANDIDATES),
            questions=[
                parse_question(each, types) for each in ([given] if isinstance(given, str) else given)
            ],
        )


class SpanAnswer(NamedTuple):
    """The answer that the tokens from ``start`` on have exactly these tag ids.

    The model predicts it, unless the user ``asked`` about it.
    """

    sentence: Sentence
    start: int
    tags: tuple[int, ...]
    label: str = ""
    asked: bool = False

    @property
    def end(self) -> int:
        """The index after the last token."""
        return self.start + len(self.tags)

    @property
    def lengths(self) -> list[int]:
        """The number of tokens of the sentence."""
        return [len(self.sentence)]

    @property
    def tokens(self) -> int:
        """M, the number of tokens of the sentence."""
        return len(self.sentence)


class ExplainedTagger:
    """A tagger with explanations of its spans.

    A word is removed by replacing it with an unknown word, because each tag belongs to a position, and
    removing the word would shift all later ones. The probability of a span is its score.
    """

    noun = "span"
    quantity = PROBABILITY
    warning = WARNING
    methods: tuple[Method, ...] = ("integrated gradients", "erasure")

    def __init__(
        self, tagger: Tagger, *, candidates: int = CANDIDATES, questions: Sequence[SpanQuestion] = ()
    ) -> None:
        self._tagger = tagger.with_nbest(candidates)
        self._questions = tuple(questions)
        moves = transitions(tagger)
        self._moves = moves if has_learned(moves) else None

    def items(self, text: str | None, files: Sequence[Path]) -> Iterator[Sentence | SentenceQuestions]:
        """Yield the sentences of files of tagged sentences, and of each line of others.

        If the user asks about spans, yield the sentences of the text with these questions.
        """
        if self._questions:
            if text is None:
                raise InputError(
                    "spans can be asked about only in a text", fix="Pass the text as an argument"
                )
            yield from place_questions(self._questions, list(self._lines(text, [])))
            return
        for file in files:
            if is_tagged(file):
                yield from TaggedSource(file, self._read_options())
            else:
                check_plain_text(file)
                yield from self._lines(None, [file])
        if not files:
            yield from self._lines(text, [])

    def _lines(self, text: str | None, files: Sequence[Path]) -> Iterator[Sentence]:
        for _, _, line in read_lines(text, files):
            yield from self._tagger.tokenizer(line)

    def _read_options(self) -> ReadOptions:
        data = self._tagger.recipe.get("data", {})
        columns, tag = data.get("columns", {}), data.get("tag_column")
        tokenizer = self._tagger.tokenizer
        return ReadOptions(columns=columns, tag_column=tag, tokenizer=tokenizer, unit=WordUnit.of(tokenizer))

    def held_out(self, folder: Path, file: Path | None) -> HeldOutFile | None:
        """Return the sentences of the given file, in any format of training data."""
        return (
            None
            if file is None
            else HeldOutFile(TaggedSource(file, self._read_options()), file, "span-log-odds")
        )

    def size(self, item: Sentence | SentenceQuestions) -> ItemSize:
        """Return the number of tokens, and of answers: if tags form no spans, one per token."""
        tokens = len(_sentence(item))
        plain = not self._tagger.encoding.scheme.has_spans
        return ItemSize(tokens, tokens if plain else 1 + tokens // TOKENS_PER_SPAN)

    def ask(self, item: Sentence | SentenceQuestions) -> AskedSentence:
        """Return the tags of a sentence, their probabilities, its spans, and those asked about."""
        tagger, sentence = self._tagger, _sentence(item)
        if not sentence.words:
            return AskedSentence(tagger, sentence, Tagging(), ())
        (tagging,) = tagger.tag_sentences([sentence])
        (scores,) = tagger.emissions([sentence])  # (T, K)
        rows = tagger.decoder.marginals(scores[None], [len(scores)])[0]  # (T, K)
        marginals = tuple(dict(zip(tagger.labels, row, strict=True)) for row in rows.tolist())
        asked: tuple[SpanExplanation, ...] = ()
        if isinstance(item, SentenceQuestions) and item.questions:
            lattice = tagger.decoder.forward_backward(scores[None], [len(scores)])
            chances = SpanChances(tagger, sentence, tagging, lattice)
            asked = tuple(map(chances.answer, item.questions))
        return AskedSentence(tagger, sentence, tagging, marginals, asked)

    def log_odds(self, questions: Iterable[tuple[SpanAnswer, Keep]]) -> Floats:
        """Return the log-odds of each span when all tokens but those of its ``Keep`` are unknown: (Q,)."""
        found = [np.zeros(0)]
        for block in grouped(questions, lambda question: question[0].tokens, first=MOST):
            found.append(self._block_log_odds(block))
        return np.concatenate(found)

    def _block_log_odds(self, block: Sequence[tuple[SpanAnswer, Keep]]) -> Floats:
        """Return the log-odds of each span. Equal sentences with equal masks are scored once."""
        keys = [(id(answer.sentence), keep.tobytes()) for answer, keep in block]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        distinct = dict(zip(keys, block, strict=True))
        scores = self._tagger.emissions([masked(answer.sentence, keep) for answer, keep in distinct.values()])
        sizes = np.array([answer.tokens for answer, _ in block], dtype=np.int64)
        padded = _padded([scores[numbers[key]] for key in keys], sizes)  # (Q, T, K)
        decoder = self._tagger.decoder
        emissions, lengths = decoder.checked(padded, sizes)
        starts, tags = [answer.start for answer, _ in block], [answer.tags for answer, _ in block]
        return span_log_odds(decoder.calibrated, emissions, lengths, starts, tags)

    def rows(self, explanation: TagExplanation) -> Rows:
        """Return the sentence as one row."""
        return [lay_out_sentence(explanation.sentence)]

    def show(self, explanation: TagExplanation, screen: ExplanationScreen) -> None:
        """Show the tokens, the n-best taggings, and the weights of each span."""
        from gonie.tasks.tagging.explanation_view import show_tags

        show_tags(screen, explanation, self.rows(explanation))

    def show_model(self, screen: ExplanationScreen) -> None:
        """Show the learned transitions, if there are any."""
        from gonie.tasks.tagging.explanation_view import show_moves

        if self._moves is not None:
            show_moves(screen, self._moves)

    def page(
        self,
        explanations: Sequence[TagExplanation],
        faithfulness: Sequence[Faithfulness],
        *,
        title: str,
        notes: Sequence[str] = (),
        layers: Sequence[LayerShares] = (),
    ) -> str:
        """Return the sentences with the weights of their spans, and the transitions, as an HTML page."""
        return render_tags(explanations, self._moves, faithfulness, title=title, notes=notes, layers=layers)


@dataclass(frozen=True)
class AskedSentence:
    """The tagging of one sentence. ``marginals`` has the probability of every tag for each token.

    ``asked`` are the spans that the user asks about, without weights.
    """

    tagger: Tagger
    sentence: Sentence
    tagging: Tagging
    marginals: tuple[Mapping[str, float], ...]
    asked: tuple[SpanExplanation, ...] = ()

    @property
    def spans(self) -> Sequence[TokenSpan]:
        """The spans that the tags form, or each token if tags are plain."""
        if self.tagger.encoding.scheme.has_spans:
            return self.tagging.spans
        tokens = enumerate(zip(self.tagging.tags, self.tagging.scores, strict=True))
        return [TokenSpan(place, place + 1, tag, score) for place, (tag, score) in tokens]

    @property
    def answers(self) -> list[SpanAnswer]:
        """One answer for each span that is asked about, then for each predicted span."""
        scheme, tokens = self.tagger.encoding.scheme, len(self.sentence)
        asked = [
            self._answer(
                span.start,
                span.label,
                tags_of_span(span.start, span.end, span.label, tokens=tokens, scheme=scheme),
                asked=True,
            )
            for span in self.asked
        ]
        predicted = [
            self._answer(span.start, span.label, self.tagging.tags[span.start : span.end])
            for span in self.spans
        ]
        return asked + predicted

    def _answer(self, start: int, label: str, tags: Sequence[str], *, asked: bool = False) -> SpanAnswer:
        ids = self.tagger.encoding.label_ids
        return SpanAnswer(self.sentence, start, tuple(ids[tag] for tag in tags), label, asked)

    def explanation(self, weights: Sequence[tuple[TokenWeights, ...]]) -> TagExplanation:
        """Return the sentence with its tags, its n-best taggings, and the weights of each span."""
        own, rest = weights[: len(self.asked)], weights[len(self.asked) :]
        return TagExplanation(
            sentence=self.sentence,
            tags=self.tagging.tags,
            marginals=self.marginals,
            candidates=self.tagging.candidates,
            spans=tuple(
                SpanExplanation(span.start, span.end, span.label, span.score or 0.0, each)
                for span, each in zip(self.spans, rest, strict=True)
            ),
            types=known_types(self.tagger.labels, self.tagger.encoding.scheme),
            asked=tuple(replace(span, weights=each) for span, each in zip(self.asked, own, strict=True)),
        )


def _sentence(item: Sentence | SentenceQuestions) -> Sentence:
    return item.sentence if isinstance(item, SentenceQuestions) else item


def transitions(tagger: Tagger) -> Transitions:
    """Return the transition scores of decoding, with minus infinity for forbidden transitions."""
    chain = tagger.decoder.chain
    return Transitions(
        labels=tagger.labels,
        scores=tuple(tuple(row) for row in chain.transitions.tolist()),
        start=tuple(chain.start.tolist()),
        end=tuple(chain.end.tolist()),
    )


def masked(sentence: Sentence, keep: Keep) -> Sentence:
    """Return the sentence with ``BLANK``, an unknown word, for each token that is not in ``keep``."""
    if keep.all():
        return sentence
    return replace(
        sentence,
        words=_masked(sentence.words, keep, BLANK),
        columns={name: _masked(values, keep, "") for name, values in sentence.columns.items()},
    )


def _masked(values: tuple[str, ...], keep: Keep, fill: str) -> tuple[str, ...]:
    return tuple(value if stays else fill for value, stays in zip(values, keep.tolist(), strict=True))


def _padded(rows: Sequence[NDArray[np.float32]], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
    table = np.zeros((len(rows), int(lengths.max()), rows[0].shape[1]), dtype=np.float32)
    for place, row in zip(table, rows, strict=True):
        place[: len(row)] = row
    return table
