"""How faithful the weights over sentences are, on the tagger that they explain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gonie.explain.faithfulness import DRAWS, Case, faithfulness
from gonie.explain.flat import flatten
from gonie.explain.span_answers import SpanAnswers
from gonie.explain.tags import span_answer
from gonie.reports.explanation import Faithfulness, TagExplanation
from gonie.tasks.tagging.tagger import Tagger


def tag_faithfulness(
    predictor: Tagger,
    explanations: Sequence[TagExplanation],
    *,
    seed: int = 0,
    draws: int = DRAWS,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Faithfulness]:
    """Comprehensiveness and sufficiency over all spans, of each method they were explained by and of luck.

    A word is taken out by putting an unknown one in its place. All spans must have been explained by the same
    methods; ``progress`` is told how many have been asked for, and ``texts`` of the result counts spans.
    """
    cases = [
        Case(
            span_answer(predictor, explanation.sentence, explanation.tags, span.start, span.end),
            {weights.method: flatten(weights) for weights in span.weights},
        )
        for explanation in explanations
        for span in explanation.spans
    ]
    return faithfulness(SpanAnswers(predictor), cases, seed=seed, draws=draws, progress=progress)
