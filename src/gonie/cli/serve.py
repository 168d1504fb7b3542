"""`gonie serve`: serve models over HTTP."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import typer

from gonie.errors import InputError, MissingExtraError
from gonie.messages import say

PACKAGES = ("fastapi", "uvicorn", "uvloop", "httptools", "prometheus_client")
"""What the extra ``serve`` installs."""
LIMITS = "Limits"
SAFETY = "Access"
ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^/?#@\sA-Z]+")
"""What a browser sends as the origin of a page, or * for all origins."""


def _check_no_urls(arguments: list[str] | None) -> list[str] | None:
    """Refuse the URL of a service in place of a model."""
    from gonie.client.address import is_url

    for argument in arguments or ():
        path = argument.partition("=")[2] or argument
        if is_url(path):
            raise InputError(
                f"gonie serve needs the model itself, not a web address: {path}",
                fix="Pass the run folder or bundle of a model: gonie serve runs/ner",
            )
    return arguments


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL",
            help="Run folders or bundles. A model is named after its folder; NAME=PATH gives another name.",
            show_default=False,
            callback=_check_no_urls,
        ),
    ] = None,
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on. 0.0.0.0: all IPv4 addresses of this machine.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 chooses a free one.")
    ] = 8000,
    workers: Annotated[
        int,
        typer.Option(
            min=1, max=256, help="Number of worker processes, best one per core. Each loads all models."
        ),
    ] = 1,
    watch: Annotated[
        float,
        typer.Option(
            min=0,
            help="Seconds between checks for changed bundles, which are then loaded. 0: only on SIGHUP.",
        ),
    ] = 0.0,
    log: Annotated[Literal["text", "json"], typer.Option(help="Log format on standard error.")] = "text",
    telemetry: Annotated[
        bool, typer.Option("--telemetry", help="Send OpenTelemetry traces to OTEL_EXPORTER_OTLP_ENDPOINT.")
    ] = False,
    max_bytes: Annotated[
        int, typer.Option(min=1, max=1 << 30, help="Maximum bytes per request.", rich_help_panel=LIMITS)
    ] = 1 << 20,
    max_texts: Annotated[
        int, typer.Option(min=1, help="Maximum texts per request.", rich_help_panel=LIMITS)
    ] = 1000,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="Maximum tokens per request.", rich_help_panel=LIMITS)
    ] = 50_000,
    max_queue: Annotated[
        int, typer.Option(min=1, help="Maximum number of waiting requests.", rich_help_panel=LIMITS)
    ] = 256,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.001, help="Seconds after which a request without an answer fails.", rich_help_panel=LIMITS
        ),
    ] = 30.0,
    keys: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File of API keys. Requests then need one of them.", rich_help_panel=SAFETY
        ),
    ] = None,
    new_key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Add a key to --keys, print it and exit. Only its hash is stored.",
            rich_help_panel=SAFETY,
        ),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Allow web pages of this origin to use the service (CORS). Repeatable.",
            rich_help_panel=SAFETY,
        ),
    ] = None,
) -> None:
    """Serve models over HTTP, with a page to try them.

    SIGHUP loads bundles and keys again without failing a request. Ctrl-C and SIGTERM answer all accepted
    requests, then stop.

    Examples:

      gonie serve runs/ner

      gonie serve ner=runs/ner intents=runs/intents --workers 4 --port 9000

      gonie serve --new-key laptop --keys keys.txt

      gonie serve runs/ner --host 0.0.0.0 --keys keys.txt
    """
    if new_key is not None:
        _add_key(keys, new_key)
        return
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError(package, extra="serve", purpose="gonie serve")
    for name, seconds in (("--timeout", timeout), ("--watch", watch)):
        if not isfinite(seconds):
            raise InputError(f"{name} {seconds} is not a number of seconds")
    for origin in cors or ():
        _check_origin(origin)
    _check_host(host)
    from gonie.serve.limits import Limits
    from gonie.serve.logs import EventLog
    from gonie.serve.server import serve as run
    from gonie.serve.settings import ServiceSettings

    settings = ServiceSettings(
        models=_models(models or []),
        host=host,
        port=port,
        workers=workers,
        limits=Limits(bytes=max_bytes, texts=max_texts, tokens=max_tokens, queue=max_queue, seconds=timeout),
        keys=keys,
        origins=cors or [],
        watch=watch,
        telemetry=telemetry,
    )
    if host not in ("127.0.0.1", "localhost", "::1") and keys is None:
        typer.echo(
            say("note: anyone who reaches this address can use the service. Require keys with --keys FILE"),
            err=True,
        )
    run(settings, log=EventLog(log), started=_started)


def _models(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names and folders of the models."""
    from gonie.serve.model_path import ModelPath

    if not arguments:
        raise InputError("no models", fix="Pass one or more run folders or bundles: gonie serve runs/ner")
    for argument in arguments:
        _check_name(argument)
    found = [ModelPath.parse(argument) for argument in arguments]
    for name, times in Counter(model.name for model in found).items():
        if times > 1:
            raise InputError(f"{times} models are named {name}", fix="Give each a different name: NAME=PATH")
    return [(model.name, model.path) for model in found]


def _check_name(argument: str) -> None:
    """Refuse NAME=PATH with a slash in the name. A folder may have an equals sign in its own name."""
    name, _, path = argument.partition("=")
    if "/" in name and path and Path(path).exists() and not Path(argument).exists():
        last = name.rstrip("/").rpartition("/")[2] or "NAME"
        raise InputError(f'the name of a model has no "/": {name}', fix=f"For example: {last}={path}")


def _check_origin(origin: str) -> None:
    """Refuse an origin that no browser sends."""
    if not ORIGIN.fullmatch(origin):
        parts = urlsplit(origin if "://" in origin else f"https://{origin}")
        meant = f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"
        raise InputError(
            f"--cors {origin} matches no web page",
            fix="Write scheme and host without a path: "
            + (meant if ORIGIN.fullmatch(meant) else "https://app.example.org"),
        )


def _check_host(host: str) -> None:
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        raise InputError(
            f"cannot listen on {host}: no such host",
            fix="Pass an address of this machine as --host, or 0.0.0.0 for all of them",
        ) from None


def _add_key(path: Path | None, name: str) -> None:
    if path is None:
        raise InputError("--new-key requires --keys FILE")
    from gonie.serve.keys import add_key

    typer.echo(add_key(path, name))
    typer.echo(say(f"note: the key is not shown again. {path} has only its hash"), err=True)


def _started(address: str, models: Sequence[dict[str, Any]]) -> None:
    names = ", ".join(model["name"] for model in models)
    with suppress(BrokenPipeError):  # nobody reads it
        typer.echo(say(f"Serving {names} on {address}"))
        typer.echo(say(f"Page: {address}/  Routes: {address}/docs  Stop: Ctrl-C"))
