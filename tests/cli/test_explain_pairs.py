"""Tests `gonie explain` with a pair model."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]
PAIR = "The plot is fine.\tThe cast is dull."


@pytest.fixture
def run(pair_runs: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Copy a run, because the command writes its figures into the run folder."""

    def copied(kind: str) -> Path:
        shutil.copytree(pair_runs / kind, tmp_path / kind)
        return tmp_path / kind

    return copied


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_a_trained_run_supports_every_method(kind: str, gonie: Gonie, run: Any, tmp_path: Path) -> None:
    folder = run(kind)
    outcome = gonie("explain", folder, PAIR, "--html", tmp_path / "why.html")
    assert outcome.code == 0, outcome.err
    shown = ("attention, share", "integrated gradients, for", "unexplained", "erasure, for")
    for due in (*shown, "plot", "dull"):
        assert due in outcome.out, due
    assert ("value " in outcome.out) == (kind == "values")
    page = (tmp_path / "why.html").read_text("utf-8")
    assert "pairs" in page
    assert re.search(r"measured on \d+ held-out pairs of the dev data", page)
    assert (folder / "faithfulness.json").is_file()


def test_two_text_arguments_equal_one_tab_separated_argument(
    gonie: Gonie, pair_bundle: Any, tmp_path: Path
) -> None:
    write_bundle(tmp_path / "m", pair_bundle())
    one, other = (
        gonie("explain", tmp_path / "m", *texts) for texts in (["good film", "good"], ["good film\tgood"])
    )
    assert (one.code, one.out) == (0, other.out), one.err
    assert gonie("explain", tmp_path / "m", "good", "film", "good").refused(
        "the model needs 2 texts, got 3. Run: gonie explain"
    )


def test_files_of_every_format_are_explained_in_order(gonie: Gonie, pair_bundle: Any, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m" / "bundle", pair_bundle())
    (tmp_path / "a.txt").write_text("good\tgood\n\nbad\tgood\n", "utf-8")
    (tmp_path / "b.tsv").write_text("id\ttext\ttext_pair\tlabel\n1\tgood film\tgood\tother\n", "utf-8")
    (tmp_path / "c.jsonl").write_text('{"text": "bad film", "text_pair": "good"}\n', "utf-8")
    files = [argument for name in ("a.txt", "b.tsv", "c.jsonl") for argument in ("--file", tmp_path / name)]
    outcome = gonie("explain", tmp_path / "m", *files, "--method", "erasure")
    assert outcome.code == 0, outcome.err
    answers = [
        line for line in outcome.out.splitlines() if "txt:" in line or "tsv:" in line or "jsonl:" in line
    ]
    assert [line.split()[0] for line in answers] == ["same", "other", "same", "other"]
    assert "✗ gold is other" in answers[2]
    assert "a.txt:3" in answers[1]


def test_label_selects_the_explained_label(gonie: Gonie, pair_bundle: Any, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", pair_bundle())
    outcome = gonie("explain", tmp_path / "m", "good\tgood", "--label", "other", "--method", "erasure")
    assert outcome.code == 0, outcome.err
    assert "erasure, for other" in outcome.out
    assert "good(-" in outcome.out
    assert gonie("explain", tmp_path / "m", "good\tgood", "--label", "x").refused("unknown label: 'x'")
    write_bundle(tmp_path / "v", pair_bundle(values=True))
    assert gonie("explain", tmp_path / "v", "a\tb", "--label", "same").refused("the model predicts a value")


def test_standard_input_is_explained_in_an_escaped_html_page(
    gonie: Gonie, pair_bundle: Any, tmp_path: Path
) -> None:
    write_bundle(tmp_path / "m", pair_bundle(values=True))
    page = tmp_path / "why.html"
    outcome = gonie("explain", tmp_path / "m", "--html", page, stdin=b"good <script> film\tgood\n")
    assert outcome.code == 0, outcome.err
    assert "<script" not in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("good",), ("the model needs 2 texts, got 1", "TEXT TEXT")),
        (("good\tbad", "--html", "no/x.html"), ("no/x.html", "does not exist. Run: mkdir -p")),
        (("good\tbad", "--method", "gradients"), ("run folder", "need the checkpoint of a run folder")),
        (("good\tbad", "--nbest", "3"), ("--nbest works only with taggers", "is a pair classifier")),
        (("good\tbad", "--on", "none.tsv"), ("none.tsv",)),
        (("good\tbad", "--file", "none.txt"), ("TEXT and --file cannot be combined",)),
    ],
)
def test_invalid_arguments_are_refused_with_a_message(
    gonie: Gonie, pair_bundle: Any, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    write_bundle(tmp_path / "m", pair_bundle())
    assert gonie("explain", tmp_path / "m", *arguments).refused(*words)


def test_invalid_input_is_refused_before_anything_is_measured(gonie: Gonie, run: Any, tmp_path: Path) -> None:
    folder = run("labels")
    (tmp_path / "a.txt").write_text("good\tbad\ngood\n", "utf-8")
    for outcome in (
        gonie("explain", folder, "--file", tmp_path / "a.txt"),
        gonie("explain", folder, stdin=b"good\n"),
    ):
        assert outcome.refused("expected 2 tab-separated texts")
        assert outcome.out == ""
    assert not (folder / "faithfulness.json").exists()


def test_texts_without_words_are_accepted(gonie: Gonie, pair_bundle: Any, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", pair_bundle())
    (tmp_path / "a.txt").write_text(" \tgood\n \t \n", "utf-8")
    outcome = gonie("explain", tmp_path / "m", "--file", tmp_path / "a.txt")
    assert outcome.code == 0, outcome.err
