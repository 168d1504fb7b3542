"""Groups of texts that a client sends in one request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.tasks.contexts import check_stream
from gonie.text.labelled_text import LabelledPair, LabelledText

TEXTS = 64
"""The maximum number of texts in a request."""
FIRST = 400
"""Tokens of the first request: few, so that the first results come soon. The next ones are larger."""
MOST = 32_000
"""The maximum number of characters in a request, unless one text is longer."""
TOKEN = 5
"""Characters per token, about."""
IN_FLIGHT = 4
"""Requests at once."""


class InputGroup(NamedTuple):
    """Inputs and their contexts, which are empty unless they come back with the answers."""

    inputs: list[Any]
    contexts: list[Any]

    def results(self, answers: list[Any]) -> Iterable[Any]:
        """Return the answers, with their contexts if there are any."""
        return zip(answers, self.contexts, strict=True) if self.contexts else answers


class Grouping:
    """Collects a stream of inputs into groups. Used by ``add`` until it returns a group, then ``rest``."""

    def __init__(self, stream: Any, *, first: int, as_tuples: bool) -> None:
        check_stream(stream)
        self._as_tuples = as_tuples
        self._group = InputGroup([], [])
        self._size, self._limit = 0, min(TOKEN * first, MOST)

    def add(self, item: Any) -> InputGroup | None:
        """Add an input. Return a group if it is full."""
        if self._as_tuples:
            if not isinstance(item, tuple | list) or len(item) != 2:
                raise InputError(
                    f"not a pair of a text and its context: {item!r}"[:200], fix="Pass (text, context)"
                )
            item, context = item
            self._group.contexts.append(context)
        self._group.inputs.append(item)
        self._size += _size(item)
        if self._size < self._limit and len(self._group.inputs) < TEXTS:
            return None
        self._limit = min(2 * self._limit, MOST)
        return self.rest()

    def rest(self) -> InputGroup | None:
        """Return the inputs since the last group, if there are any."""
        group, self._group, self._size = self._group, InputGroup([], []), 0
        return group if group.inputs else None

    def all(self, stream: Iterable[Any]) -> Iterator[InputGroup]:
        """Yield the groups of a stream."""
        for item in stream:
            if group := self.add(item):
                yield group
        if group := self.rest():
            yield group


def _size(item: Any) -> int:
    """Return the number of characters of an input. Its type is checked where it is sent."""
    if isinstance(item, LabelledText):
        return len(item.text)
    texts = (item.first, item.second) if isinstance(item, LabelledPair) else item
    if isinstance(texts, tuple | list):
        return sum(len(text) for text in texts if isinstance(text, str))
    return len(texts) if isinstance(texts, str) else 0
