"""Explanations of a classifier's answers: what it says of each text, and what each method says about why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gonie.errors import InputError
from gonie.explain.attention import attention
from gonie.explain.erasure import erasure
from gonie.explain.flat import by_sentence
from gonie.explain.methods import GRADIENTS, checked_methods
from gonie.explain.reader import PassageReader
from gonie.explain.text_answers import TextAnswer, TextAnswers
from gonie.reports.explanation import Method, TextExplanation, TokenWeights
from gonie.tasks.classification.reading import Reading
from gonie.text.labelled_text import LabelledText

if TYPE_CHECKING:  # torch is loaded only where gradients are asked for
    from gonie.tasks.classification.torch.network import ClassifyingNetwork


def explain_texts(
    classifier: PassageReader,
    texts: Iterable[str | LabelledText],
    *,
    methods: Sequence[Method] = ("attention", "erasure"),
    model: ClassifyingNetwork | None = None,
    label: str | None = None,
) -> Iterator[TextExplanation]:
    """Explain texts one after the other, in their order, by each of ``methods``.

    Explained is the label that the model finds most probable, or ``label`` for every text: why it has it, or
    has it not. ``model`` is the same classifier in torch, which gradients need.
    """
    checked = checked_methods(methods, known=METHODS, torch=model is not None)
    asked = None if label is None else _number(label, classifier.encoding.labels)
    return (_explained(classifier, text, checked, model, asked) for text in texts)


@dataclass(frozen=True)
class _Case:
    """One answer, and all that a method may look at."""

    classifier: PassageReader
    model: ClassifyingNetwork | None
    answer: TextAnswer
    reading: Reading

    @property
    def label(self) -> str:
        return self.classifier.encoding.labels[self.answer.label]

    @property
    def lengths(self) -> list[int]:
        return [len(sentence) for sentence in self.answer.passage.sentences]


def _explained(
    classifier: PassageReader,
    given: str | LabelledText,
    methods: Sequence[Method],
    model: ClassifyingNetwork | None,
    asked: int | None,
) -> TextExplanation:
    text = classifier.text(given)
    passage = classifier.passage(text)
    (reading,) = classifier.read([passage])
    chances = classifier.probabilities(reading.scores[None])[0]  # (K,)
    best = int(np.argmax(chances))
    answer = TextAnswer(passage, best if asked is None else asked)
    case = _Case(classifier, model, answer, reading)
    return TextExplanation(
        text=text.text,
        passage=passage,
        label=classifier.encoding.labels[best],
        given=classifier.given(chances),
        probabilities=dict(zip(classifier.encoding.labels, chances.tolist(), strict=True)),
        weights=tuple(METHODS[method](case) for method in methods),
        gold=text.labels,
    )


def _by_attention(case: _Case) -> TokenWeights:
    return attention(case.reading, case.label)


def _by_erasure(case: _Case) -> TokenWeights:
    found = erasure(TextAnswers(case.classifier), case.answer)
    return by_sentence(found, case.lengths, method="erasure", label=case.label)


def _by_gradients(case: _Case) -> TokenWeights:
    from gonie.explain.torch.text_gradients import text_gradients

    assert case.model is not None
    classifier, answer = case.classifier, case.answer
    found = text_gradients(
        case.model,
        classifier.encoding,
        answer.passage,
        answer.label,
        temperature=classifier.temperature,
    )
    return by_sentence(found.words, case.lengths, method=GRADIENTS, label=case.label, gap=found.gap)


METHODS: Mapping[Method, Callable[[_Case], TokenWeights]] = {
    "attention": _by_attention,
    "integrated gradients": _by_gradients,
    "erasure": _by_erasure,
}


def _number(label: str, labels: Sequence[str]) -> int:
    if label not in labels:
        raise InputError(expected=f"a label among {', '.join(labels)}", got=repr(label))
    return labels.index(label)
