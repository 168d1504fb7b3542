"""Tests the command line as a whole: help texts, error messages and exit status."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import typer.main

from gonie import __version__
from gonie.cli import main as module
from gonie.errors import InputError

COMMANDS = sorted(typer.main.get_command(module.app).commands)  # type: ignore[attr-defined]
Gonie = Callable[..., Any]


def text(shown: str) -> str:
    """Return a help text without its boxes."""
    return re.sub(r"[│╭╰─╮╯\s]+", " ", shown)


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_every_command_with_a_description(gonie: Gonie, flag: str) -> None:
    outcome = gonie(flag)
    assert outcome.code == 0
    for command in COMMANDS:
        assert re.search(rf"\b{command}\b \w+", text(outcome.out)), command


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(gonie: Gonie, command: str) -> None:
    outcome = gonie(command, "--help")
    assert outcome.code == 0
    assert f"gonie {command}" in outcome.out


@pytest.mark.parametrize("command", ["train", "evaluate", "tag"])
def test_help_shows_example_commands(gonie: Gonie, command: str) -> None:
    shown = text(gonie(command, "--help").out)
    assert "Examples:" in shown
    assert len(re.findall(rf"gonie {command} runs/ner|gonie {command} ner", shown)) >= 2


def test_help_of_train_lists_its_options(gonie: Gonie) -> None:
    shown = text(gonie("train", "--help").out)
    for words in ("--set KEY=VALUE", "--out", "--resume", "--seed", "--device", "mine.conll"):
        assert words in shown


@pytest.mark.parametrize("command", [["train"], ["data", "check"], []])
def test_help_shows_flags_without_a_value(gonie: Gonie, command: list[str]) -> None:
    assert "<bool>" not in gonie(*command, "--help").out


def test_no_command_shows_help(gonie: Gonie) -> None:
    outcome = gonie()
    assert outcome.code == 2
    assert "Usage: gonie" in text(outcome.out + outcome.err)


def test_version_prints_the_version(gonie: Gonie) -> None:
    outcome = gonie("--version")
    assert (outcome.code, outcome.out) == (0, f"gonie {__version__}\n")


def test_an_unknown_command_is_refused(gonie: Gonie) -> None:
    assert gonie("trian").refused("trian")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InputError("file not found", path="x.conll", line=3), 2, "x.conll:3: file not found"),
        (MemoryError(), 2, "out of memory"),
        (OSError(28, "No space left on device", "out.json"), 2, "out.json: No space left on device"),
        (OSError("odd"), 2, "odd"),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_errors_become_messages_with_an_exit_status(
    gonie: Gonie, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    def fail(**settings: object) -> None:
        raise error

    monkeypatch.setattr(module, "app", fail)
    outcome = gonie("tag")
    assert outcome.code == code
    assert outcome.err == (f"gonie: {words}{outcome.err.partition(words)[2]}" if words else "")
    assert outcome.err.count("\n") <= 2


def test_a_bug_is_not_hidden(gonie: Gonie, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only expected errors become messages; a bug in gonie must show its traceback."""

    def fail(**settings: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(module, "app", fail)
    with pytest.raises(ZeroDivisionError):
        gonie("tag")


def test_a_closed_pipe_prints_no_error() -> None:
    """As in `gonie data stats FILE | head -1`, the reader ends before gonie writes."""
    script = f"(sleep 0.1; {sys.executable} -m gonie --help) | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stderr == ""
    assert ended.stdout.strip() in ("0", "1", "141")


def test_the_package_runs_as_a_module() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "gonie", "--version"], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout == f"gonie {__version__}\n"
