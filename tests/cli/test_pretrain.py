"""Tests `gonie pretrain`: its output, the files it writes, and refusals of unusable text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.tasks.recipe import load_recipe

Gonie = Callable[..., Any]


def test_pretraining_is_shown_and_written_to_its_folder(gonie: Gonie, prose: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    outcome = gonie(
        "pretrain", prose / "pretrain.toml", "--out", out, "--set", "train.epochs=2", "--seed", "5"
    )
    assert outcome.code == 0, outcome.err
    for words in (
        "of held-out words are not in the vocabulary",
        "in the softmax, on cpu",
        "per epoch, 2 epochs",
        "MiB used",
        "epoch   1  loss",
        "epoch   2  loss",
        "held-out perplexity",
        "tokens/s",
        "ETA",
        "MB without the softmax",
        f'gonie embed {out} "your text"',
    ):
        assert words in outcome.out, words
    recipe = load_recipe(out / "recipe.toml", command="pretrain")
    assert (recipe.train.epochs, recipe.train.seed) == (2, 5)
    records = [json.loads(line) for line in (out / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [record["epoch"] for record in records] == [1, 2]
    assert set(records[0]["perplexity"]) == {"ahead", "back"}
    again = gonie("pretrain", prose / "pretrain.toml", "--out", out, "--resume")
    assert again.code == 0, again.err
    assert "training is complete" in again.out


BAD_TEXTS: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "a broken encoding": (b"Fine so far.\nCaf\xe9 au lait.\n", ("UTF-8", "bad.txt:2")),
    "empty file": (b"", ("bad.txt",)),
    "a vocabulary of one word": (b"word word word\n" * 50, ("fewer than 2 words", "'word'")),
    "too little text": (b"A few words only. And two more here.\n", ("rows", "steps")),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_unusable_text_is_refused_with_a_message(
    name: str, gonie: Gonie, prose: Path, tmp_path: Path
) -> None:
    content, words = BAD_TEXTS[name]
    bad = tmp_path / "bad.txt"
    bad.write_bytes(content)
    out = tmp_path / "run"
    arguments = ("--text", bad, "--set", f"data.heldout={prose / 'heldout.txt'}", "--out", out)
    assert gonie("pretrain", prose / "pretrain.toml", *arguments).refused(*words)
    assert not out.exists(), "a run that could not begin leaves nothing"
    assert bad.read_bytes() == content


def test_a_shipped_recipe_requires_a_text(gonie: Gonie) -> None:
    assert gonie("pretrain", "elmo").refused("data.text", "--text FILE")


def test_a_recipe_of_another_task_is_refused(gonie: Gonie, prose: Path) -> None:
    assert gonie("pretrain", "ner").refused("gonie train")
    assert gonie("train", prose / "pretrain.toml").refused("gonie pretrain")


def test_a_run_is_resumed_by_the_command_that_started_it(gonie: Gonie, toy_bilm: Path, toy_run: Path) -> None:
    assert gonie("train", "ner", "--out", toy_bilm, "--resume").refused("gonie pretrain")
    assert gonie("pretrain", "elmo", "--out", toy_run, "--resume").refused("gonie train")
