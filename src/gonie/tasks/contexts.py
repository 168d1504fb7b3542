"""Streams of (input, context) pairs, whose contexts come back with the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import tee
from typing import Any

from gonie.errors import InputError


def with_contexts(
    answer: Callable[[Iterable[Any]], Iterator[Any]], pairs: Iterable[tuple[Any, Any]]
) -> Iterator[tuple[Any, Any]]:
    """Yield (answer, context) for each (input, context). ``answer`` answers a stream in order."""
    given, known = tee(map(_checked, pairs))
    answers = answer(value for value, _ in given)
    return ((found, context) for found, (_, context) in zip(answers, known, strict=True))


def _checked(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(f"not a pair of a text and its context: {pair!r}"[:200], fix="Pass (text, context)")
    return pair[0], pair[1]


def check_stream(texts: Any, *, example: str = "[text]") -> None:
    """Refuse one text in place of several: a string is a sequence of its characters."""
    if isinstance(texts, str | bytes):
        raise InputError("pipe takes several texts, got one", fix=f"Pass a list: pipe({example})")
    check_no_table(texts)


def check_no_table(texts: Any) -> None:
    """Refuse a table or mapping in place of texts: it is a sequence of the names of its columns or keys."""
    if isinstance(texts, Mapping) or hasattr(texts, "columns") or hasattr(texts, "column_names"):
        names = getattr(texts, "columns", None)
        names = getattr(texts, "column_names", texts) if names is None or callable(names) else names
        listed = ", ".join(map(repr, list(names)[:8])) if isinstance(names, Iterable) else ""
        raise InputError(
            f"expected texts, got a {type(texts).__name__} with the columns or keys {listed}",
            fix='Pass one of them: frame["text"]',
        )
