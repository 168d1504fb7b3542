"""The options of in-context models (``llm:URL``, ``llm:FILE.gguf``), which three commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from gonie.errors import InputError
from gonie.tasks.load import is_in_context

PANEL = "In-context models"
ShotsFrom = Annotated[
    Path | None,
    typer.Option(
        "--shots-from",
        metavar="FILE",
        help="Labelled file for a model llm:URL or llm:FILE.gguf: its labels are predicted, and its examples "
        "that are most similar to a text are shown with it.",
        rich_help_panel=PANEL,
    ),
]
Shots = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="Number of examples shown. Default: 5.", rich_help_panel=PANEL),
]
LlmSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--llm",
        metavar="KEY=VALUE",
        help="Another setting of the language model: model, format (json, lines, inline), language (en, ko), "
        "describe.LABEL, temperature, max_tokens, timeout, retries, concurrency, cache, prompt_price, "
        "completion_price, context, threads and others. Repeatable.",
        rich_help_panel=PANEL,
    ),
]
ShowPrompt = Annotated[
    bool,
    typer.Option(
        "--show-prompt",
        help="Print the messages for the first text and send nothing.",
        rich_help_panel=PANEL,
    ),
]


def in_context_options(
    model: Path,
    *,
    shots_from: Path | None,
    shots: int | None,
    llm: list[str] | None,
    show_prompt: bool,
    task: str | None = None,
) -> dict[str, Any]:
    """Return the options for loading an in-context model: none for other models, which refuse them."""
    given = {
        "--shots-from": shots_from is not None,
        "--shots": shots is not None,
        "--llm": bool(llm),
        "--show-prompt": show_prompt,
    }
    if not is_in_context(model):
        if wrong := [name for name, is_given in given.items() if is_given]:
            raise InputError(
                f"{', '.join(wrong)} {'applies' if len(wrong) == 1 else 'apply'} only to in-context models, "
                f"not to {model}",
                fix="Pass llm:http://HOST:PORT/v1 or llm:FILE.gguf as MODEL",
            )
        return {}
    from gonie.in_context.settings import parse_settings

    found = parse_settings(llm or ())
    for name, value in (("shots_from", shots_from), ("shots", shots)):
        if value is not None and name in found:
            raise InputError(
                f"{name} is given twice: by --{name.replace('_', '-')} and by --llm", fix="Remove one"
            )
        if value is not None:
            found[name] = value
    if task is not None:
        found["task"] = task
    return {**found, "show_prompt": True} if show_prompt else found


def refuse_decoding(model: Path, *, decode: str, bias: list[str] | None, nbest: int | None = None) -> None:
    """Refuse options that need probabilities with an in-context model, before its server is asked."""
    given = {f"--decode {decode}": decode != "viterbi", "--bias": bool(bias), "--nbest": nbest is not None}
    if is_in_context(model) and (wrong := [name for name, is_given in given.items() if is_given]):
        from gonie.in_context.tagger import no_probabilities

        raise no_probabilities(wrong[0])


@contextmanager
def printing_prompt(show_prompt: bool) -> Iterator[None]:
    """Print the messages for the first text, if asked for, instead of sending them."""
    if not show_prompt:
        yield
        return
    from gonie.cli.views.stream_output import put
    from gonie.in_context.chat import PromptShown

    try:
        yield
    except PromptShown as shown:
        for message in shown.messages:
            put(f"[{message['role']}]\n{message['content']}\n\n")
        return
    raise InputError("there is no text to show a prompt for", fix="Pass a text or a file with texts")
