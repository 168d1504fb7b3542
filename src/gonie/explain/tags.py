"""Explanations of a tagger's answers: how sure it is of its tags, what else they may be, what spans rest on.

Where tags form no spans, each token is explained as one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gonie.explain.erasure import erasure
from gonie.explain.flat import by_sentence
from gonie.explain.methods import GRADIENTS, checked_methods
from gonie.explain.span_answers import SpanAnswer, SpanAnswers
from gonie.reports.explanation import Method, SpanExplanation, TagExplanation, TokenWeights
from gonie.tasks.tagging.labeller import Tagging, TokenSpan
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.types import Sentence

if TYPE_CHECKING:  # torch is loaded only where gradients are asked for
    from gonie.tasks.tagging.torch.network import TaggingNetwork

CANDIDATES = 5


def explain_sentences(
    predictor: Tagger,
    sentences: Iterable[Sentence],
    *,
    methods: Sequence[Method] = ("erasure",),
    model: TaggingNetwork | None = None,
    candidates: int = CANDIDATES,
) -> Iterator[TagExplanation]:
    """Explain sentences one after the other, in their order, each of their spans by each of ``methods``.

    ``candidates`` is how many of the likeliest taggings are listed. ``model`` is the same tagger in torch,
    which gradients need.
    """
    checked = checked_methods(methods, known=METHODS, torch=model is not None)
    listing = predictor.with_nbest(candidates)
    return (_explained(listing, sentence, checked, model) for sentence in sentences)


def span_answer(
    predictor: Tagger, sentence: Sentence, tags: Sequence[str], start: int, end: int
) -> SpanAnswer:
    """That tokens [start, end) carry their part of ``tags``, those of the whole sentence."""
    return SpanAnswer(sentence, start, tuple(predictor.encoding.label_ids[tag] for tag in tags[start:end]))


@dataclass(frozen=True)
class _SpanCase:
    """One span, and all that a method may look at."""

    predictor: Tagger
    model: TaggingNetwork | None
    answer: SpanAnswer
    label: str


def _explained(
    predictor: Tagger, sentence: Sentence, methods: Sequence[Method], model: TaggingNetwork | None
) -> TagExplanation:
    if not sentence.words:
        return TagExplanation(sentence, (), (), (), ())
    (tagging,) = predictor.tag_sentences([sentence])
    (scores,) = predictor.emissions([sentence])  # (T, K)
    return TagExplanation(
        sentence=sentence,
        tags=tagging.tags,
        marginals=_marginals(predictor, scores),
        candidates=tagging.candidates,
        spans=tuple(
            SpanExplanation(*span, tuple(METHODS[method](case) for method in methods))
            for span, case in _cases(predictor, model, sentence, tagging)
        ),
    )


def _marginals(predictor: Tagger, scores: NDArray[np.float32]) -> tuple[Mapping[str, float], ...]:
    rows = predictor.decoder.marginals(scores[None], [len(scores)])[0]  # (T, K)
    return tuple(dict(zip(predictor.labels, row, strict=True)) for row in rows.tolist())


def _cases(
    predictor: Tagger, model: TaggingNetwork | None, sentence: Sentence, tagging: Tagging
) -> Iterator[tuple[TokenSpan, _SpanCase]]:
    for span in _spans(predictor, tagging):
        answer = span_answer(predictor, sentence, tagging.tags, span.start, span.end)
        yield span, _SpanCase(predictor, model, answer, span.label)


def _spans(predictor: Tagger, tagging: Tagging) -> Sequence[TokenSpan]:
    if predictor.encoding.scheme.has_spans:
        return tagging.spans
    tokens = enumerate(zip(tagging.tags, tagging.scores, strict=True))
    return [TokenSpan(place, place + 1, tag, score) for place, (tag, score) in tokens]


def _by_erasure(case: _SpanCase) -> TokenWeights:
    found = erasure(SpanAnswers(case.predictor), case.answer)
    return by_sentence(found, [len(found)], method="erasure", label=case.label)


def _by_gradients(case: _SpanCase) -> TokenWeights:
    from gonie.explain.torch.span_gradients import span_gradients

    assert case.model is not None
    predictor = case.predictor
    found = span_gradients(case.model, predictor.encoding, predictor.decoder.chain, case.answer)
    return by_sentence(found.words, [len(found.words)], method=GRADIENTS, label=case.label, gap=found.gap)


METHODS: Mapping[Method, Callable[[_SpanCase], TokenWeights]] = {
    "integrated gradients": _by_gradients,
    "erasure": _by_erasure,
}
