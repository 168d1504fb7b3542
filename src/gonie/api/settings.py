"""Recipe settings as Python values, and messages of the command line in words of Python."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any

from gonie.errors import OPTION, TRAINING, GonieError, InputError
from gonie.text.label_map import MAPS


def recipe_path(recipe: str | PathLike[str]) -> str:
    """Return the name or the file of a recipe, or raise an error for another object."""
    if not isinstance(recipe, str | PathLike):
        raise InputError(f"not a recipe: {recipe!r}", fix='Pass a name, such as "ner", or the path of a file')
    return fspath(recipe)


def changed_keys(set: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the changes of a recipe, or raise an error if they are not in a dictionary."""
    if set is not None and not isinstance(set, Mapping):
        raise InputError(
            f"set must be a dictionary of recipe keys, got {type(set).__name__}",
            fix='For example: set={"train.epochs": 3}',
        )
    return set or {}


def refuse_arguments(function: str, others: Mapping[str, Any]) -> None:
    """Raise a TypeError for an unknown argument of a function, which may be a recipe key."""
    from gonie.tasks.recipe import keys_named

    for name, value in others.items():
        keys = keys_named(name)
        changes = " or ".join(f"set={{{_quoted(key)}: {value!r}}}" for key in keys)
        raise TypeError(f"{function} has no argument {name!r}" + (f". Pass {changes}" if keys else ""))


def setting(key: str, value: Any) -> str:
    """Return a change of a recipe as ``key=value``. None removes the key."""
    return f"{key}={'none' if value is None else _toml(value)}"


def settings(changes: Mapping[str, Any]) -> list[str]:
    """Return changes of a recipe as ``key=value``."""
    return [setting(key, value) for key, value in changes.items()]


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


_RULE = r"(?:'[^']*=[^']*'|[^\s']+=[^\s']+)"
_SET = r"--set '?[\w.-]+=(?:[^\s',;)]*[^\s',;.)])?'?"
_OPTIONS = (
    (
        re.compile(r"--([\w-]+)(?=(?:, --[\w-]+)* do(?:es)? not apply)"),
        lambda match: match[1].replace("-", "_"),
    ),
    (re.compile(rf"{_SET}(?: {_SET})*"), lambda match: f"set={{{_changed(match[0])}}}"),
    (re.compile(rf"--map {_RULE}(?: --map {_RULE})*"), lambda match: f"map={_mapped(match[0])}"),
    (
        re.compile(r"gonie train ([\w-]+) (\S+) --text NAME --label NAME"),
        lambda match: (
            f"gonie.train({_quoted(match[1])}, {_quoted(match[2])}, "
            'set={"data.text_column": …, "data.label_column": …})'
        ),
    ),
    (
        re.compile(r"gonie train ([\w-]+) (\S+?)(?: --out (\S+?))?(?=\.?(?:\s|$))"),
        lambda match: f"gonie.train({_quoted(match[1])}, {_quoted(match[2])}{_out(match[3])})",
    ),
    (re.compile(r"--(text|label)-column\b"), r"--\1"),
    (re.compile(r"--(text|label)(?: NAME)?(?=[,.;]|$)"), r"\1_column=…"),
    (re.compile(r"--(tag|word)-column(?: N)?\b"), r"\1_column=…"),
    (re.compile(r"--(device|method|format|mode|repair|decode) (\w+)"), r'\1="\2"'),
    (re.compile(r"--resume\b"), "resume=True"),
    (re.compile(rf"--map ({'|'.join(MAPS)})\b"), r'map="\1"'),
    (re.compile(r"--(out|seeds|sizes|folds|jobs|nbest|label|map|bias)\b"), r"\1=…"),
)
"""Options of the command line in messages, and the arguments of Python that they correspond to."""
_ARGUMENTS = {"text": "text_column", "label": "label_column"}


def _mapped(options: str) -> str:
    """Return several options ``--map OLD=NEW`` as one dictionary."""
    rules = (rule.rpartition("=") for rule in shlex.split(options) if rule != "--map")
    return "{" + ", ".join(f"{_quoted(old)}: {_quoted(new)}" for old, _, new in rules) + "}"


def _changed(options: str) -> str:
    """Return several options ``--set KEY=VALUE`` as the entries of one dictionary."""
    found = re.findall(r"--set '?([\w.-]+)=([^\s']*)", options)
    return ", ".join(f"{_quoted(key)}: {_value(value)}" for key, value in found)


def _out(folder: str | None) -> str:
    return f", out={_quoted(folder)}" if folder else ""


def _value(text: str) -> str:
    """Return a value of the command line as it is written in Python. Capitals stand for any value."""
    if text == "none":
        return "None"
    if "," in text:
        return f"[{', '.join(map(_quoted, text.split(',')))}]"
    if text.isupper() or not text:
        return "…"
    return text if re.fullmatch(r"-?[\d.e+-]+|\[.*", text) else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@contextmanager
def python_messages(*, recipe: bool = False) -> Iterator[None]:
    """Write the options in messages of errors as arguments: ``out=…`` instead of ``--out``.

    ``recipe`` says that the function takes recipe keys in ``set``.
    """
    try:
        yield
    except GonieError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (in_python(error.args[0], recipe=recipe), *error.args[1:])
        raise


def in_python(message: str, *, recipe: bool = False) -> str:
    """Return a message with the options of the command line written as arguments."""

    def argument_of(match: re.Match[str]) -> str:
        name, value, key = match.groups()
        given = _value(value)
        own = f"{_ARGUMENTS.get(name, name.replace('-', '_'))}={given}"
        return f"set={{{_quoted(key)}: {given}}}" if recipe else own

    message = OPTION.sub(argument_of, message if recipe else TRAINING.sub("", message))
    for option, argument in _OPTIONS:
        message = option.sub(argument, message)
    return message
