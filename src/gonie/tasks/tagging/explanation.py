"""Explanations of a tagger: its spans, asked for again with unknown words in the place of some.

Also how sure it is of its tags, what else they may be, and what its chain has learned. Where tags form no
spans, each token is explained as one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.formats.format import ReadOptions
from gonie.formats.tagged import TaggedSource
from gonie.formats.text_rows import read_lines
from gonie.metrics.log_odds import Floats, from_probabilities
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
from gonie.runtime.groups import MOST, grouped
from gonie.tasks.explanation import HeldOutFile, ItemSize, Keep
from gonie.tasks.tagging.labeller import Tagging, TokenSpan
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.passages import BLANK
from gonie.text.types import Sentence

if TYPE_CHECKING:
    from gonie.reports.explanations.screen import ExplanationScreen

NBEST = "nbest"
CANDIDATES = 5
"""How many of the likeliest taggings are listed unless the option says otherwise."""
TOKENS_PER_SPAN = 8
"""About how many tokens of a sentence there are for each of its spans."""


class TagExplanations:
    """The facet. Its option ``nbest`` is how many taggings of a sentence are listed."""

    options = frozenset({NBEST})

    def explained(self, model: Tagger, options: Mapping[str, Any]) -> ExplainedTagger:
        """The tagger, explained as the options say."""
        return ExplainedTagger(model, candidates=options.get(NBEST, CANDIDATES))


class SpanAnswer(NamedTuple):
    """That the tokens from ``start`` on carry just these tags, by their numbers."""

    sentence: Sentence
    start: int
    tags: tuple[int, ...]
    label: str = ""

    @property
    def end(self) -> int:
        """The token after the last."""
        return self.start + len(self.tags)

    @property
    def lengths(self) -> list[int]:
        """The tokens of the one sentence."""
        return [len(self.sentence)]

    @property
    def tokens(self) -> int:
        """M, of the whole sentence."""
        return len(self.sentence)


class ExplainedTagger:
    """A tagger whose spans can be explained.

    A word is taken out by putting an unknown one in its place: each tag belongs to a place, and taking the
    word away would move all that follow. The probability of a span is the one that it has as its score.
    """

    noun = "span"
    warning = WARNING
    methods: tuple[Method, ...] = ("integrated gradients", "erasure")

    def __init__(self, tagger: Tagger, *, candidates: int = CANDIDATES) -> None:
        self._tagger = tagger.with_nbest(candidates)
        moves = transitions(tagger)
        self._moves = moves if has_learned(moves) else None

    def items(self, text: str | None, files: Sequence[Path]) -> Iterator[Sentence]:
        """The sentences of each line."""
        for _, _, line in read_lines(text, files):
            yield from self._tagger.tokenizer(line)

    def held_out(self, folder: Path, file: Path | None) -> HeldOutFile | None:
        """The sentences of the file that was named, in any format that training reads."""
        if file is None:
            return None
        data = self._tagger.recipe.get("data", {})
        columns, tag = data.get("columns", {}), data.get("tag_column")
        options = ReadOptions(columns=columns, tag_column=tag, tokenizer=self._tagger.tokenizer)
        return HeldOutFile(TaggedSource(file, options), file, "spans")

    def size(self, item: Sentence) -> ItemSize:
        """Its tokens; each is an answer where tags form no spans."""
        tokens = len(item)
        plain = not self._tagger.encoding.scheme.has_spans
        return ItemSize(tokens, tokens if plain else 1 + tokens // TOKENS_PER_SPAN)

    def ask(self, item: Sentence) -> AskedSentence:
        """The tags of a sentence, their probabilities, and its spans."""
        tagger = self._tagger
        if not item.words:
            return AskedSentence(tagger, item, Tagging(), ())
        (tagging,) = tagger.tag_sentences([item])
        (scores,) = tagger.emissions([item])  # (T, K)
        rows = tagger.decoder.marginals(scores[None], [len(scores)])[0]  # (T, K)
        marginals = tuple(dict(zip(tagger.labels, row, strict=True)) for row in rows.tolist())
        return AskedSentence(tagger, item, tagging, marginals)

    def log_odds(self, questions: Iterable[tuple[SpanAnswer, Keep]]) -> Floats:
        """The log-odds of each span where all tokens but those of its ``Keep`` are unknown words: (Q,)."""
        found = [np.zeros(0)]
        for block in grouped(questions, lambda question: question[0].tokens, first=MOST):
            found.append(from_probabilities(self._probabilities(block)))
        return np.concatenate(found)

    def _probabilities(self, block: Sequence[tuple[SpanAnswer, Keep]]) -> Floats:
        """p of each span; spans of the same sentence with the same words missing are scored once."""
        keys = [(id(answer.sentence), keep.tobytes()) for answer, keep in block]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        distinct = dict(zip(keys, block, strict=True))
        scores = self._tagger.emissions([masked(answer.sentence, keep) for answer, keep in distinct.values()])
        lengths = np.array([answer.tokens for answer, _ in block], dtype=np.int64)
        emissions = _padded([scores[numbers[key]] for key in keys], lengths)  # (Q, T, K)
        tags = np.zeros(emissions.shape[:2], dtype=np.int64)  # (Q, T)
        for row, (answer, _) in zip(tags, block, strict=True):
            row[answer.start : answer.end] = answer.tags
        lattice = self._tagger.decoder.forward_backward(emissions, lengths)
        starts, ends = zip(*((answer.start, answer.end) for answer, _ in block), strict=True)
        return lattice.path_probabilities(np.arange(len(block)), starts, ends, tags)

    def rows(self, explanation: TagExplanation) -> Rows:
        """The sentence, as one row."""
        return [lay_out_sentence(explanation.sentence)]

    def show(self, explanation: TagExplanation, screen: ExplanationScreen) -> None:
        """The tokens, the likeliest taggings, and what each span rests on."""
        from gonie.tasks.tagging.explanation_view import show_tags

        show_tags(screen, explanation, self.rows(explanation))

    def show_model(self, screen: ExplanationScreen) -> None:
        """What the chain has learned, if there is one."""
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
        """Sentences with their spans and what they rest on, and the table of moves."""
        return render_tags(explanations, self._moves, faithfulness, title=title, notes=notes, layers=layers)


@dataclass(frozen=True)
class AskedSentence:
    """What a tagger says of one sentence; ``marginals`` has for each token every tag's probability."""

    tagger: Tagger
    sentence: Sentence
    tagging: Tagging
    marginals: tuple[Mapping[str, float], ...]

    @property
    def spans(self) -> Sequence[TokenSpan]:
        """Those that the tags form; of plain tags each token."""
        if self.tagger.encoding.scheme.has_spans:
            return self.tagging.spans
        tokens = enumerate(zip(self.tagging.tags, self.tagging.scores, strict=True))
        return [TokenSpan(place, place + 1, tag, score) for place, (tag, score) in tokens]

    @property
    def answers(self) -> list[SpanAnswer]:
        """That the tokens of each span carry its tags."""
        ids = self.tagger.encoding.label_ids
        return [
            SpanAnswer(
                self.sentence,
                span.start,
                tuple(ids[tag] for tag in self.tagging.tags[span.start : span.end]),
                span.label,
            )
            for span in self.spans
        ]

    def explanation(self, weights: Sequence[tuple[TokenWeights, ...]]) -> TagExplanation:
        """The sentence with its tags, what else they may be, and the weights of each span."""
        return TagExplanation(
            sentence=self.sentence,
            tags=self.tagging.tags,
            marginals=self.marginals,
            candidates=self.tagging.candidates,
            spans=tuple(SpanExplanation(*span, own) for span, own in zip(self.spans, weights, strict=True)),
        )


def transitions(tagger: Tagger) -> Transitions:
    """The scores of all moves as decoding uses them, what may not be at minus infinity."""
    chain = tagger.decoder.chain
    return Transitions(
        labels=tagger.labels,
        scores=tuple(tuple(row) for row in chain.transitions.tolist()),
        start=tuple(chain.start.tolist()),
        end=tuple(chain.end.tolist()),
    )


def masked(sentence: Sentence, keep: Keep) -> Sentence:
    """The sentence with an unknown word, of no known spelling, in the place of each token not in ``keep``."""
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
