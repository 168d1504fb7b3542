"""Documents from tagged sentences, with character offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from gonie.features.windows import WINDOW
from gonie.tasks.tagging.labeller import Tagging, text_span
from gonie.text.schemes import Scheme, from_spans, to_spans
from gonie.text.tokenizers import parse_morphemes
from gonie.text.types import Candidate, Document, Sentence, Span, Tokens

IN_WINDOWS = "overlapping windows"  # in the note on a long sentence
MORPHEMES = "morphemes"  # the column with the analyses of the tokenizer


class Placed(NamedTuple):
    """A tagged sentence with character offsets. Its other fields are those of ``Tagging``."""

    tokens: Tokens
    spans: tuple[Span, ...]
    windows: int
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()


def place(sentence: Sentence, tagging: Tagging) -> Placed:
    """Return the tokens and spans of a sentence with their offsets."""
    edges = sentence.edges()
    analyses = sentence.columns.get(MORPHEMES)
    tokens = Tokens(
        words=sentence.words,
        edges=edges,
        tags=tagging.tags,
        scores=tagging.scores or (None,) * len(sentence),
        morphemes=None if analyses is None else tuple(map(parse_morphemes, analyses)),
    )
    if not tagging.spans:
        return Placed(tokens, (), tagging.windows, tagging.candidates, tagging.notes)
    text = sentence.surface
    spans = tuple(text_span(text, edges, span[:3], span.score) for span in tagging.spans)
    return Placed(tokens, spans, tagging.windows, tagging.candidates, tagging.notes)


def rescheme(source: Scheme, target: Scheme | None) -> Callable[[Tagging], Tagging]:
    """Return a function that rewrites the tags of spans from one scheme to another, if they differ.

    Scores stay those of the model's tags.
    """
    if target is None or target == source or not (source.has_spans and target.has_spans):
        return lambda tagging: tagging

    def rewrite(tagging: Tagging) -> Tagging:
        candidates = tuple(
            replace(each, tags=tuple(from_spans(to_spans(each.tags, source), len(each.tags), target)))
            for each in tagging.candidates
        )
        if not tagging.spans:
            return tagging._replace(candidates=candidates) if candidates else tagging
        tags = from_spans((span[:3] for span in tagging.spans), len(tagging.tags), target)
        return tagging._replace(tags=tuple(tags), candidates=candidates)

    return rewrite


def document(text: str, parts: Sequence[Placed], *, nbest: bool) -> Document:
    """Return the document of ``text`` from its sentences, with their n-best taggings if requested."""
    candidates = tuple(part.candidates for part in parts) if nbest else None
    if len(parts) == 1:  # the case of tokenised input
        ((tokens, spans, *_),) = parts
        return Document(text, tokens, ((0, len(tokens)),), spans, tuple(_notes(parts)), candidates)
    return Document(
        text=text,
        tokens=Tokens.joined([part.tokens for part in parts]) if parts else (),
        sentences=tuple(pairwise(accumulate((len(part.tokens) for part in parts), initial=0))),
        spans=tuple(span for part in parts for span in part.spans),
        notes=tuple(_notes(parts)),
        nbest=candidates,
    )


def _notes(parts: Sequence[Placed]) -> Iterator[str]:
    for number, part in enumerate(parts, start=1):
        yield from (f"sentence {number}: {note}" for note in part.notes)
        if part.windows > 1:
            yield (
                f"sentence {number} has {len(part.tokens):,} tokens without a sentence end: "
                f"scored in {part.windows} overlapping windows of {WINDOW} tokens"
            )
