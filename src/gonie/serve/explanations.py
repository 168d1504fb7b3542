"""Explanations and tokens of one text, as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias, cast

from gonie.errors import InputError
from gonie.explaining.faithfulness_cache import last_figures
from gonie.explaining.methods import explain_items
from gonie.formats.text_rows import TextRow
from gonie.reports.explanation import (
    AskedSpan,
    Method,
    SpanExplanation,
    TagExplanation,
    TextExplanation,
    TokenWeights,
)
from gonie.serve.requests import ExplainRequest, TokeniseRequest
from gonie.serve.served_model import SERVED_METHODS, ServedModel
from gonie.tasks.pairs.answer import checked_pair
from gonie.tasks.records import rounded
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.plain_text import checked_text
from gonie.text.schemes import from_spans, to_spans
from gonie.text.types import Candidate, Sentence
from gonie.text.utf16 import utf16_offsets

TAGGER_OPTIONS, LABEL_OPTIONS = frozenset({"nbest", "spans"}), frozenset({"label"})
"""The options of explanations of taggers, and of classifiers and pair models."""
DIGITS = 4
"""Decimal places of a weight."""

Retag: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Returns the tags of a sentence in the scheme of documents."""


def explain(model: ServedModel, row: TextRow, request: ExplainRequest) -> dict[str, Any]:
    """Explain the predictions of a model for one text or pair."""
    methods = _methods(model, request)
    options = {name: value for name in ("label", "nbest", "spans") if (value := getattr(request, name))}
    known = TAGGER_OPTIONS if model.command == "tag" else LABEL_OPTIONS
    for name in options.keys() - known:
        raise InputError(f"{name} does not apply: {model.name!r} is a {model.loaded.task.model}")
    explained = model.loaded.explained(options)
    if model.texts > 1:
        items: Iterable[Any] = [checked_pair(row.texts)]
    else:
        items = explained.items(checked_text(row.texts[0]), [])
    own = cast("tuple[Method, ...]", tuple(name for name in methods if name in SERVED_METHODS))
    found = [each.explanation for each in explain_items(explained, items, methods=own)]
    faithfulness = [asdict(each) for each in last_figures(Path(model.folder), model.digest)]
    if isinstance(model.model, Tagger):
        made = _tags(row.texts[0], found, methods, _retag(model.model))
    else:
        made = _label(row.texts, found[0])
    if request.offsets == "utf16":
        _count_utf16(made, row.texts)
    return made | {"faithfulness": faithfulness}


def _count_utf16(made: Mapping[str, Any], texts: Sequence[str]) -> None:
    """Replace all offsets by those in UTF-16 code units."""
    candidates = chain.from_iterable(made.get("nbest", ()))
    spans = chain.from_iterable(candidate["spans"] for candidate in candidates)
    answers = (answer for answer in made["answers"] if "start" in answer)
    _convert(chain(made["tokens"], spans, answers), texts)


def _convert(places: Iterable[dict[str, Any]], texts: Sequence[str]) -> None:
    """Replace the offsets of places in texts. ``part`` is the number of the text."""
    converters = [utf16_offsets(text) for text in texts]
    for place in places:
        if convert := converters[place.get("part", 0)]:
            place["start"], place["end"] = convert(place["start"]), convert(place["end"])


def _methods(model: ServedModel, request: ExplainRequest) -> Sequence[str]:
    known = model.methods()
    for name in request.methods or ():
        if name not in known:
            raise InputError(f"the model has no method {name!r}", fix=f"Use {', '.join(known)}")
    return request.methods or known


def _retag(tagger: Tagger) -> Retag:
    own, documents = tagger.encoding.scheme, tagger.document_scheme
    if own == documents:
        return lambda tags: tags
    return lambda tags: from_spans(to_spans(tags, own), len(tags), documents)


def _tags(
    text: str, sentences: Sequence[TagExplanation], methods: Sequence[str], retag: Retag
) -> dict[str, Any]:
    """Return the tokens, the likeliest taggings and the spans of the sentences of a text."""
    ends = [0]
    for each in sentences:
        ends.append(ends[-1] + len(each.sentence))
    answer: dict[str, Any] = {
        "text": text,
        "tokens": [token for each in sentences for token in _tagged_tokens(each, methods, retag)],
        "sentences": [list(edges) for edges in pairwise(ends)],
    }
    if "nbest" in methods:
        answer["nbest"] = [
            [_candidate(candidate, retag) for candidate in each.candidates] for each in sentences
        ]
    answer["answers"] = [
        _span(number, each, span, retag)
        for number, each in enumerate(sentences)
        for span in (*each.asked, *each.spans)
    ]
    return answer


def _tagged_tokens(found: TagExplanation, methods: Sequence[str], retag: Retag) -> Iterable[dict[str, Any]]:
    """Yield the tokens with their tags. Marginals are those of the model's own tags."""
    tokens, shown = _tokens(found.sentence), retag(found.tags)
    for token, own, tag, chances in zip(tokens, found.tags, shown, found.marginals, strict=True):
        known = token | {"tag": tag, "score": rounded(chances[own])}
        if "marginals" in methods:
            known["marginals"] = {name: rounded(chance) for name, chance in chances.items()}
        yield known


def _span(number: int, found: TagExplanation, span: SpanExplanation, retag: Retag) -> dict[str, Any]:
    offsets = found.sentence.offsets()
    start, end = offsets[span.start][0], offsets[span.end - 1][1]
    return {
        "label": span.label,
        "score": rounded(span.probability),
        "text": found.sentence.surface[start:end],
        "start": start,
        "end": end,
        "sentence": number,
        "asked": span.asked is not None,
        "weights": _weights(span.weights),
        **({} if span.asked is None else _asked(found, span, span.asked, retag)),
    }


def _asked(found: TagExplanation, span: SpanExplanation, asked: AskedSpan, retag: Retag) -> dict[str, Any]:
    tags = retag(found.tags)[span.start : span.end]
    return replace(asked, tags=tuple(tags)).to_dict()


def _candidate(candidate: Candidate, retag: Retag) -> dict[str, Any]:
    spans = [{"start": s.start, "end": s.end, "label": s.label, "text": s.text} for s in candidate.spans]
    return {
        "score": float(f"{candidate.probability:.6g}"),
        "tags": list(retag(candidate.tags)),
        "spans": spans,
    }


def _label(texts: Sequence[str], found: TextExplanation) -> dict[str, Any]:
    """Return the tokens and the explained label of a text or a pair."""
    label = found.weights[0].label if found.weights else found.label
    several = len(texts) > 1
    if several:
        tokens = [*_pair_tokens(texts[0], found.passage.sentences)]
    else:
        tokens = [token for sentence in found.passage.sentences for token in _tokens(sentence)]
    answer = {
        "label": label,
        "score": rounded(found.probabilities.get(label, 0.0)),
        "asked": label != found.label,
        "weights": _weights(found.weights),
    }
    own = {"text": texts[0], "text_pair": texts[1]} if several else {"text": found.text}
    scores = {name: rounded(chance) for name, chance in found.probabilities.items()}
    return {**own, "tokens": tokens, "scores": scores, "answers": [answer]}


def _pair_tokens(first: str, sentences: Sequence[Sentence]) -> Iterable[dict[str, Any]]:
    """Yield the tokens of both texts, each with offsets in its own text.

    In a passage, the second text follows the first on a new line.
    """
    for part, sentence in enumerate(sentences):
        before = part * (len(first) + 1)
        for token in _tokens(sentence):
            yield token | {"start": token["start"] - before, "end": token["end"] - before, "part": part}


def _tokens(sentence: Sentence) -> Iterable[dict[str, Any]]:
    text = sentence.surface
    for word, (start, end) in zip(sentence.words, sentence.offsets(), strict=True):
        yield {"start": start, "end": end, "text": text[start:end] or word}


def _weights(weights: Sequence[TokenWeights]) -> dict[str, list[float]]:
    return {
        each.method: [round(float(weight), DIGITS) for weight in chain.from_iterable(each.words)]
        for each in weights
    }


def tokenise(model: ServedModel, row: TextRow, request: TokeniseRequest) -> dict[str, Any]:
    """Return the tokens of a text by sentence, as the model sees them."""
    sentences = [[*_tokens(sentence)] for sentence in model.tokenizer(checked_text(row.texts[0]))]
    if request.offsets == "utf16":
        _convert(chain.from_iterable(sentences), row.texts)
    return {"text": row.texts[0], "sentences": sentences}
