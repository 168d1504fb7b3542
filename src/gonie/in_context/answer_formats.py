"""The forms in which a language model writes its answers, and how each is read.

Reading is strict: what does not have the form is malformed, and the reason is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from gonie.in_context.examples import Example
from gonie.text.alignment import CharSpan

NONE = {"en": "none", "ko": "없음"}
"""The answer for nothing, by language."""
NOTHING = frozenset(NONE.values())
FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)\n?[ \t]*```", re.DOTALL)
FENCED = "in a code block"
EMPTY = "empty"


class Mention(NamedTuple):
    """A span in an answer. ``start`` is its place in the text, if the answer says it."""

    text: str
    label: str
    start: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The mentions, or the labels, of an answer. ``malformed`` and ``repaired`` are reasons."""

    mentions: tuple[Mention, ...] = ()
    labels: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()


class AnswerFormat(Protocol):
    """A form of answers."""

    def write(self, example: Example, language: str, *, several: bool) -> str:
        """Return the answer for an example. ``several`` means that a text may have several labels."""
        ...

    def read_spans(self, answer: str, text: str) -> ParsedAnswer:
        """Return the mentions in an answer for a text."""
        ...


class LabelFormat(AnswerFormat, Protocol):
    """A form of answers in which labels of a whole text can be written, too."""

    def read_labels(self, answer: str, *, several: bool) -> ParsedAnswer:
        """Return the labels in an answer."""
        ...


class JsonFormat:
    """A JSON list of objects with ``text`` and ``label``; for a label, an object with ``label``."""

    def write(self, example: Example, language: str, *, several: bool) -> str:
        """Return JSON on one line."""
        if example.labels or several:
            value: Any = {"labels": list(example.labels)} if several else {"label": example.labels[0]}
        else:
            value = [{"text": example.text[start:end], "label": label} for start, end, label in example.spans]
        return json.dumps(value, ensure_ascii=False)

    def read_spans(self, answer: str, text: str) -> ParsedAnswer:
        """Read a list. Elements that are not mentions are malformed, the others count."""
        bare, repaired = _unfenced(answer)
        value, problem = _json(bare)
        if problem:
            return ParsedAnswer(malformed=(problem,), repaired=repaired)
        if not isinstance(value, list):
            return ParsedAnswer(malformed=("not a JSON list",), repaired=repaired)
        good = [each for each in value if _is_mention(each)]
        malformed = () if len(good) == len(value) else ("an element is not {text, label}",)
        mentions = tuple(Mention(each["text"], each["label"]) for each in good)
        return ParsedAnswer(mentions, malformed=malformed, repaired=repaired)

    def read_labels(self, answer: str, *, several: bool) -> ParsedAnswer:
        """Read an object with one label, or with the list of them."""
        bare, repaired = _unfenced(answer)
        value, problem = _json(bare)
        key = "labels" if several else "label"
        if not problem and not (isinstance(value, dict) and set(value) == {key}):
            problem = f"not an object with {key}"
        if problem:
            return ParsedAnswer(malformed=(problem,), repaired=repaired)
        found = value[key] if several else [value[key]]
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            return ParsedAnswer(malformed=(f"not an object with {key}",), repaired=repaired)
        return ParsedAnswer(labels=tuple(found), repaired=repaired)


class LinesFormat:
    """One ``label: mention`` per line, or one label per line; ``none`` for nothing."""

    def write(self, example: Example, language: str, *, several: bool) -> str:
        """Return the lines."""
        lines = [f"{label}: {_one_line(example.text[start:end])}" for start, end, label in example.spans]
        return "\n".join([*lines, *example.labels]) or NONE[language]

    def read_spans(self, answer: str, text: str) -> ParsedAnswer:
        """Read lines. Those of another form are malformed, the others count."""
        lines, repaired = _lines(answer)
        if not lines:
            return ParsedAnswer(malformed=(EMPTY,), repaired=repaired)
        if _is_nothing(lines):
            return ParsedAnswer(repaired=repaired)
        parts = [line.partition(":") for line in lines]
        good = [
            Mention(mention.strip(), label.strip())
            for label, colon, mention in parts
            if colon and label.strip() and mention.strip()
        ]
        malformed = () if len(good) == len(lines) else ("a line is not label: mention",)
        return ParsedAnswer(tuple(good), malformed=malformed, repaired=repaired)

    def read_labels(self, answer: str, *, several: bool) -> ParsedAnswer:
        """Read one label, or one per line."""
        lines, repaired = _lines(answer)
        if not lines:
            return ParsedAnswer(malformed=(EMPTY,), repaired=repaired)
        if several and _is_nothing(lines):
            return ParsedAnswer(repaired=repaired)
        if len(lines) > 1 and not several:
            return ParsedAnswer(malformed=("more than one line",), repaired=repaired)
        return ParsedAnswer(labels=tuple(lines), repaired=repaired)


class InlineFormat:
    """The whole text with ``<label>…</label>`` around each mention."""

    classifies: ClassVar[bool] = False
    TAG: ClassVar[re.Pattern[str]] = re.compile(r"<(/?)([^<>/\n]+)>")

    def write(self, example: Example, language: str, *, several: bool) -> str:
        """Return the text with its tags."""
        pieces, at = [], 0
        for start, end, label in sorted(example.spans):
            pieces += [example.text[at:start], f"<{label}>", example.text[start:end], f"</{label}>"]
            at = end
        return "".join([*pieces, example.text[at:]])

    def read_spans(self, answer: str, text: str) -> ParsedAnswer:
        """Read a tagged text. Tags that are not closed make it malformed, as does any other text."""
        bare, repaired = _unfenced(answer)
        if not bare:
            return ParsedAnswer(malformed=(EMPTY,), repaired=repaired)
        pieces: list[str] = []
        spans: list[CharSpan] = []
        opened: tuple[str, int] | None = None
        at = length = 0
        for tag in self.TAG.finditer(bare):
            if tag.group() in text:  # part of the text itself
                continue
            pieces.append(bare[at : tag.start()])
            length, at = length + len(pieces[-1]), tag.end()
            closes, label = bool(tag.group(1)), tag.group(2)
            if closes != (opened is not None) or (opened is not None and opened[0] != label):
                return ParsedAnswer(malformed=("a tag is not closed",), repaired=repaired)
            if opened is not None:
                spans.append((opened[1], length, label))
            opened = None if closes else (label, length)
        if opened is not None:
            return ParsedAnswer(malformed=("a tag is not closed",), repaired=repaired)
        plain = "".join([*pieces, bare[at:]])
        same = plain.strip() == text.strip()
        offset = len(text) - len(text.lstrip()) - (len(plain) - len(plain.lstrip()))
        mentions = tuple(
            Mention(plain[start:end], label, start + offset if same else None) for start, end, label in spans
        )
        malformed = () if same else ("the text was changed",)
        return ParsedAnswer(mentions, malformed=malformed, repaired=repaired)


LABEL_FORMATS: Mapping[str, LabelFormat] = {"json": JsonFormat(), "lines": LinesFormat()}
"""The forms of classifiers by their names."""
FORMATS: Mapping[str, AnswerFormat] = {**LABEL_FORMATS, "inline": InlineFormat()}
"""The forms by their names."""


def _unfenced(answer: str) -> tuple[str, tuple[str, ...]]:
    """Return an answer without white space and without a code block around it, and what was repaired."""
    bare = answer.strip()
    fence = FENCE.fullmatch(bare)
    return (bare, ()) if fence is None else (fence.group(1).strip(), (FENCED,))


def _json(text: str) -> tuple[Any, str]:
    """Return a JSON value and what is wrong with it."""
    if not text:
        return None, EMPTY
    try:
        return json.loads(text), ""
    except (ValueError, RecursionError):
        return None, "not valid JSON"


def _is_mention(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"text", "label"}
        and all(isinstance(each, str) and each.strip() for each in value.values())
    )


def _lines(answer: str) -> tuple[list[str], tuple[str, ...]]:
    bare, repaired = _unfenced(answer)
    return [line.strip() for line in bare.splitlines() if line.strip()], repaired


def _is_nothing(lines: Sequence[str]) -> bool:
    return len(lines) == 1 and lines[0].casefold().rstrip(".") in NOTHING


def _one_line(text: str) -> str:
    return " ".join(text.split())
