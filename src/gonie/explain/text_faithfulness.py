"""How faithful the weights over texts are, on the model that they explain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gonie.explain.attention import uniform_attention
from gonie.explain.faithfulness import DRAWS, Case, faithfulness
from gonie.explain.flat import flatten
from gonie.explain.odds import Floats
from gonie.explain.reader import PassageReader
from gonie.explain.text_answers import TextAnswer, TextAnswers
from gonie.reports.explanation import UNIFORM, Faithfulness, TextExplanation


def text_faithfulness(
    classifier: PassageReader,
    explanations: Sequence[TextExplanation],
    *,
    seed: int = 0,
    draws: int = DRAWS,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Faithfulness]:
    """Comprehensiveness and sufficiency of each method that the texts were explained by, then the controls.

    All must have been explained by the same methods. ``progress`` is told how many texts have been asked for.
    """
    cases = [_case(explanation, classifier.encoding.labels) for explanation in explanations]
    return faithfulness(TextAnswers(classifier), cases, seed=seed, draws=draws, progress=progress)


def _case(explanation: TextExplanation, labels: Sequence[str]) -> Case[TextAnswer]:
    weights: dict[str, Floats] = {one.method: flatten(one) for one in explanation.weights}
    even = uniform_attention([len(sentence) for sentence in explanation.passage.sentences])
    label = explanation.weights[0].label if explanation.weights else explanation.label
    return Case(TextAnswer(explanation.passage, labels.index(label)), weights | {UNIFORM: even})
