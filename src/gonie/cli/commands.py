"""The classes of gonie's commands and command groups, which explain mistakes in the arguments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from gonie.cli.hints import correct, explain_command, explain_url, explain_usage, is_example, say_example
from gonie.client.address import is_url
from gonie.errors import OPTION, TRAINING, GonieError, InputError
from gonie.messages import language, say, without_language

UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])
"""The base class of the errors that Typer raises for invalid arguments."""

TEXTS = ("text", "words", "cors")
"""Parameters that may be any text, also a web address."""
MODEL = "model"
"""The parameter that may be the URL of a service."""
SHOTS_FROM = "shots_from"
"""The parameter with the examples of an in-context model."""

HELP_TEXTS = (
    "DEFAULT_STRING",
    "REQUIRED_LONG_STRING",
    "ARGUMENTS_PANEL_TITLE",
    "OPTIONS_PANEL_TITLE",
    "COMMANDS_PANEL_TITLE",
)
"""The texts of Typer's help pages."""


class TranslatedHelp:
    """The help page of a command or group in the language of the user."""

    def get_usage(self, ctx: Any) -> str:
        """Return the usage line."""
        usage: str = super().get_usage(ctx)  # type: ignore[misc]
        return usage.replace("Usage: ", say("Usage: "), 1)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help page."""
        if language() == "en":
            super().format_help(ctx, formatter)  # type: ignore[misc]
            return
        with _translated(self, ctx):
            super().format_help(ctx, formatter)  # type: ignore[misc]


@contextmanager
def _translated(command: Any, ctx: Any) -> Iterator[None]:
    """Translate the help of a command, of its options and of its own commands inside the block.

    Texts in tables are folded: an ellipsis, Rich's default, also cuts wide letters that fit.
    """
    from typer import rich_utils

    from gonie.reports.console import FoldedColumns, FoldedTable

    shown = [command, *command.get_params(ctx), *getattr(command, "commands", {}).values()]
    kept = [(each, "help", each.help) for each in shown if getattr(each, "help", None)]
    kept += [(each, "rich_help_panel", name) for each in shown if (name := _panel(each))]
    kept += [(rich_utils, name, getattr(rich_utils, name)) for name in HELP_TEXTS]
    with ExitStack() as restored:
        for each, name, text in kept:
            restored.callback(setattr, each, name, text)
            setattr(each, name, _paragraphs(text))
        for name, folded in (("Table", FoldedTable), ("Columns", FoldedColumns)):
            restored.callback(setattr, rich_utils, name, getattr(rich_utils, name))
            setattr(rich_utils, name, folded)
        yield


def _panel(shown: Any) -> str:
    """Return the heading of an option in its help page, or an empty string if it has none of its own."""
    name = getattr(shown, "rich_help_panel", None)
    return name if isinstance(name, str) else ""


def _paragraphs(text: str) -> str:
    """Translate a help text. Examples of commands keep their indent."""
    return "\n\n".join(
        say_example(part) if is_example(part) else say(" ".join(part.split())) for part in text.split("\n\n")
    )


class Command(TranslatedHelp, TyperCommand):
    """A command that says what to type instead of invalid arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments."""
        given, path = list(args), _path(ctx)
        options = {name: not option.is_flag for option in _options(self, ctx) for name in option.opts}
        if ctx.resilient_parsing and args and options.get(args[-1]):
            args = args[:-1]  # the shell completes the value of this option
        try:
            rest = super().parse_args(ctx, args)
        except UsageError as error:
            correction = correct(path, given, options)
            if correction.unknown or correction.mistakes:
                raise correction.error(path) from None
            raise explain_usage(error, path, self, given) from None
        if ctx.resilient_parsing:  # for completion
            return rest
        given_texts = ((name, text) for name in TEXTS for text in _many(ctx.params.get(name)))
        texts = [form for name, text in given_texts for form in (text, f"--{name}={text}")]
        service = ctx.params.get(MODEL)
        files = [word for word in given if word not in texts and not (is_url(word) and Path(word) == service)]
        if refused := explain_url(path, files):
            raise refused
        if "--set" in options and (correction := correct(path, given, options)).mistakes:
            raise correction.error(path)
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Its error messages name options that it has."""
        try:
            return super().invoke(ctx)
        except GonieError as error:
            own = {name for option in _options(self, ctx) for name in option.opts}
            shots = ctx.params.get(SHOTS_FROM)
            of_shots = shots is not None and str(getattr(error, "path", None)) == str(shots)
            if error.args and isinstance(error.args[0], str):
                error.args = (_own_options(error.args[0], own, of_shots=of_shots), *error.args[1:])
            raise


def _own_options(message: str, own: Collection[str], *, of_shots: bool) -> str:
    """Return a message for the user, with options of the command, or else with recipe keys if it trains.

    ``of_shots`` says that it is about the examples of an in-context model, which have settings of their own.
    What a command cannot set for a file is set when the file is converted.
    """

    def typed(match: re.Match[str]) -> str:
        option, value, key = match.groups()
        if of_shots:
            flag, name = "--llm", _in_context_setting(key)
        elif f"--{option}" in own:
            return f"--{option} {value}"
        else:
            flag, name = "--set", key if "--set" in own else ""
        if name:
            return f"{flag} {name}={value}"
        return say(f"gonie data convert FILE --{option} {value} --to FORMAT --out NEW")

    return OPTION.sub(typed, say(message if "--set" in own else TRAINING.sub("", message)))


def _in_context_setting(key: str) -> str:
    """Return the setting of in-context models for a key of a recipe, such as tag_column, if there is one."""
    from gonie.in_context.settings import FILE_SETTINGS

    name = key.removeprefix("data.")
    return name if name in FILE_SETTINGS else ""


class Commands(TranslatedHelp, TyperGroup):
    """A group of commands whose help shows flags without a value, and which explains unknown commands."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options of the group."""
        return _without_flag_values(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command of the group, or None."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _without_flag_values(command.get_params(ctx))
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first argument names."""
        try:
            return super().resolve_command(ctx, args)
        except UsageError:
            raise explain_command(ctx.command_path, args[0], args[1:], list(self.commands)) from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the command. ``--lang``, which ``main`` reads, may also follow it."""
        try:
            return super().parse_args(ctx, without_language(args))
        except UsageError as error:
            option = getattr(error, "option_name", None)
            if option is None:  # no arguments: the error is the help page
                raise
            fix = f"Type options after the command: gonie COMMAND {option}"
            raise InputError(f"{ctx.command_path} has no option {option}", fix=fix) from None


def _path(ctx: Any) -> str:
    """Return the words that name a command, without the program: ``data check``."""
    return str(ctx.command_path.partition(" ")[2])


def _options(command: Any, ctx: Any) -> list[Any]:
    return [param for param in command.get_params(ctx) if param.param_type_name == "option"]


def _many(value: Any) -> Sequence[str]:
    return [value] if isinstance(value, str) else value or ()


def _without_flag_values(options: Sequence[Any]) -> Sequence[Any]:
    """Clear the placeholder of a value that Typer shows for flags: ``<bool>``."""
    for option in options:
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""
    return options
