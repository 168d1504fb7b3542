"""Validators of untrusted JSON values: they check type and size before a value is used.

A ``Validator`` checks one value and raises a ``ValueError`` that names its place and the value. Long lists of
words are checked without a Python loop. A bool is not accepted as a number, although Python would.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Validator = Callable[[Any, str], None]
"""Checks a value. The text is its name in the bundle, for errors."""
NAME = 1000
"""The maximum characters of a name: of a label, a file, a language."""


def flag(value: Any, where: str) -> None:
    """Accept true or false."""
    _expect(isinstance(value, bool), "true or false", value, where)


def number(value: Any, where: str) -> None:
    """Accept any number. ``parse_json`` has checked that it is finite."""
    _expect(isinstance(value, float) or _is_whole(value), "a number", value, where)


def anything(value: Any, where: str) -> None:
    """Accept any value."""


def integer(least: int, most: int) -> Validator:
    """Accept an integer from ``least`` to ``most``."""

    def validate(value: Any, where: str) -> None:
        fits = _is_whole(value) and least <= value <= most
        _expect(fits, f"an integer from {least} to {most}", value, where)

    return validate


def text(longest: int, *, of: tuple[str, ...] = ()) -> Validator:
    """Accept a text of at most ``longest`` characters, or one ``of`` these if given."""

    def validate(value: Any, where: str) -> None:
        fits = isinstance(value, str) and len(value) <= longest and (not of or value in of)
        _expect(
            fits,
            f"one of {', '.join(of)}" if of else f"a text of at most {longest:,} characters",
            value,
            where,
        )
        _require_utf8(value, where)

    return validate


def texts(most: int, longest: int) -> Validator:
    """Accept a list of at most ``most`` texts, each of at most ``longest`` characters."""

    def validate(value: Any, where: str) -> None:
        fits = isinstance(value, list) and len(value) <= most and set(map(type, value)) <= {str}
        fits = fits and max(map(len, value), default=0) <= longest
        _expect(fits, f"at most {most:,} texts of at most {longest:,} characters", value, where)
        _require_utf8("".join(value), where)

    return validate


def integers(most: int, largest: int) -> Validator:
    """Accept a list of at most ``most`` integers, each from 0 to ``largest``."""

    def validate(value: Any, where: str) -> None:
        fits = isinstance(value, list) and len(value) <= most and set(map(type, value)) <= {int}
        fits = fits and 0 <= min(value, default=0) <= max(value, default=0) <= largest
        _expect(fits, f"at most {most:,} integers from 0 to {largest:,}", value, where)

    return validate


def list_of(kind: Validator, most: int) -> Validator:
    """Accept a list of at most ``most`` values, each accepted by ``kind``."""

    def validate(value: Any, where: str) -> None:
        _expect(isinstance(value, list) and len(value) <= most, f"a list of at most {most:,}", value, where)
        for place, each in enumerate(value):
            kind(each, f"{where}[{place}]")

    return validate


def mapping_of(kind: Validator, most: int, longest: int) -> Validator:
    """Accept an object of at most ``most`` values accepted by ``kind``, with keys up to ``longest``."""

    def validate(value: Any, where: str) -> None:
        fits = isinstance(value, dict) and len(value) <= most
        _expect(fits, f"an object with at most {most:,} keys", value, where)
        texts(most, longest)(list(value), f"the keys of {where}")
        for name, each in value.items():
            kind(each, f"{where}.{name}")

    return validate


def record(needed: Mapping[str, Validator], further: Mapping[str, Validator] | None = None) -> Validator:
    """Accept an object with all ``needed`` and any ``further`` keys. Other keys are not checked."""

    def validate(value: Any, where: str) -> None:
        _expect(isinstance(value, dict), "an object", value, where)
        for name in needed:
            if name not in value:
                raise ValueError(f"{f'{where}.' if where else ''}{name} is missing")
        for name, kind in {**needed, **(further or {})}.items():
            if name in value:
                kind(value[name], f"{where}.{name}" if where else name)

    return validate


def either(first: Validator, second: Validator) -> Validator:
    """Accept what either of two validators accepts."""

    def validate(value: Any, where: str) -> None:
        try:
            first(value, where)
        except ValueError:
            second(value, where)

    return validate


def null(value: Any, where: str) -> None:
    """Accept null."""
    _expect(value is None, "null", value, where)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _expect(fits: bool, expected: str, value: Any, where: str) -> None:
    if not fits:
        raise ValueError(f"{where or 'the file'} is {_shown(value)}, not {expected}")


def _shown(value: Any) -> str:
    """Return a short value as JSON, or the type and size of a large one."""
    if isinstance(value, dict | list | str) and len(value) > 20:
        return f"a {type(value).__name__} of {len(value):,}"
    return json.dumps(value)[:40]


def _require_utf8(value: str, where: str) -> None:
    """Refuse lone surrogates, which JSON can escape but UTF-8 cannot encode when they are printed."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{where} contains a lone surrogate") from error
