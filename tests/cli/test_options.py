"""Tests the shared options: contradictions and invalid values are refused before any work starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.cli.options import (
    BulkOptions,
    check_nbest,
    check_nbest_range,
    with_seed_and_device,
)
from gonie.errors import InputError
from gonie.tasks.tagging.candidates import MOST

FILES = [Path("a.txt")]


def test_without_out_there_is_no_folder() -> None:
    assert BulkOptions().folder(["text"], []) is None
    assert BulkOptions().folder([], FILES) is None
    assert BulkOptions(out=Path("out"), workers=3).folder([], FILES) == Path("out")


@pytest.mark.parametrize(
    ("options", "texts", "files", "message"),
    [
        ({"engine": "ray"}, [], FILES, "^--engine requires --out$"),
        ({"workers": 2, "shard_size": 5}, [], FILES, "^--workers, --shard-size require --out$"),
        ({"out": Path("o")}, ["text"], [], "--out cannot be combined with TEXT"),
        ({"out": Path("o")}, [], [], "--out requires --file"),
        ({"out": Path("o"), "address": "auto"}, [], FILES, "--address requires --engine ray"),
    ],
)
def test_contradicting_bulk_options_are_refused(
    options: dict[str, Any], texts: list[str], files: list[Path], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        BulkOptions(**options).folder(texts, files)


def test_a_column_needs_no_folder_but_files() -> None:
    assert BulkOptions(column=["a"]).folder([], FILES) is None
    with pytest.raises(InputError, match="--column cannot be combined with TEXT"):
        BulkOptions(column=["a"]).folder(["text"], [])


@pytest.mark.parametrize("number", [-1, 0, MOST + 1, 10**12])
def test_nbest_out_of_range_is_refused(number: int) -> None:
    with pytest.raises(InputError, match=f"--nbest must be between 1 and {MOST}: {number}$"):
        check_nbest_range(number)


@pytest.mark.parametrize("output", [None, "pretty", "jsonl", "parquet"])
def test_nbest_works_with_outputs_that_can_list_candidates(output: str | None) -> None:
    for number in (1, MOST):
        check_nbest(number, output=output, decode="viterbi", bias=None)


def test_without_nbest_nothing_is_refused() -> None:
    check_nbest(None, output="conll", decode="posterior", bias=["1"])


def test_the_command_line_refuses_invalid_nbest_options(gonie: Callable[..., Any], toy_run: Path) -> None:
    for options in (("--nbest", "0"), ("--nbest", "2", "--output", "conll"), ("--nbest", "2", "--bias", "1")):
        assert gonie("tag", toy_run, "Anna", *options).refused("--nbest")
    assert "gonie tag runs/ner --nbest 3" in gonie("tag", "--help").out


def test_seed_and_device_override_set() -> None:
    assert with_seed_and_device(["train.seed=3"], seed=5, device="cpu") == [
        "train.seed=3",
        "train.seed=5",
        "train.device=cpu",
    ]


def test_absent_seed_and_device_change_nothing() -> None:
    assert with_seed_and_device(None, seed=None, device=None) == []
    assert with_seed_and_device(None, seed=0, device=None) == ["train.seed=0"]


@pytest.mark.parametrize(
    "typed",
    [
        "train ner --out {}/x",
        "pretrain elmo-small --text a.txt --out {}/x",
        "compare ner --out {}/x",
        "export runs/ner --out {}/x",
        "export runs/ner --out new --onnx {}/x.onnx",
        "tag runs/ner --file a.txt --out {}/x",
        "classify runs/ner --file a.txt --out {}/x",
        "vectors runs/ner --out {}/x.png",
        "embed runs/ner Anna --out {}/x.npz",
        "explain runs/ner Anna --html {}/x.html",
        "evaluate runs/ner a.conll --json {}/x.json",
        "data convert a.conll --to jsonl --out {}/x.jsonl",
        "data tokenise a.txt --out {}/x.txt",
        "import-elmo options.json weights.hdf5 --out {}/x",
        "demo --out {}/x",
    ],
)
def test_every_command_checks_its_output_first(gonie: Callable[..., Any], tmp_path: Path, typed: str) -> None:
    """The model and the input do not exist either, so an error about them would show that they came first."""
    file = tmp_path / "file"
    file.write_text("x", "utf-8")
    assert gonie(*typed.format(file).split()).refused(f"cannot write {file}/x")


@pytest.mark.parametrize(
    "typed",
    [
        "explain runs/ner --file {0} --html {1}",
        "explain runs/ner Anna --on {0} --html {1}",
        "export runs/ner --out new --data {0} --onnx {1}",
        "embed en --file {0} --out {1}",
        "evaluate runs/ner {0} --json {1}",
        "evaluate runs/ner {0} --html {1}",
        "evaluate runs/ner news=other.conll web={0} --errors {1}",
        "vectors runs/ner --words {0} --out {1}",
        "data convert {0} --to jsonl --out {1}",
        "data tokenise {0} --out {1}",
    ],
)
def test_no_command_overwrites_its_input(
    gonie: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    """Also if the two paths are written differently."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.svg").write_text("Anna B-PER\n", "utf-8")
    (tmp_path / "link.svg").symlink_to("mine.svg")
    for output in ("mine.svg", "./mine.svg", str(tmp_path / "mine.svg"), "link.svg"):
        assert gonie(*typed.format("mine.svg", output).split()).refused(
            f"cannot write {output.removeprefix('./')}: it is an input file. Choose another file"
        )
    assert (tmp_path / "mine.svg").read_text("utf-8") == "Anna B-PER\n"


@pytest.mark.parametrize(
    ("words", "position", "expected"),
    [
        ("gonie train cl", 2, {"classify", "classify-ko"}),
        ("gonie pretrain elmo-", 2, {"elmo-ko", "elmo-small"}),
        ("gonie train classify --set model.bag.w", 4, {"model.bag.words="}),
        ("gonie train ner --set model.bag.w", 4, set()),
        ("gonie compare ner --set train.epo", 4, {"train.epochs="}),
        ("gonie tra", 1, {"train"}),
    ],
)
def test_the_shell_completes_recipes_and_keys(words: str, position: int, expected: set[str]) -> None:
    """As bash asks for completions, in a process of its own."""
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(position), "_GONIE_COMPLETE": "complete_bash"}
    ended = subprocess.run(
        [sys.executable, "-m", "gonie"],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,  # 1 if there is nothing to complete
    )
    assert set(ended.stdout.split()) == expected
    assert ended.stderr == ""
