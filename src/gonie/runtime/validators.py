"""What a value that a stranger wrote may be: its type and its size, told before anything is made of it.

A ``Kind`` looks at one value and raises a ``ValueError`` that says where it is and what it is. Long lists of
words are looked at whole, without a Python loop. A bool is no number here, though Python takes it for one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Kind = Callable[[Any, str], None]
"""Looks at a value, called so in its bundle."""
NAME = 1000
"""The most characters of a name: of a label, a file, a language."""


def flag(value: Any, where: str) -> None:
    """True or false."""
    _expect(isinstance(value, bool), "true or false", value, where)


def number(value: Any, where: str) -> None:
    """A number, whole or not; that it is finite is seen to by the reader of JSON."""
    _expect(isinstance(value, float) or _is_whole(value), "a number", value, where)


def anything(value: Any, where: str) -> None:
    """Whatever it is, nobody looks into it."""


def whole(least: int, most: int) -> Kind:
    """A whole number from ``least`` to ``most``."""

    def look(value: Any, where: str) -> None:
        fits = _is_whole(value) and least <= value <= most
        _expect(fits, f"a whole number from {least} to {most}", value, where)

    return look


def text(longest: int, *, of: tuple[str, ...] = ()) -> Kind:
    """A text of at most ``longest`` characters, one ``of`` some if they are given."""

    def look(value: Any, where: str) -> None:
        fits = isinstance(value, str) and len(value) <= longest and (not of or value in of)
        _expect(fits, f"one of {', '.join(of)}" if of else f"a text of at most {longest:,}", value, where)
        _sound(value, where)

    return look


def texts(most: int, longest: int) -> Kind:
    """At most so many texts, each of at most ``longest`` characters."""

    def look(value: Any, where: str) -> None:
        fits = isinstance(value, list) and len(value) <= most and set(map(type, value)) <= {str}
        fits = fits and max(map(len, value), default=0) <= longest
        _expect(fits, f"at most {most:,} texts of at most {longest:,} characters", value, where)
        _sound("".join(value), where)

    return look


def wholes(most: int, largest: int) -> Kind:
    """At most so many whole numbers, each from 0 to ``largest``."""

    def look(value: Any, where: str) -> None:
        fits = isinstance(value, list) and len(value) <= most and set(map(type, value)) <= {int}
        fits = fits and 0 <= min(value, default=0) <= max(value, default=0) <= largest
        _expect(fits, f"at most {most:,} whole numbers from 0 to {largest:,}", value, where)

    return look


def several(kind: Kind, most: int) -> Kind:
    """A list of at most so many of a kind."""

    def look(value: Any, where: str) -> None:
        _expect(isinstance(value, list) and len(value) <= most, f"a list of at most {most:,}", value, where)
        for place, each in enumerate(value):
            kind(each, f"{where}[{place}]")

    return look


def by_name(kind: Kind, most: int, longest: int) -> Kind:
    """At most so many of a kind, each under a name of its own of at most ``longest`` characters."""

    def look(value: Any, where: str) -> None:
        fits = isinstance(value, dict) and len(value) <= most
        _expect(fits, f"at most {most:,} values by name", value, where)
        texts(most, longest)(list(value), f"{where}'s names")
        for name, each in value.items():
            kind(each, f"{where}.{name}")

    return look


def record(needed: Mapping[str, Kind], further: Mapping[str, Kind] | None = None) -> Kind:
    """Values by name: those that are ``needed``, and ``further`` ones; others are not looked at."""

    def look(value: Any, where: str) -> None:
        _expect(isinstance(value, dict), "values by name", value, where)
        for name in needed:
            if name not in value:
                raise ValueError(f"no {f'{where}.' if where else ''}{name}")
        for name, kind in {**needed, **(further or {})}.items():
            if name in value:
                kind(value[name], f"{where}.{name}" if where else name)

    return look


def either(first: Kind, second: Kind) -> Kind:
    """Of the one kind, or of the other."""

    def look(value: Any, where: str) -> None:
        try:
            first(value, where)
        except ValueError:
            second(value, where)

    return look


def nothing(value: Any, where: str) -> None:
    """JSON's null."""
    _expect(value is None, "null", value, where)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _expect(fits: bool, expected: str, value: Any, where: str) -> None:
    if not fits:
        raise ValueError(f"{where or 'it'} is {_shown(value)}, not {expected}")


def _shown(value: Any) -> str:
    """As much of a value as a sentence can hold; of a large one, only what it is."""
    if isinstance(value, dict | list | str) and len(value) > 20:
        return f"a {type(value).__name__} of {len(value):,}"
    return json.dumps(value)[:40]


def _sound(value: str, where: str) -> None:
    """Half a character, which JSON can spell and no file can hold, would fail where it is printed."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{where} has half a character, which is no text") from error
