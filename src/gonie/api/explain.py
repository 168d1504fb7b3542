"""``gonie.explain``: the weight of each word for the predictions of a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from gonie.api.models import loaded
from gonie.api.settings import python_messages
from gonie.errors import InputError
from gonie.explaining.methods import TakeGradients, choose_methods, explain_items
from gonie.reports.explanation import AskedSpan, TagExplanation, TokenWeights
from gonie.reports.explanations.asked import asked_answer
from gonie.reports.explanations.heat import Rows, number
from gonie.reports.explanations.shades import shades, strongest
from gonie.reports.html.markup import Markup, element, fragment
from gonie.tasks.contexts import check_no_table
from gonie.tasks.explanation import ExplainedModel
from gonie.tasks.pairs.answer import checked_pair
from gonie.tasks.table import TASKS
from gonie.text.plain_text import checked_text

if TYPE_CHECKING:
    from gonie.text.labelled_text import LabelledPair

STRONGEST = 3  # words in the repr


@dataclass(frozen=True, slots=True)
class ExplainedAnswer:
    """One prediction about a text: its label, its probability, and the weights of each method.

    ``words`` are those that the weights refer to. A weight is positive if the word supports the prediction.
    ``asked`` is set for a span that was asked about: what the model prefers to it.
    """

    label: str
    score: float | None
    text: str
    words: tuple[str, ...]
    weights: dict[str, tuple[float, ...]]
    rows: Rows = field(repr=False)
    by_method: tuple[TokenWeights, ...] = field(repr=False)
    asked: AskedSpan | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        weights = {method: list(own) for method, own in self.weights.items()}
        found = {
            "label": self.label,
            "score": self.score,
            "text": self.text,
            "words": list(self.words),
            "weights": weights,
        }
        return found if self.asked is None else found | self.asked.to_dict()

    def __repr__(self) -> str:
        shown = []
        for each in self.by_method:
            words = [
                (self._word(at, token), each.words[at][token]) for at, token in strongest(each, STRONGEST)
            ]
            shown.append(f"{each.method}: " + ", ".join(f"{word} {weight:+.2f}" for word, weight in words))
        if self.asked is not None:
            told = asked_answer(self.text, self.label, self.score or 0.0, self.asked)
            return f"{told} ({'; '.join(shown)})"
        return f"{self.label} {self.text!r} ({'; '.join(shown)})"

    def _word(self, at: int, token: int) -> str:
        return next(piece.text for piece in self.rows[at] if piece.token == token)

    def html(self) -> Markup:
        """Return a heat map of each method. Words that support the prediction are blue, others orange."""
        score = "" if self.score is None else f" {self.score:.2f}"
        maps = (_heat(self.rows, each) for each in self.by_method)
        if self.asked is not None:
            told = asked_answer(self.text, self.label, self.score or 0.0, self.asked)
            return element("div", element("b", told), *maps)
        return element("div", element("b", self.label, score), " ", self.text[:80], *maps)


def _heat(rows: Rows, weights: TokenWeights) -> Markup:
    drawn = shades(weights)
    pieces: list[Markup | str] = []
    for at, own in enumerate(rows):
        for piece in own:
            if piece.token is None:
                pieces.append(piece.text)
                continue
            shade = drawn[at][piece.token]
            color = "30,120,220" if shade >= 0 else "230,120,0"  # readable on light and on dark pages
            style = f"background:rgba({color},{0.75 * abs(shade):.2f});border-radius:3px"
            pieces.append(element("span", piece.text, style=style, title=number(weights, at, piece.token)))
    method = element("span", weights.method, style="opacity:.6;display:inline-block;min-width:11em")
    return element("div", method, *pieces, style="line-height:1.8")


@dataclass(frozen=True, slots=True)
class Explanation:
    """The predictions for a text, each with the weights of its words. ``notes`` name skipped methods."""

    text: str
    answers: tuple[ExplainedAnswer, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        found = {"text": self.text, "answers": [answer.to_dict() for answer in self.answers]}
        return found | ({"notes": list(self.notes)} if self.notes else {})

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.answers)) or f"no spans in {self.text!r}"

    def _repr_html_(self) -> str:
        notes = (element("p", note, style="opacity:.6") for note in self.notes)
        shown = (answer.html() for answer in self.answers)
        return fragment(*(shown if self.answers else (element("p", repr(self)),)), *notes)


@overload
def explain(model: Any, texts: str, *, methods: Sequence[str] = (), **options: Any) -> Explanation: ...
@overload
def explain(
    model: Any, texts: tuple[str, str], *, methods: Sequence[str] = (), **options: Any
) -> Explanation: ...
@overload
def explain(
    model: Any, texts: Iterable[Any], *, methods: Sequence[str] = (), **options: Any
) -> list[Explanation]: ...


def explain(
    model: Any, texts: Any, *, methods: Sequence[str] = (), **options: Any
) -> Explanation | list[Explanation]:
    """Explain the predictions of a model word by word, as ``gonie explain`` does.

    ``model`` is a model or its folder. ``texts`` is one text, or a list of texts, for which a list is
    returned. A pair is a tuple of two texts. ``methods`` are any of ``attention``, ``gradients`` and
    ``erasure``, by default all that the model supports. ``options`` are ``label`` (classifiers), and
    ``nbest`` and ``spans`` (taggers). ``spans=["Samsung=ORG"]`` asks why this piece of the text is not tagged
    so. How faithful the methods are to a model, ``gonie explain`` measures.
    """
    with python_messages():
        found, folder = loaded(model)
        asked = found.explained({name: value for name, value in options.items() if value is not None})
        methods = [methods] if isinstance(methods, str) else methods
        chosen = choose_methods(methods, asked.methods, folder, lambda: _gradients(folder, found.model))
        check_no_table(texts)
        pairs = len(TASKS[found.model.task].sample) > 1
        one = isinstance(texts, tuple if pairs else str) or not isinstance(texts, Iterable)
        answered = []
        for text in [texts] if one else texts:
            items = list(_items(asked, text, pairs=pairs))
            explained = explain_items(asked, items, methods=chosen.methods, gradients=chosen.gradients)
            answers = tuple(answer for each in explained for answer in _answers(asked, each.explanation))
            answered.append(Explanation("\n".join(text) if pairs else text, answers, chosen.notes))
        return answered[0] if one else answered


def _gradients(folder: Path, model: Any) -> TakeGradients:
    from gonie.cli.process_settings import limit_spinning

    limit_spinning()
    from gonie.explaining.torch.gradients import load_gradients

    return load_gradients(folder, model)


def _items(model: ExplainedModel, text: Any, *, pairs: bool) -> Iterable[Any]:
    """Return the items of a text: itself, its sentences for a tagger, or a pair."""
    if pairs:
        pair: LabelledPair = checked_pair(text)
        return [pair]
    if not isinstance(text, str):
        raise InputError(f"not a text: {text!r}"[:200], fix="Pass a text, or a list of texts")
    checked_text(text)
    return model.items(text, [])


def _answers(model: ExplainedModel, found: Any) -> Iterable[ExplainedAnswer]:
    """Yield the answers of an item: the label of a text, or the spans of a sentence."""
    rows = model.rows(found)
    words = tuple(piece.text for own in rows for piece in own if piece.token is not None)
    if isinstance(found, TagExplanation):
        offsets, surface = found.sentence.offsets(), found.sentence.surface
        for span in (*found.asked, *found.spans):
            yield ExplainedAnswer(
                label=span.label,
                score=span.probability,
                text=surface[offsets[span.start][0] : offsets[span.end - 1][1]],
                words=words,
                weights=_weights(span.weights),
                rows=rows,
                by_method=span.weights,
                asked=span.asked,
            )
        return
    label = found.weights[0].label if found.weights else found.label
    score = found.probabilities.get(label)
    yield ExplainedAnswer(label, score, found.text, words, _weights(found.weights), rows, found.weights)


def _weights(weights: Sequence[TokenWeights]) -> dict[str, tuple[float, ...]]:
    return {each.method: tuple(value for own in each.words for value in own) for each in weights}
