"""Recipes as TOML files: read by path or name, changed by ``--set``, and validated."""

from __future__ import annotations

import difflib
import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from gonie.errors import RecipeError
from gonie.tasks.fitting import fitting_recipes
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.paths import PathTo, locate
from gonie.tasks.section import ChoiceOf
from gonie.tasks.sections import SPLITS, Recipe, with_sources
from gonie.tasks.table import TASKS
from gonie.tasks.written_recipe import toml_value

_TYPES = {
    "int_": "a whole number",
    "float_": "a number",
    "finite_number": "a finite number",
    "bool_": "true or false",
    "string_": "a text",
    "list_type": "a list",
    "dict_type": "a table of names and values",
    "model_": "a section with keys of its own",
}
"""What a value must be, by the beginning of the name of pydantic's error."""

_REASONS = {
    "string_unicode": "not valid UTF-8; rename the file",
    "string_too_short": "must not be empty",
}
"""What is wrong with a value, by the name of pydantic's error."""

_LIMITS = {
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "{expected}",
    "too_short": "a list of {min_length} or more items",
}
"""What a value must be, by the name of pydantic's error."""


def recipe_names(*tasks: str) -> list[str]:
    """Return the names of the recipes that ship with gonie: all, or those of some tasks."""
    files = [file for file in _shipped().iterdir() if file.name.endswith(".toml")]
    return sorted(file.name.removesuffix(".toml") for file in files if not tasks or _task(file) in tasks)


def recipe_summary(name: str) -> str:
    """Return the first line of the comment of a shipped recipe, which says what it trains."""
    line = (_shipped() / f"{name}.toml").read_text("utf-8").partition("\n")[0]
    return line.removeprefix("#").strip().removesuffix(".")


def recipe_task(name: str | Path) -> str:
    """Return the task of a recipe, given by file or by name."""
    return str(_read(str(name)).get("task", "tag"))


def recipe_keys(task: str) -> dict[str, str]:
    """Return the keys of recipes of a task, with their descriptions."""
    known = {name: kind for each in TASKS.values() for name, kind in recipe_types(each.command).items()}
    return dict(_described(known[task], "")) if task in known else {}


def _described(kind: type[BaseModel], prefix: str) -> Iterator[tuple[str, str]]:
    for name, field in kind.model_fields.items():
        section = _section(field.annotation)
        if section is None:
            yield f"{prefix}{name}", field.description or ""
        else:
            named = "NAME." if is_named(field.annotation) else ""
            yield from _described(section, f"{prefix}{name}.{named}")


def _task(file: Path) -> str:
    return str(tomllib.loads(file.read_text("utf-8")).get("task", "tag"))


def load_recipe(
    name: str | Path,
    changes: Iterable[str] = (),
    *,
    absent: Mapping[str, str] | None = None,
    command: str = "train",
) -> Any:
    """Read the recipe ``name`` (a file, or a shipped recipe's name) and apply ``key=value`` changes to it.

    The task must be one that ``command`` trains. A change of ``data.train`` to another file also removes the
    keys that belong to the recipe's own file (dev and test files, columns), unless they are changed too.
    ``absent`` has default values for keys that are not set otherwise.
    """
    changes = list(changes)
    values = _read(str(name))
    before = _train_file(values)
    problems = [*_mixed_files(changes), *_repeated_files(changes)]
    for change in changes:
        _apply(values, change, problems, command)
    if before is not None and _train_file(values) != before:
        changed = {change.partition("=")[0].strip() for change in changes}
        _drop_companions(values, changed, _type_of(values, command))
    for key, value in (absent or {}).items():
        _fill(values, key, value)
    return check_recipe(values, source=str(name), problems=problems, command=command)


def check_recipe(
    values: Mapping[str, Any], *, source: str, problems: Iterable[str] = (), command: str = "train"
) -> Any:
    """Return the typed recipe, or raise one ``RecipeError`` with all its problems."""
    found = list(problems)
    known = recipe_types(command)
    if "task" in values and values["task"] not in tuple(known):  # it may be a table, which is not hashable
        task = values["task"]
        other = TASKS.get(task) if isinstance(task, str) else None
        if other:
            found.append(f"task: gonie {command} does not train {task!r}; use gonie {other.command} {source}")
            raise RecipeError(found, source=source)
        found.append(f"task: unknown task {task!r}; use {_alternatives(list(known))}")
        values = {key: value for key, value in values.items() if key != "task"}
    kind = _type_of(values, command)
    try:
        recipe = kind.model_validate(values)
    except ValidationError as error:
        raise RecipeError(found + explain_invalid(kind, error), source=source) from None
    if found:
        raise RecipeError(found, source=source)
    return recipe


def recipe_types(command: str) -> dict[str, type[Recipe]]:
    """Return the recipe types that a command trains, by the name of their task."""
    sources = tuple(CONTEXTUAL)
    trained = [task for task in TASKS.values() if task.command == command]
    return {task.name: _opened(task.recipe(), sources) for task in trained}


@cache
def _opened(recipe: type[Recipe], sources: tuple[str, ...]) -> type[Recipe]:
    """Return the recipe type with a key for each contextual source, created once per set of sources."""
    return with_sources(recipe)


def recipe_name(recipe: str | Path) -> str:
    """Return the name of a recipe that is given as a file or by name: ``ner`` for ``mine/ner.toml``."""
    return Path(recipe).name.removesuffix(".toml")


def _type_of(values: Mapping[str, Any], command: str) -> type[Recipe]:
    """Return the recipe type of the task, or the first type of the command if no task is named."""
    types = recipe_types(command)
    return types.get(str(values.get("task")), next(iter(types.values())))


def _shipped() -> Path:
    return Path(str(resources.files("gonie") / "recipes"))


def _read(name: str) -> dict[str, Any]:
    path = Path(name)
    if not path.is_file():
        path = _shipped() / f"{name}.toml"
    if not path.is_file():
        raise RecipeError([_unknown(name)])
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if path.suffix != ".toml":
            raise RecipeError([_not_a_recipe(path)]) from None
        raise RecipeError([f"invalid TOML: {error}"], source=str(path)) from error
    except OSError as error:
        raise RecipeError([f"cannot read the file: {error.strerror}"], source=str(path)) from error


def _unknown(name: str) -> str:
    """Return the message for a name that is neither a file nor a shipped recipe."""
    near = difflib.get_close_matches(name, recipe_names(), n=1)
    if near:
        return f"no such recipe: {name}. Did you mean {near[0]}? gonie recipes lists all recipes"
    suffix = Path(name).suffix
    if name and Path(name).is_dir():
        return f"{name} is a folder, not a recipe. To train on its files, put a recipe before them"
    if suffix == ".toml" or "/" in name:
        return f"recipe file not found: {name}"
    if suffix:
        advice = f"For your own data, type the recipe first: gonie train RECIPE {shlex.quote(name)}"
        return f"file not found: {name}. {advice}; gonie recipes lists the recipes"
    return f"no such recipe: {name}. gonie recipes lists all recipes: {', '.join(recipe_names())}"


def _not_a_recipe(path: Path) -> str:
    """Return the message for a data file in place of a recipe, with the recipes that fit it."""
    found = fitting_recipes(path)
    if found is None:
        return (
            f"{path} is not a recipe, and not a data file that gonie can read. Check it with: "
            f"gonie data check {shlex.quote(str(path))}"
        )
    what, recipes = found
    lines = [f"  gonie train {name} {shlex.quote(str(path))}" for name in recipes]
    listed = [f"{line + ' ':<50}  {recipe_summary(name)}" for line, name in zip(lines, recipes, strict=True)]
    return "\n".join([f"{path} is not a recipe. It has {what}. Type a recipe before it:", *listed])


def _apply(values: dict[str, Any], change: str, problems: list[str], command: str) -> None:
    key, equals, text = change.partition("=")
    if not equals or not key.strip():
        problems.append(f"--set {change}: not of the form key=value; use, for example, train.epochs=10")
        return
    *parents, last = key.strip().split(".")
    place: Any = values
    for parent in parents:
        if parent in SPLITS and isinstance(place.get(parent), str):
            place[parent] = {}  # named files replace the single file of the recipe
        place = place.setdefault(parent, {})
        if not isinstance(place, dict):
            problems.append(f"--set {change}: {parent} is a value, not a section")
            return
    value = _parse(text.strip(), [*parents, last], _type_of(values, command))
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value


def _mixed_files(changes: Iterable[str]) -> Iterator[str]:
    """Yield a problem for each split that is changed to a single file and to named files. One would be lost.

    The single file of the recipe itself may be replaced by named files, and those of the recipe by one file.
    """
    given = {key.strip(): text.strip() for key, _, text in (change.partition("=") for change in changes)}
    for split in SPLITS:
        single = _toml(given.get(f"data.{split}", ""))
        named = {key: _toml(text) for key, text in given.items() if key.startswith(f"data.{split}.")}
        if not isinstance(single, str) or single.lower() in ("", "none") or not named:
            continue
        own = f"data.{split}.{_domain_name(single)}"
        files = {f"data.{split}.NAME" if own in named else own: single, **named}
        settings = " ".join(f"--set {shlex.quote(f'{key}={file}')}" for key, file in files.items())
        yield (
            f"data.{split}: a single file, {single}, cannot be combined with named files; name all of them: "
            f"{settings}"
        )


def _repeated_files(changes: Iterable[str]) -> Iterator[str]:
    """Yield a problem for each name that is given to two files of a split. The first would be lost."""
    given: dict[str, Any] = {}
    for key, _, text in (change.partition("=") for change in changes):
        *section, name = key.strip().split(".")
        file = _toml(text.strip())
        if section not in (["data", split] for split in SPLITS) or file in ("", "none"):
            continue
        first = given.setdefault(key.strip(), file)
        if first != file:
            yield f"{key.strip()}: {first} and {file} have the same name, {name}; give each its own"


def _domain_name(file: str) -> str:
    """Return a name for the domain of a file, from that of the file."""
    return re.sub(r"[^\w-]+", "-", Path(file).name.partition(".")[0]).strip("-") or "NAME"


def _fill(values: dict[str, Any], key: str, value: str) -> None:
    """Set ``key`` if it has no value. Validation reports a parent that is not a section."""
    *parents, last = key.split(".")
    place: Any = values
    for parent in parents:
        place = place.setdefault(parent, {})
        if not isinstance(place, dict):
            return
    place.setdefault(last, value)


def _parse(text: str, place: list[str], kind: type[BaseModel]) -> Any:
    """Parse a TOML value, or return the text. ``none`` removes the key unless it is one of its values."""
    if text.lower() == "none":
        return text.lower() if _has_choice(kind, place, text.lower()) else None
    return _toml(text)


def is_removal(kind: type[BaseModel], key: str, value: Any) -> bool:
    """Return whether a value of a key is ``none``, which removes it, and not one of its choices."""
    return (
        isinstance(value, str)
        and value.lower() == "none"
        and not _has_choice(kind, key.split("."), value.lower())
    )


def _toml(text: str) -> Any:
    """Parse a TOML value, or return the text if it is none."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _train_file(values: dict[str, Any]) -> Path | None:
    """Return the training file of the recipe, if it names one."""
    data = values.get("data")
    path = data.get("train") if isinstance(data, dict) else None
    return locate(path).absolute() if isinstance(path, str) else None


def _drop_companions(values: dict[str, Any], changed: set[str], kind: type[Recipe]) -> None:
    """Remove the keys that belong to the recipe's own training file."""
    data = values.get("data")
    if not isinstance(data, dict):
        return  # validation reports that it is not a section
    section = _section(kind.model_fields["data"].annotation)
    for key in getattr(section, "companions", ()):
        if not any(k == f"data.{key}" or k.startswith(f"data.{key}.") for k in changed):
            data.pop(key, None)


def explain_invalid(kind: type[BaseModel], error: ValidationError) -> list[str]:
    """Return one message per invalid key of a section, which joins the errors of a union's alternatives."""
    details: dict[str, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        details.setdefault(".".join(_key(kind, detail["loc"])) or "recipe", []).append(detail)
    return [_with_key(kind, key, _reason(kind, key, found)) for key, found in details.items()]


def _with_key(kind: type[BaseModel], key: str, reason: str) -> str:
    """Return the reason after its key, or alone if it begins with a whole key: ``data.leave_out: …``."""
    section, dot, _ = reason.partition(".")
    return reason if dot and section in kind.model_fields else f"{key}: {reason}"


def _reason(kind: type[BaseModel], key: str, details: list[ErrorDetails]) -> str:
    first, *_ = details
    place = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":
        return _unknown_key(kind, place)
    if first["type"] == "missing":
        field = _fields(kind, place[:-1])[place[-1]]
        if _section(field.annotation):
            return f"missing section; set its keys with --set {key}.KEY=…"
        return f"missing value ({field.description}); set it with --set {key}=…"
    if first["type"] == "value_error":
        return first["msg"].removeprefix("Value error, ")
    if first["type"] in _REASONS:
        return _REASONS[first["type"]]
    wanted = " or ".join(dict.fromkeys(map(_wanted, details)))
    listable = first["type"] == "list_type" and not isinstance(first["input"], dict)
    advice = f"; use {shlex.quote(_as_list(first['input']))}" if listable else ""
    if first["type"] == "literal_error":
        near = difflib.get_close_matches(str(first["input"]), _choices(kind, place), n=1)
        advice = f"; did you mean {near[0]!r}?" if near else ""
    elif first["type"] == "dict_type":
        advice = _table_advice(kind, key, place, first["input"])
    elif first["type"].startswith("model_"):
        advice = _section_advice(kind, key, first["input"])
    value = first["input"]
    return f"must be {wanted}: {toml_value(value) if isinstance(value, bool) else repr(value)}{advice}"


def _choices(kind: type[BaseModel], place: list[str]) -> list[str]:
    """Return the texts that the key at ``place`` allows, if it has such a list."""
    field = _fields(kind, place[:-1]).get(place[-1])
    found = field.annotation if field else None
    options = (choice for option in (found, *get_args(found)) for choice in get_args(option))
    return [choice for choice in options if isinstance(choice, str)]


def _table_advice(kind: type[BaseModel], key: str, place: list[str], value: object) -> str:
    """Return the names of a table and a setting that works, or only an example if any name is allowed."""
    top = kind.model_fields.get(place[0])
    if top is not None and top.examples:
        return f". For example: --set {key}.{top.examples[0]}"
    field = _fields(kind, place[:-1]).get(place[-1])
    marks = [
        mark
        for each in get_args(field.annotation if field else None)[:1]
        for mark in getattr(each, "__metadata__", ())
    ]
    names = [name for mark in marks if isinstance(mark, ChoiceOf) for name in mark.table]
    if not names:
        return ""
    words = re.findall(r"[\w-]+", str(value))
    near = [match for word in words for match in difflib.get_close_matches(word, names, n=1)]
    example = ", ".join(f"{name} = 1.0" for name in dict.fromkeys(near or names[:1]))
    setting = shlex.quote(f"{'.'.join(place)}={{{example}}}")
    return f"; its names are {', '.join(names)}. For example: --set {setting}"


def _section_advice(kind: type[BaseModel], key: str, value: object) -> str:
    """Return the keys of a section, and a setting of its kind or first key, which may have been meant."""
    fields = _fields(kind, key.split("."))
    name = "kind" if "kind" in fields else next(iter(fields))
    typed = isinstance(value, str) and (name == "kind" or fields[name].is_required())
    shown = value if typed else fields[name].default
    text = shown if isinstance(shown, str) else json.dumps(shown) if isinstance(shown, int | float) else "…"
    setting = shlex.quote(f"{key}.{name}=") + (text if text == "…" else shlex.quote(text))
    return f"; its keys are {', '.join(fields)}. For example: --set {setting}"


_OTHER_NAMES = {
    "learning_rate": "lr",
    "batch_size": "batch_sentences",
    **dict.fromkeys(("num_epochs", "max_epochs"), "epochs"),
}
"""What keys of other tools are called here."""


def keys_named(name: str) -> list[str]:
    """Return the keys of recipes for data and training that have this name, here or in other tools."""
    own = _OTHER_NAMES.get(name, name)
    known = {key for task in TASKS for key in recipe_keys(task)}
    return [key for key in (f"data.{own}", f"train.{own}") if key in known]


def _meant_key(kind: type[BaseModel], place: list[str]) -> str:
    """Return the key that was probably meant: in the same section, or in another under the same name."""
    *_, last = place
    known = list(_fields(kind, place[:-1]))
    last = _OTHER_NAMES.get(last, last)
    if near := difflib.get_close_matches(last, known, n=1):
        return f"did you mean {near[0]!r}?"
    keys = [key for leaf, _ in _described(kind, "") for key in _with_sections(leaf)]
    if same := [key for key in dict.fromkeys(keys) if key.rpartition(".")[2] == last]:
        return f"did you mean {_alternatives(same)}?"
    return f"known: {', '.join(known)}"


def _unknown_key(kind: type[BaseModel], place: list[str]) -> str:
    """Return the message for an unknown key, with the tasks that have it or the key that was meant."""
    types = {task.name: recipe_types(task.command)[task.name] for task in TASKS.values()}
    own = next((task.model for name, task in TASKS.items() if types[name] is kind), None)
    others = [f"{task.model}s" for name, task in TASKS.items() if _has_key(types[name], place)]
    if own is None or not others:
        return f"unknown key; {_meant_key(kind, place)}"
    near = difflib.get_close_matches(place[-1], _fields(kind, place[:-1]), n=1)
    question = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown key for {own}s; only {_joined(others)} have it{question}"


def _has_key(kind: type[BaseModel], place: list[str]) -> bool:
    """Return whether recipes of this type have the key at ``place``."""
    try:
        return place[-1] in _fields(kind, place[:-1])
    except KeyError:
        return False


def _with_sections(key: str) -> Iterator[str]:
    """Yield the sections of a key, from the outside, and the key."""
    parts = key.split(".")
    return (".".join(parts[:depth]) for depth in range(1, len(parts) + 1))


def _wanted(detail: ErrorDetails) -> str:
    """Return what pydantic expected instead of a value, to follow "must be"."""
    kind, limits = detail["type"], detail.get("ctx", {})
    for words, wanted in _TYPES.items():
        if kind.startswith(words):
            return wanted
    if kind in _LIMITS:
        return _LIMITS[kind].format(**limits)
    return detail["msg"].removeprefix("Input should be ")


def _as_list(value: Any) -> str:
    """Return the list that a value was probably meant to be, as TOML: ``["a", "b"]`` for ``a,b``."""
    parts = value.split(",") if isinstance(value, str) else [value]
    items = [_toml(part.strip()) if isinstance(part, str) else part for part in parts]
    return json.dumps(items, ensure_ascii=False, default=str)


def _alternatives(names: list[str]) -> str:
    """Join names: ``a``, ``a or b``, ``a, b or c``."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _joined(names: list[str]) -> str:
    """Join names: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _key(kind: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Return the recipe key of a pydantic location, without the names that pydantic adds for unions."""
    parts = [str(part) for part in place]
    fields = _fields(kind, [])
    depth = 0
    while depth < len(parts):
        if parts[depth] not in fields:
            return parts[: depth + 1]
        annotation = fields[parts[depth]].annotation
        if _section(annotation) is None:
            many = get_origin(annotation) in (dict, list)
            return parts[: depth + 2 if many else depth + 1]
        depth += 2 if is_named(annotation) else 1
        fields = _fields(kind, parts[:depth])
    return parts


def _fields(kind: type[BaseModel], place: list[str]) -> dict[str, FieldInfo]:
    """Return the fields of the section at ``place`` in a recipe of this type."""
    section = kind
    names = iter(place)
    for name in names:
        annotation = section.model_fields[name].annotation
        section = _section(annotation) or section
        if is_named(annotation):
            next(names, None)
    return section.model_fields


def _has_choice(kind: type[BaseModel], place: list[str], text: str) -> bool:
    """Return whether ``text`` is one of the allowed values of the key at ``place``."""
    section: type[BaseModel] | None = kind
    field: FieldInfo | None = None
    names = iter(place)
    for name in names:
        field = section.model_fields.get(name) if section else None
        section = _section(field.annotation) if field else None
        if field and is_named(field.annotation):
            next(names, None)
    if field is None:
        return False
    tables = [mark.table for mark in field.metadata if isinstance(mark, ChoiceOf)]
    words = [word for mark in field.metadata if isinstance(mark, PathTo) for word in mark.words]
    return text in (*get_args(field.annotation), *words) or any(text in table for table in tables)


def _section(annotation: Any) -> type[BaseModel] | None:
    """Return the section type of a key, if its value is a section."""
    options = (annotation, *get_args(annotation))
    return next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)


def is_named(annotation: Any) -> bool:
    """Return whether the value of a key is a table of named sections: ``[heads.NAME]``."""
    return get_origin(annotation) is dict and _section(annotation) is not None
