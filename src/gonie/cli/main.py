"""The `gonie` command: registers the subcommands and prints errors."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

import typer

from gonie.cli import (
    analyse,
    check_gradients,
    classify,
    compare,
    data,
    demo,
    distill,
    embed,
    evaluate,
    explain,
    export,
    import_elmo,
    pretrain,
    recipes,
    serve,
    tag,
    train,
    vectors,
)
from gonie.cli.commands import Command, Commands
from gonie.errors import GonieError, MissingExtraError
from gonie.messages import LANGUAGES, VARIABLE, chosen_language, say, use_language

EXTRAS = {
    "torch": "train",
    "onnx": "train",
    "psutil": "train",
    "tomli_w": "train",
    "matplotlib": "train",
    "captum": "explain",
}
"""The extra of the package that installs each optional dependency."""

app = typer.Typer(
    name="gonie",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(train.train)
app.command()(recipes.recipes)
app.command()(evaluate.evaluate)
app.command(cls=tag.OneText)(tag.tag)
app.command()(classify.classify)
app.command(cls=tag.OneText)(analyse.analyse)
app.command()(explain.explain)
app.command()(export.export)
app.command()(serve.serve)
app.command()(compare.compare)
app.command()(distill.distill)
app.command()(pretrain.pretrain)
app.command()(vectors.vectors)
app.command()(import_elmo.import_elmo)
app.command(cls=tag.OneText)(embed.embed)
app.command()(check_gradients.check_gradients)
app.add_typer(data.app, name="data", cls=Commands)
for each in (*app.registered_commands, *data.app.registered_commands):
    each.cls = each.cls if each.cls and issubclass(each.cls, Command) else Command


def _version(wanted: bool) -> None:
    if wanted:
        from gonie import __version__

        typer.echo(f"gonie {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
    lang: str | None = typer.Option(
        None,
        metavar="|".join(LANGUAGES),
        help=f"Language of messages, help and HTML pages. Default: {VARIABLE}, or else the locale.",
    ),
) -> None:
    """Train, explain and ship models that tag and classify texts and text pairs, in English and Korean."""


def main() -> None:
    """Run the command line. Errors are printed and exit with 2, and Ctrl-C exits with 130."""
    _open_streams()
    try:
        language = chosen_language(sys.argv[1:], os.environ)
    except GonieError as error:
        _fail(str(error))
    with use_language(language):
        _run()


def _run() -> None:
    try:
        app(prog_name="gonie", standalone_mode=True)
    except GonieError as error:
        _fail(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discards what is still buffered
        sys.exit(128 + signal.SIGPIPE)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except MemoryError:
        _fail("out of memory. Use smaller batches (--set train.batch_tokens=500) or a smaller model.")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        _fail(str(MissingExtraError(package, extra=EXTRAS[package], purpose="this command")))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}")


def _open_streams() -> None:
    """Open the null device for closed standard streams, so that no file gets their number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (stays open)


def _fail(message: str) -> NoReturn:
    typer.echo(f"gonie: {say(message)}", err=True)
    sys.exit(2)
