"""Recipes as TOML: found by path or by name, changed by ``--set``, checked whole, written back resolved."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from gonie.errors import MissingExtraError, RecipeError
from gonie.system.files import is_utf8
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.language_model.recipe import PretrainRecipe
from gonie.tasks.tagging.recipe import TagRecipe

Recipe = TagRecipe | TextRecipe
RECIPES: Mapping[str, type[TagRecipe] | type[TextRecipe]] = {"tag": TagRecipe, "classify": TextRecipe}
"""The recipe of each task that `gonie train` trains."""
PRETRAINING: Mapping[str, type[PretrainRecipe]] = {"pretrain": PretrainRecipe}
"""The recipe of a language model, for `gonie pretrain`."""
Kinds = Mapping[str, type[BaseModel]]
COMMANDS = {**dict.fromkeys(RECIPES, "gonie train"), **dict.fromkeys(PRETRAINING, "gonie pretrain")}

BUNDLED = "bundled:"
FILES = ("train", "dev", "test", "partial", "vectors")
"""Keys of ``data`` that name a file to read."""
BILM = "model.elmo.bilm"
COMPANIONS = (
    *("dev", "test", "format", "word_column", "tag_column", "columns"),
    *(
        "text_column",
        "label_column",
        "label_separator",
        "marks",
        "sentences",
        "sentence_mark",
        "folds",
        "fold",
    ),
)
"""Keys of ``data`` that belong to the training file: with another one, they are not meant."""


def recipe_names(*tasks: str) -> list[str]:
    """Names of the recipes that ship with gonie: all, or those of some tasks."""
    files = [file for file in _shipped().iterdir() if file.name.endswith(".toml")]
    return sorted(file.name.removesuffix(".toml") for file in files if not tasks or _task(file) in tasks)


def _task(file: Path) -> str:
    return str(tomllib.loads(file.read_text("utf-8")).get("task", "tag"))


def load_recipe(
    name: str | Path, changes: Iterable[str] = (), *, absent: Mapping[str, str] | None = None
) -> Recipe:
    """Read the recipe ``name`` (a file, or a shipped recipe's name) and apply ``key=value`` changes to it.

    A change of ``data.train`` to another file also forgets the dev and test files and the columns that belong
    to the recipe's own, unless they are changed too. ``absent`` has values for keys that nothing else gives.
    """
    changes = list(changes)
    values = _read(str(name))
    before = _train_file(values)
    problems: list[str] = []
    for change in changes:
        _apply(values, change, problems, RECIPES)
    if before is not None and _train_file(values) != before:
        _forget_companions(values, {change.partition("=")[0].strip() for change in changes})
    for key, value in (absent or {}).items():
        _fill(values, key, value)
    return check_recipe(values, source=str(name), problems=problems)


def load_pretraining(name: str | Path, changes: Iterable[str] = ()) -> PretrainRecipe:
    """Read the recipe of a language model, a file or a shipped one, and apply ``key=value`` changes to it."""
    values = _read(str(name))
    problems: list[str] = []
    for change in changes:
        _apply(values, change, problems, PRETRAINING)
    return cast("PretrainRecipe", _check(values, PRETRAINING, source=str(name), problems=problems))


def check_recipe(values: Mapping[str, Any], *, source: str, problems: Iterable[str] = ()) -> Recipe:
    """The typed recipe, or one ``RecipeError`` with everything that is wrong with it."""
    return cast("Recipe", _check(values, RECIPES, source=source, problems=problems))


def _check(values: Mapping[str, Any], kinds: Kinds, *, source: str, problems: Iterable[str]) -> BaseModel:
    found = list(problems)
    if "task" in values and values["task"] not in tuple(kinds):  # a table is no key, but may stand there
        task = values["task"]
        other = COMMANDS.get(task) if isinstance(task, str) else None
        advice = f"; that is for {other}" if other else ""
        found.append(f"task: expected {' or '.join(kinds)}, got {task!r}{advice}")
        if other:
            raise RecipeError(found, source=source)
        values = {key: value for key, value in values.items() if key != "task"}
    kind = _kind(values, kinds)
    try:
        recipe = kind.model_validate(values)
    except ValidationError as error:
        raise RecipeError(found + _explain(kind, error), source=source) from None
    if found:
        raise RecipeError(found, source=source)
    return recipe


def write_recipe(recipe: Recipe | PretrainRecipe) -> str:
    """The resolved recipe as TOML: every key, defaults included."""
    try:
        import tomli_w
    except ImportError as error:
        raise MissingExtraError("tomli-w", extra="train", purpose="writing a recipe") from error
    text = tomli_w.dumps(recipe.model_dump(mode="json", exclude_none=True))
    if not is_utf8(text):
        raise RecipeError(
            ["a file's name is not UTF-8, which a recipe cannot hold; rename it, or link to it"]
        )
    return text


def locate(path: str) -> Path:
    """The file a recipe means: ``bundled:NAME/FILE`` lies in the package, anything else is as written."""
    if not path.startswith(BUNDLED):
        return Path(path).expanduser()
    return Path(str(resources.files("gonie") / "corpora")) / path.removeprefix(BUNDLED)


def with_absolute_paths(recipe: Recipe) -> Recipe:
    """The recipe with files by their full path, so that a run can be resumed from anywhere."""

    def full(path: str) -> str:
        return path if path.startswith(BUNDLED) else str(locate(path).absolute())

    data = recipe.data
    named = {key: full(path) for key in ("cache", *FILES) if (path := getattr(data, key, None))}
    lists = {name: full(path) for name, path in data.gazetteers.items()}
    data = data.model_copy(update={**named, "gazetteers": lists})
    elmo = recipe.model.elmo
    if elmo is None:
        return recipe.model_copy(update={"data": data})
    places = {key: full(path) for key in ("bilm", "cache") if (path := getattr(elmo, key))}
    model = recipe.model.model_copy(update={"elmo": elmo.model_copy(update=places)})
    return recipe.model_copy(update={"data": data, "model": model})


def with_absolute_texts(recipe: PretrainRecipe) -> PretrainRecipe:
    """The recipe of a language model with files by their full path."""

    def full(path: str) -> str:
        return str(locate(path).absolute())

    data = recipe.data
    named = {key: full(path) for key in ("heldout", "cache") if (path := getattr(data, key))}
    texts = {"text": [full(path) for path in data.text]}
    start = {"start": full(recipe.model.start)} if recipe.model.start else {}
    return recipe.model_copy(
        update={
            "data": data.model_copy(update=named | texts),
            "model": recipe.model.model_copy(update=start),
        }
    )


def missing_files(recipe: Recipe) -> list[str]:
    """A sentence for each file that the recipe names and that is not there."""
    named = {f"data.{key}": path for key in FILES if (path := getattr(recipe.data, key, None))}
    named |= {f"data.gazetteers.{name}": path for name, path in recipe.data.gazetteers.items()}
    named |= {BILM: recipe.model.elmo.bilm} if recipe.model.elmo else {}
    return [
        f"{key}: expected a {'folder' if key == BILM else 'file'}, found none at {path}"
        for key, path in named.items()
        if not locate(path).exists()
    ]


def _kind(values: Mapping[str, Any], kinds: Kinds) -> type[BaseModel]:
    """The recipe that the task asks for; the first where none is named."""
    return kinds.get(str(values.get("task")), next(iter(kinds.values())))


def _shipped() -> Path:
    return Path(str(resources.files("gonie") / "recipes"))


def _read(name: str) -> dict[str, Any]:
    path = Path(name)
    if not path.is_file():
        path = _shipped() / f"{name}.toml"
    if not path.is_file():
        near = difflib.get_close_matches(name, recipe_names(), n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"shipped recipes are {', '.join(recipe_names())}"
        raise RecipeError(
            [f"expected a recipe file or the name of a shipped one, got {name!r}; {advice}"], source=name
        )
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError([f"expected TOML, got {error}"], source=str(path)) from error
    except OSError as error:
        raise RecipeError([f"cannot be read: {error.strerror}"], source=str(path)) from error


def _apply(values: dict[str, Any], change: str, problems: list[str], kinds: Kinds) -> None:
    key, equals, text = change.partition("=")
    if not equals or not key.strip():
        problems.append(f"--set {change}: expected key=value, such as train.epochs=10")
        return
    *parents, last = key.strip().split(".")
    place: Any = values
    for parent in parents:
        place = place.setdefault(parent, {})
        if not isinstance(place, dict):
            problems.append(f"--set {change}: {parent} is a value, not a section")
            return
    value = _parse(text.strip(), [*parents, last], _kind(values, kinds))
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value


def _fill(values: dict[str, Any], key: str, value: str) -> None:
    """Gives ``key`` a value where it has none; a parent that is no section is left to be refused."""
    *parents, last = key.split(".")
    place: Any = values
    for parent in parents:
        place = place.setdefault(parent, {})
        if not isinstance(place, dict):
            return
    place.setdefault(last, value)


def _parse(text: str, place: list[str], kind: type[BaseModel]) -> Any:
    """A TOML value if it reads as one, else the text itself; ``none`` takes a key away if it is no value."""
    if text.lower() == "none":
        return text.lower() if _has_choice(kind, place, text.lower()) else None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _train_file(values: dict[str, Any]) -> Path | None:
    """The training file that the recipe names, if it names one."""
    data = values.get("data")
    path = data.get("train") if isinstance(data, dict) else None
    return locate(path).absolute() if isinstance(path, str) else None


def _forget_companions(values: dict[str, Any], keys: set[str]) -> None:
    """With a training file of the user's own, the recipe's own dev, test and columns are not meant."""
    data = values.get("data")
    if not isinstance(data, dict):
        return  # to be refused as no section
    for key in COMPANIONS:
        if not any(k == f"data.{key}" or k.startswith(f"data.{key}.") for k in keys):
            data.pop(key, None)


def _explain(kind: type[BaseModel], error: ValidationError) -> list[str]:
    """A sentence for every key that is wrong; what each choice of a union refuses is said in one."""
    details: dict[str, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        details.setdefault(".".join(_key(kind, detail["loc"])) or "recipe", []).append(detail)
    return [f"{key}: {_reason(kind, key, found)}" for key, found in details.items()]


def _reason(kind: type[BaseModel], key: str, details: list[ErrorDetails]) -> str:
    first, *_ = details
    place = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":
        known = list(_fields(kind, place[:-1]))
        near = difflib.get_close_matches(place[-1], known, n=1)
        return "unknown key; " + (f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}")
    if first["type"] == "missing":
        field = _fields(kind, place[:-1])[place[-1]]
        what = "a section" if _section(field.annotation) else f"a value ({field.description})"
        return f"expected {what}, got none; give it with --set {key}=…"
    if first["type"] == "value_error":
        return first["msg"].removeprefix("Value error, ")
    return " or ".join(_uncapitalised(detail["msg"]) for detail in details) + f", got {first['input']!r}"


def _uncapitalised(text: str) -> str:
    return text[:1].lower() + text[1:]


def _key(kind: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The recipe's own key for a place in it, without the names of a union's choices that pydantic adds."""
    parts = [str(part) for part in place]
    fields = _fields(kind, [])
    for depth, part in enumerate(parts):
        if part not in fields:
            return parts[: depth + 1]
        annotation = fields[part].annotation
        if _section(annotation) is None:
            many = get_origin(annotation) in (dict, list)
            return parts[: depth + 2 if many else depth + 1]
        fields = _fields(kind, parts[: depth + 1])
    return parts


def _fields(kind: type[BaseModel], place: list[str]) -> dict[str, FieldInfo]:
    """The fields of the section at ``place`` in a recipe of this kind."""
    section = kind
    for name in place:
        section = _section(section.model_fields[name].annotation) or section
    return section.model_fields


def _has_choice(kind: type[BaseModel], place: list[str], text: str) -> bool:
    """Is ``text`` one of the values that the key at ``place`` may have?"""
    section: type[BaseModel] | None = kind
    field: FieldInfo | None = None
    for name in place:
        field = section.model_fields.get(name) if section else None
        section = _section(field.annotation) if field else None
    return field is not None and text in get_args(field.annotation)


def _section(annotation: Any) -> type[BaseModel] | None:
    """The section that a key holds, if it holds one."""
    options = (annotation, *get_args(annotation))
    return next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)
