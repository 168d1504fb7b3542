"""Recipe settings as Python values, and messages of the command line in words of Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any

from gonie.errors import GonieError


def setting(key: str, value: Any) -> str:
    """Return a change of a recipe as ``key=value``. None removes the key."""
    return f"{key}={'none' if value is None else _toml(value)}"


def _toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, PathLike):
        return _toml(fspath(value))
    if hasattr(value, "item"):  # a numpy scalar
        return _toml(value.item())
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


_OPTIONS = (
    (
        re.compile(r"--set '?([\w.]+)=([^\s',;.)]*)'?"),
        lambda match: f"set={{{_quoted(match[1])}: {match[2]}}}",
    ),
    (re.compile(r"--map (\S+)=(\S+)"), lambda match: f"map={{{_quoted(match[1])}: {_quoted(match[2])}}}"),
    (re.compile(r"--(device|method|format|mode|repair|decode) (\w+)"), r'\1="\2"'),
    (re.compile(r"--resume\b"), "resume=True"),
    (re.compile(r"--(out|seeds|folds|jobs|nbest|label|map|bias)\b"), r"\1=…"),
)
"""Options of the command line in messages, and the arguments of Python that they correspond to."""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@contextmanager
def python_messages() -> Iterator[None]:
    """Write the options in messages of errors as arguments: ``out=…`` instead of ``--out``."""
    try:
        yield
    except GonieError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (in_python(error.args[0]), *error.args[1:])
        raise


def in_python(message: str) -> str:
    """Return a message with the options of the command line written as arguments."""
    for option, argument in _OPTIONS:
        message = option.sub(argument, message)
    return message
