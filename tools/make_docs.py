"""Write docs/recipe.md and docs/commands.md from the code itself, so that they cannot tell of another one.

    python tools/make_docs.py            write both
    python tools/make_docs.py --check    exit 1 if one of them is stale, as a test does

The keys of a recipe come from the classes that check it, the commands from their real help.
"""

from __future__ import annotations

import argparse
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge, Gt, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from gonie.cli.main import app
from gonie.tasks.recipe import recipe_names, recipe_types
from gonie.tasks.section import ChoiceOf

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RECIPES = ROOT / "src" / "gonie" / "recipes"
NAMES = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`", Any: "value"}
WIDTH = 100  # of help pages

RECIPE_HEAD = """\
# Recipes: every key

A recipe is a TOML file that says all a training run needs. `gonie train RECIPE` takes a file, or the name of
one that ships. `--set KEY=VALUE` changes any key; the value is read as TOML (`true`, `0.1`, `["spelling"]`,
`{pos = 1}`), else as text; `none` takes the key away, unless it is one of its values. With
`--set data.train=FILE` the dev and test files and the columns that belong to the recipe's own file are
forgotten, unless they are set too. An unknown key is refused with the nearest known one, and all problems are
reported together. A run folder keeps its recipe as resolved, every key in it:
`gonie train runs/NAME/recipe.toml` makes the same model again.

`task` says what is learned: `tag` words, `classify` texts, or `pretrain` a language model (`gonie pretrain
RECIPE`). The first two share most sections; below, those of taggers come first, then what classifiers have of
their own, then language models.

This page is made by `tools/make_docs.py` from `src/gonie/tasks/sections.py` and the `recipe.py` of each task.
"""
COMMANDS_HEAD = """\
# Commands

A command that fails prints the reason and exits with 2. Ctrl-C exits with 130. `tools/make_docs.py` generates
this page from the help of the commands.
"""


# --- the recipe ------------------------------------------------------------------------------------------


def recipe_page() -> str:
    """All sections of a recipe, a table each."""
    shipped = ["## The recipes that ship", "| name | what it trains |", "|---|---|"]
    shipped += [
        f"| [`{name}`](../src/gonie/recipes/{name}.toml) | {title(name)} |" for name in recipe_names()
    ]
    told: set[type[BaseModel]] = set()
    pages = []
    for name, recipe in {**recipe_types("train"), **recipe_types("pretrain")}.items():
        pages += [f'# The recipe of `task = "{name}"`\n', *sections(recipe, "", told)]
    return "\n".join([RECIPE_HEAD, *shipped, "", *pages]) + "\n"


def title(name: str) -> str:
    """The first sentence of a recipe's comment."""
    line = (RECIPES / f"{name}.toml").read_text("utf-8").partition("\n")[0]
    return line.removeprefix("#").strip().removesuffix(".")


def sections(model: type[BaseModel], prefix: str, told: set[type[BaseModel]]) -> Iterator[str]:
    """A section's own keys first, then the sections within it; one that was told before is named alone."""
    if model in told:
        yield f"## `[{prefix.removesuffix('.')}]`\n\nThe same keys as above: {model.__doc__}\n"
        return
    told.add(model)
    inner = {name: part for name, field in model.model_fields.items() if (part := section(field.annotation))}
    yield f"## `[{prefix.removesuffix('.')}]`" if prefix else "## At the top"
    yield f"{model.__doc__}\n"
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    for name, field in model.model_fields.items():
        yield row(prefix + name, field, nested=name in inner)
    yield ""
    for name, part in inner.items():
        yield from sections(part, f"{prefix}{name}.", told)


def section(annotation: Any) -> type[BaseModel] | None:
    """The section that a key holds, if it holds one."""
    options = (annotation, *get_args(annotation))
    return next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)


def row(key: str, field: FieldInfo, *, nested: bool) -> str:
    """One line of a table."""
    bounded = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    kind = "section" if nested else named(bounded)
    meaning = (field.description or "").replace("|", "\\|")  # a bar would end the cell
    return f"| `{key}` | {kind} | {default(field, nested=nested)} | {meaning} |"


def default(field: FieldInfo, *, nested: bool) -> str:
    """What a key is when it is not given."""
    if field.default is PydanticUndefined:
        return "must be given"
    if field.default is None:
        return "none"
    if nested:
        return "its own defaults"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


def named(annotation: Any) -> str:
    """A type in words, its bounds with it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        tables = [mark for mark in arguments[1:] if isinstance(mark, ChoiceOf)]
        if tables:
            return ", ".join(f"`{choice}`" for choice in (*tables[0].also, *tables[0].table))
        return f"{named(arguments[0])} {' and '.join(bounds(arguments[1:]))}".rstrip()
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(named(choice) for choice in arguments if choice is not type(None))
    if origin in (list, tuple, dict):
        return collection(origin, [named(argument) for argument in arguments])
    return NAMES[annotation]


def collection(kind: type, members: list[str]) -> str:
    """A list, a tuple or a table in words."""
    if kind is list:
        return f"list of {members[0]}"
    return f"[{', '.join(members)}]" if kind is tuple else f"table: name = {members[1]}"


def bounds(constraints: tuple[Any, ...]) -> list[str]:
    """`≥ 1`, `< 1` and the like."""
    flat = [inner for outer in constraints for inner in getattr(outer, "metadata", [outer])]
    signs = {Ge: ("≥", "ge"), Gt: (">", "gt"), Lt: ("<", "lt")}
    return [
        f"{sign} {getattr(constraint, name):g}"
        for constraint in flat
        for kind, (sign, name) in signs.items()
        if isinstance(constraint, kind)
    ]


# --- the commands ----------------------------------------------------------------------------------------


def commands_page() -> str:
    """The help of every command."""
    app.rich_markup_mode = None  # plain text, without boxes
    return "\n".join([COMMANDS_HEAD, *helps(typer.main.get_command(app), "gonie")])


def helps(command: Any, name: str, parent: Any = None) -> Iterator[str]:
    """The help of a command, then that of those below it."""
    context = command.make_context(name.rpartition(" ")[2], ["x"], parent=parent, resilient_parsing=True)
    context.terminal_width = context.max_content_width = WIDTH
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines()).strip()
    yield f"## `{name}`\n\n```text\n{text}\n```\n"
    for below, inner in getattr(command, "commands", {}).items():
        yield from helps(inner, f"{name} {below}", context)


# --- both ------------------------------------------------------------------------------------------------


def main() -> None:
    """Write the pages, or say which of them are stale."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is stale")
    check = parser.parse_args().check
    stale = []
    for path, text in {DOCS / "recipe.md": recipe_page(), DOCS / "commands.md": commands_page()}.items():
        if not path.exists() or path.read_text("utf-8") != text:
            stale.append(path.name)
            if not check:
                path.write_text(text, "utf-8")
    if check and stale:
        sys.exit(f"stale: {', '.join(stale)}. Do: python tools/make_docs.py")


if __name__ == "__main__":
    main()
