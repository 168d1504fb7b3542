"""The language of the user: how it is chosen, and texts in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

from gonie.errors import InputError

if TYPE_CHECKING:
    from gonie.messages.templates import Translator

ENGLISH = "en"
LANGUAGES = (ENGLISH, "ko")
OPTION = "--lang"
VARIABLE = "GONIE_LANG"
"""The environment variable that chooses the language."""
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The environment variables of the locale, the strongest first."""

_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def language() -> str:
    """Return the language that texts are shown in."""
    return _language.get()


@contextmanager
def use_language(name: str) -> Iterator[None]:
    """Show texts in a language inside the block."""
    token = _language.set(name)
    try:
        yield
    finally:
        _language.reset(token)


def chosen_language(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the language that ``--lang``, else ``GONIE_LANG``, else the locale asks for.

    A locale without a table means English.
    """
    for asked, source in ((_split(arguments)[0], OPTION), (environment.get(VARIABLE), VARIABLE)):
        if asked or (asked is not None and source == OPTION):
            if asked not in LANGUAGES:
                raise InputError(f"{source}: no messages in {asked!r}", fix=f"Use {' or '.join(LANGUAGES)}")
            return asked
    place = next((value for name in LOCALE if (value := environment.get(name))), "")
    code = place.replace(".", "_").partition("_")[0].lower()
    return code if code in LANGUAGES else ENGLISH


def without_language(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a command without ``--lang``, which may be anywhere before ``--``."""
    return _split(arguments)[1]


def _split(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    value, rest, words = None, [], iter(arguments)
    for word in words:
        if word == OPTION:
            value = next(words, "")
        elif word.startswith(f"{OPTION}="):
            value = word.removeprefix(f"{OPTION}=")
        else:
            rest.append(word)
            if word == "--":
                rest.extend(words)
    return value, rest


def say(text: str) -> str:
    """Return a text of gonie in the language of the user."""
    name = _language.get()
    return text if name == ENGLISH else _translator(name)(text)


@cache
def _translator(name: str) -> Translator:
    from gonie.messages.templates import read_translator

    return read_translator(name)
