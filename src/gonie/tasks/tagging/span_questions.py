"""Questions about spans: why is this piece of a text not tagged with this type?

A question is written ``TEXT=TYPE``, ``TEXT#2=TYPE`` for the second occurrence, or without ``=TYPE`` for the
likeliest type. It is placed on whole tokens of one sentence. ``notes`` say if the text occurs more than once,
or was widened to whole tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gonie.errors import InputError
from gonie.text.report import count
from gonie.text.schemes import Scheme, from_spans, type_names
from gonie.text.types import Sentence

NUMBERED = re.compile(r"(.*\S)#(\d+)", re.DOTALL)
FORM = "Write TEXT=TYPE, for example Samsung=ORG"


class SpanQuestion(NamedTuple):
    """A piece of a text, and the type asked about. None is the likeliest."""

    text: str
    label: str | None


class PlacedQuestion(NamedTuple):
    """A question about the tokens [start, end) of a sentence."""

    start: int
    end: int
    label: str | None
    notes: tuple[str, ...] = ()


class SentenceQuestions(NamedTuple):
    """A sentence, and the questions about it."""

    sentence: Sentence
    questions: tuple[PlacedQuestion, ...]


class _Occurrence(NamedTuple):
    """The tokens [start, end) of a sentence, given by its number, that an occurrence of a text touches.

    ``whole`` means that the text is made of whole tokens, and ``crosses`` that it ends after the sentence.
    """

    sentence: int
    start: int
    end: int
    whole: bool
    crosses: bool


def parse_question(given: str | Sequence[str | None], types: Sequence[str]) -> SpanQuestion:
    """Return a question written as ``TEXT=TYPE``, or given as a text and a type. ``types`` are known."""
    text, label = _text_and_type(given)
    if not text.strip():
        raise InputError(f"no text in the span {given!r}", fix=FORM)
    if label and label not in types:
        raise InputError(f"unknown type {label!r} of the span {text!r}", fix=f"Use one of {', '.join(types)}")
    return SpanQuestion(text.strip(), label or None)


def _text_and_type(given: str | Sequence[str | None]) -> tuple[str, str | None]:
    if isinstance(given, str):
        text, sign, label = given.rpartition("=")
        return (text, label.strip()) if sign else (given, None)
    match list(given):
        case [str(named), None]:
            return named, None
        case [str(named), str(kind)]:
            return named, kind
    raise InputError(f"not a span: {given!r}"[:200], fix=FORM)


def place_questions(
    questions: Sequence[SpanQuestion], sentences: Sequence[Sentence]
) -> Iterator[SentenceQuestions]:
    """Yield the sentences of a text, each with the questions about it."""
    placed = [_place(question, sentences) for question in questions]
    for number, sentence in enumerate(sentences):
        yield SentenceQuestions(sentence, tuple(found for at, found in placed if at == number))


def _place(question: SpanQuestion, sentences: Sequence[Sentence]) -> tuple[int, PlacedQuestion]:
    """Return the number of the sentence that a question is about, and the question on its tokens."""
    text, number = question.text, None
    found = _occurrences(text, sentences)
    if not found and (numbered := NUMBERED.fullmatch(text)):
        text, number = numbered[1], int(numbered[2])
        found = _occurrences(text, sentences)
    if not found:
        raise InputError(f"{text!r} does not occur in the text", fix=_hint(text, sentences))
    if number is not None and not 1 <= number <= len(found):
        raise InputError(f"there is no {text}#{number}: {text!r} occurs {count(len(found), 'time')}")
    chosen = found[(number or 1) - 1]
    if chosen.crosses:
        raise InputError(f"{text!r} crosses the end of a sentence", fix="Ask about a part of one sentence")
    notes = []
    if number is None and len(found) > 1:
        notes.append(f"{text!r} occurs {len(found)} times, and this is the first. The second is {text}#2.")
    if not chosen.whole:
        wide = _words(sentences[chosen.sentence], chosen)
        notes.append(f"{text!r} is not made of whole tokens, so this is about {wide!r}.")
    return chosen.sentence, PlacedQuestion(chosen.start, chosen.end, question.label, tuple(notes))


def _occurrences(text: str, sentences: Sequence[Sentence]) -> list[_Occurrence]:
    """Return the occurrences of a text in order. If some are made of whole tokens, others do not count."""
    found = [
        each for number, sentence in enumerate(sentences) for each in _in_sentence(text, sentence, number)
    ]
    return [each for each in found if each.whole] or found


def _in_sentence(text: str, sentence: Sentence, number: int) -> Iterator[_Occurrence]:
    """Yield the occurrences that begin in a sentence."""
    offsets = sentence.offsets()
    if not offsets:
        return
    last = offsets[-1][1]
    first = sentence.surface.find(text, offsets[0][0], last + len(text))
    while 0 <= first < last:
        end = first + len(text)
        touched = [at for at, (a, b) in enumerate(offsets) if a < end and b > first]
        if touched:
            whole = (offsets[touched[0]][0], offsets[touched[-1]][1]) == (first, end)
            yield _Occurrence(number, touched[0], touched[-1] + 1, whole, crosses=end > last)
        first = sentence.surface.find(text, end, last + len(text))


def _words(sentence: Sentence, chosen: _Occurrence) -> str:
    offsets = sentence.offsets()
    return sentence.surface[offsets[chosen.start][0] : offsets[chosen.end - 1][1]]


def _hint(text: str, sentences: Sequence[Sentence]) -> str:
    """Return how to fix a text that does not occur: with other capitals, if that is all."""
    for sentence in sentences:
        if similar := re.search(re.escape(text), sentence.surface, re.IGNORECASE):
            return f"Did you mean {similar[0]!r}?"
    return "Copy it from the text"


def known_types(labels: Sequence[str], scheme: Scheme) -> tuple[str, ...]:
    """Return the types that spans of a model can have, or its tags if they are plain."""
    return tuple(type_names(labels, scheme))


def tags_of_span(start: int, end: int, label: str, *, tokens: int, scheme: Scheme) -> tuple[str, ...]:
    """Return the tags of a span of tokens [start, end) in a sentence where it is the only one."""
    if not scheme.has_spans:
        return (label,) * (end - start)
    return tuple(from_spans([(start, end, label)], tokens, scheme)[start:end])
