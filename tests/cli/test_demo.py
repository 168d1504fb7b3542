"""Tests `gonie demo` end to end on a part of its corpora, and runs the commands that it prints."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gonie.training.run  # noqa: F401 (loaded before load_recipe is replaced, so that it keeps its own)
from gonie.cli import demo as module
from gonie.tasks import recipe as recipes
from gonie.tasks.tagging.recipe import TagRecipe
from support.korean_words import english_words, own_names

Gonie = Callable[..., Any]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Shrink the demo's recipes to one epoch on the first sentences of the corpora."""
    load = recipes.load_recipe
    for name, suffix, blank in (("english", "conll", "\n\n"), ("korean", "klue", "\n## klue")):
        for split in ("train", "dev", "test"):
            text = recipes.locate(f"bundled:{name}/{split}.{suffix}").read_text("utf-8")
            (tmp_path / f"{name}-{split}.{suffix}").write_text(
                blank.join(text.split(blank)[:12]) + "\n", "utf-8"
            )

    def shrink(name: str, changes: Any = (), *, command: str = "train") -> TagRecipe:
        language = "korean" if name == "demo-ko" else "english"
        suffix = "klue" if language == "korean" else "conll"
        files = [f"data.{split}={tmp_path}/{language}-{split}.{suffix}" for split in ("train", "dev", "test")]
        return load(name, [*changes, *files, "train.epochs=1", "model.encoder.hidden=8", "train.device=cpu"])

    monkeypatch.setattr(recipes, "load_recipe", shrink)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("small")
def test_the_demo_writes_its_reports_and_its_commands_work(gonie: Gonie, tmp_path: Path) -> None:
    outcome = gonie("demo", "--out", "my runs/demo")
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("test F1") == 2
    assert (tmp_path / "my runs/demo/report.html").is_file()
    assert "David" in (tmp_path / "my runs/demo/why.html").read_text("utf-8")
    commands = [
        line.strip() for line in outcome.out.splitlines() if line.startswith("  ") and "gonie " in line
    ]
    assert len(commands) >= 6
    assert any("train ner " in command for command in commands)
    for command in commands:
        _paste(gonie, command)


@pytest.mark.usefixtures("small")
def test_the_demo_speaks_korean(gonie: Gonie, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GONIE_LANG", "ko")
    outcome = gonie("demo", "--out", "runs/demo")
    assert outcome.code == 0, outcome.err
    shown = (outcome.out + outcome.err).replace(module.ENGLISH_SENTENCE, "")
    assert english_words(shown, {*own_names(), "echo"}) == []


def _paste(gonie: Gonie, command: str) -> None:
    """Run a printed command like a shell: without its comment, with the echoed text as input."""
    stdin = b""
    if "|" in command:
        echo, _, command = command.partition("|")
        stdin = shlex.split(echo)[1].encode() + b"\n"
    program, *arguments = shlex.split(command, comments=True)
    assert Path(program).name == "gonie"
    outcome = gonie(*arguments, stdin=stdin)
    assert outcome.code == 0, f"{command}\n{outcome.err}"
    if "jsonl" in command:
        assert json.loads(outcome.out)["text"] == "John lives in New York."


@pytest.mark.usefixtures("small")
def test_an_interrupted_demo_can_be_run_again(
    gonie: Gonie, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users often press Ctrl-C in the first minute; the second try must not be refused."""
    out = tmp_path / "demo"
    from gonie.training import run

    start = run.start_run
    monkeypatch.setattr(run, "start_run", lambda *parts, **names: start(*parts, **names) and None)
    assert gonie("demo", "--out", out).code == 130
    assert (out / "recipe.toml").is_file()
    (out / "notes.txt").write_text("mine")
    monkeypatch.setattr(run, "start_run", start)
    assert gonie("demo", "--out", out).code == 0
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.usefixtures("small")
def test_a_run_of_another_recipe_is_not_overwritten(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "precious"
    shutil.copytree(toy_run, out)
    (out / "example.conll").write_text("of my own")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert gonie("demo", "--out", out).refused("already contains a run")
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_printed_commands_use_the_path_of_the_executable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without an activated environment, the shell does not find `gonie`."""
    program = tmp_path / "bin" / "gonie"
    program.parent.mkdir()
    program.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(program)])
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert module._executable() == "bin/gonie"
    monkeypatch.setattr(shutil, "which", lambda name: str(program))
    assert module._executable() == "gonie"


def test_the_example_sentences_are_from_the_bundled_test_files() -> None:
    english = recipes.locate("bundled:english/test.conll").read_text("utf-8")
    assert (
        "\n".join(line.split("\t")[0] for line in english.splitlines())
        .replace("\n", " ")
        .count(module.ENGLISH_SENTENCE)
    )
    korean = recipes.locate("bundled:korean/test.klue").read_text("utf-8").splitlines()
    said = "".join(line[0] for line in korean if "\t" in line and not line.startswith("##"))
    assert module.KOREAN_SENTENCE in said
