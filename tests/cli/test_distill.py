"""`gonie distill`: what it prints, what it leaves, and how mistakes are explained."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gonie as package
from gonie.tasks.run_files import TEACHER
from gonie.tasks.teacher import INDEX, Answers
from support.few_names import RECIPE, conll, entities, sentences
from support.language_model import ScriptedModel
from support.scripted_service import running

Command = Callable[..., Any]
PATIENCE = 300
"""Seconds before a process is considered to hang; a busy machine is slow."""

SLOW = """
import sys, time
from gonie.tasks import teacher
from gonie.tasks.tagging.answers import TaggerTeacher
teacher.SAVED_EVERY = 0.3
answers = TaggerTeacher.answers
def slowly(self, examples):
    for answer in answers(self, examples):
        time.sleep(0.05)
        yield answer
TaggerTeacher.answers = slowly
from gonie.cli.main import main
main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files, and train a teacher."""
    folder = tmp_path_factory.mktemp("distill")
    for name, number, seed in (("many", 80, 1), ("few", 5, 2), ("dev", 20, 3), ("test", 20, 4)):
        (folder / f"{name}.conll").write_text(conll(sentences(number, seed)), "utf-8")
    for name in ("a", "b"):
        texts = (" ".join(word for word, _ in block) for block in sentences(100, ord(name)))
        (folder / f"{name}.txt").write_text("\n".join(texts) + "\n", "utf-8")
    for train in ("many", "few"):
        (folder / f"{train}.toml").write_text(RECIPE.format(folder=folder, train=train), "utf-8")
    package.train(folder / "many.toml", out=folder / "teacher", set={"train.epochs": 3}, progress=False)
    return folder


def arguments(folder: Path, out: Path, *more: str) -> list[str]:
    texts = [str(folder / "a.txt"), str(folder / "b.txt")]
    own = [str(folder / "teacher"), str(folder / "few.toml"), "--text", *texts]
    return ["distill", *own, "--set", "train.epochs=2", "--out", str(out), *more]


def test_a_table_compares_teacher_and_student(gonie: Command, folder: Path, tmp_path: Path) -> None:
    """Files after --text are text too, as the shell expands --text *.txt."""
    out = tmp_path / "run"
    done = gonie(*arguments(folder, out, "--compare", "--nbest", "2", "--confidence", "0.2"))
    assert done.code == 0, done.err
    table = done.out[done.out.index("tokens/s    ") :] if "tokens/s    " in done.out else done.out
    rows = re.findall(r"^(teacher|student without teacher|student) +([\d.]+) ", table, re.MULTILINE)
    assert [name for name, _ in rows] == ["teacher", "student", "student without teacher"]
    saved = json.loads((out / "distillation.json").read_text("utf-8"))["models"]
    assert [f"{100 * model['score']:.2f}" for model in saved] == [score for _, score in rows]
    texts = {line for name in "ab" for line in (folder / f"{name}.txt").read_text("utf-8").splitlines()}
    assert len(Answers.open(out / TEACHER)) == len(texts)
    assert f"the teacher has answered {len(texts)} unlabelled examples" in done.out
    recipe = (out / "recipe.toml").read_text("utf-8")
    assert "confidence = 0.2" in recipe
    assert package.load(out)("Anna lives in Rome .").text


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--ensemble", "{folder}/none"], "folder not found"),
        (["--map", "PER"], "invalid label map: 'PER'"),
        (["--map", "ORG=PER"], "the teacher has no label 'ORG', which --map renames"),
        (["--set", "loss.teacher.pahts=1"], "did you mean"),
        (["--resume"], "no answers of a teacher to resume from"),
    ],
)
def test_mistakes_are_explained(
    gonie: Command, folder: Path, tmp_path: Path, more: list[str], told: str
) -> None:
    out = tmp_path / "run"
    done = gonie(*arguments(folder, out, *(each.format(folder=folder) for each in more)))
    assert done.code == 2
    assert told in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert not out.exists()


def test_text_is_required(gonie: Command, folder: Path) -> None:
    done = gonie("distill", folder / "teacher", folder / "few.toml")
    assert done.code == 2
    assert "no unlabelled text. Pass files with --text FILE" in " ".join(done.err.split())


def test_ctrl_c_keeps_the_answers_and_says_how_to_resume(folder: Path, tmp_path: Path) -> None:
    """A real signal while a slow teacher answers. The printed command goes on where it stopped."""
    out = tmp_path / "run"
    command = [sys.executable, "-c", SLOW, *arguments(folder, out)]
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not (out / TEACHER / INDEX).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    kept = len(Answers.open(out / TEACHER))
    assert kept > 0
    again = shlex.split(shown.partition("Resume with:")[2])
    assert again[:2] == ["gonie", "distill"]
    assert "--resume" in again
    command = [sys.executable, "-m", *again]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"the teacher has answered {kept} of " in done.stdout
    assert (out / "bundle").is_dir()


def test_ctrl_c_before_the_first_answer_leaves_nothing_to_resume(
    gonie: Command, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(teacher: object, examples: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("gonie.tasks.tagging.answers.TaggerTeacher.answers", interrupted)
    done = gonie(*arguments(folder, tmp_path / "run"))
    assert done.code == 130
    assert "Stopped before the first answer; nothing is saved." in done.out
    assert "--resume" not in done.out
    assert not (tmp_path / "run").exists()


def test_an_in_context_teacher_shows_what_it_costs(
    gonie: Command, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    recipe = ("--set", "train.epochs=1", "--out", tmp_path / "run")
    with running(ScriptedModel(lambda messages: entities(messages[-1]["content"]))) as endpoint:  # type: ignore[arg-type]
        place = f"llm:{endpoint.url}/v1"
        own = ("distill", place, folder / "few.toml", "--text", folder / "a.txt", *recipe)
        assert gonie(*own).refused("the labels are not known")
        done = gonie(
            *own,
            *("--shots-from", folder / "few.conll", "--shots", "1"),
            *("--llm", "prompt_price=1", "--llm", "completion_price=10"),
        )
    assert done.code == 0, done.err
    texts = len(set((folder / "a.txt").read_text("utf-8").splitlines())) + 20  # of the test file
    usage = done.out[done.out.index("toy: ") :]
    assert usage.startswith(f"toy: {texts} texts, ")
    assert f"tokens: {40 * texts:,} in prompts, {10 * texts:,} in answers" in usage
    assert f"cost {(40 + 100) * texts / 1e6:.4f}" in usage
    assert "seconds per text" in usage


def test_options_of_in_context_models_need_one(gonie: Command, folder: Path, tmp_path: Path) -> None:
    done = gonie(*arguments(folder, tmp_path / "run", "--shots", "2"))
    assert done.refused("--shots", "only to in-context models")
