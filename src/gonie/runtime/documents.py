"""Taggings put on the characters of a text: the documents that a tagger gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from gonie.data.tokenize import parse_morphemes
from gonie.data.types import Candidate, Document, Edges, Sentence, Span, Token
from gonie.runtime.tagging import Tagging, text_span
from gonie.runtime.windows import WINDOW

MORPHEMES = "morphemes"  # the column in which a tokenizer leaves its analyses


class Placed(NamedTuple):
    """A tagged sentence, by the characters of the text that it is of; the rest as ``Tagging`` has it."""

    tokens: tuple[Token, ...]
    spans: tuple[Span, ...]
    windows: int
    candidates: tuple[Candidate, ...]


def place(sentence: Sentence, tagging: Tagging) -> Placed:
    """The tokens and spans of a sentence, with their offsets."""
    edges = sentence.edges()
    tokens = tuple(_tokens(sentence, edges, tagging))
    if not tagging.spans:
        return Placed(tokens, (), tagging.windows, tagging.candidates)
    text = sentence.surface
    spans = tuple(text_span(text, edges, span[:3], span.score) for span in tagging.spans)
    return Placed(tokens, spans, tagging.windows, tagging.candidates)


def document(text: str, parts: Sequence[Placed], *, listed: bool) -> Document:
    """The document of ``text`` from its sentences, with the likeliest taggings of each if ``listed``."""
    return Document(
        text=text,
        tokens=_joined([part.tokens for part in parts]),
        sentences=tuple(pairwise(accumulate((len(part.tokens) for part in parts), initial=0))),
        spans=_joined([part.spans for part in parts]),
        notes=tuple(_notes(parts)),
        nbest=tuple(part.candidates for part in parts) if listed else None,
    )


def _joined(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))


def _tokens(sentence: Sentence, edges: Edges, tagging: Tagging) -> Iterator[Token]:
    parts: list[Iterable[Any]] = [sentence.words, *edges, tagging.tags, tagging.scores]
    if MORPHEMES in sentence.columns:
        parts.append(map(parse_morphemes, sentence.columns[MORPHEMES]))
    return map(Token, *parts)


def _notes(parts: Sequence[Placed]) -> Iterator[str]:
    for number, part in enumerate(parts, start=1):
        if part.windows > 1:
            yield (
                f"sentence {number} has {len(part.tokens):,} tokens without a sentence end: "
                f"scored in {part.windows} overlapping windows of {WINDOW}"
            )
