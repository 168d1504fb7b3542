"""Tests `gonie explain` with taggers and classifiers: every source of texts, and refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]
SAMPLES = ("good film", "the bad film", "bad", "good good", "the film")


@pytest.fixture
def reviews(tmp_path: Path, text_bundle: Any) -> Path:
    """Write a run folder with held-out texts but no checkpoint: good is positive and bad is negative."""
    folder = tmp_path / "reviews"
    folder.mkdir()
    write_bundle(folder / "bundle", text_bundle(recipe={"data": {"text_column": "review"}}))
    lines = (json.dumps({"review": text, "label": "positive"}) for text in SAMPLES)
    (folder / "samples.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


def test_a_classified_text_is_explained_before_the_attention_caveat(gonie: Gonie, reviews: Path) -> None:
    outcome = gonie("explain", reviews, "the good film")
    assert outcome.code == 0, outcome.err
    assert outcome.out.index("good(+1.333)") < outcome.out.index("Attention is not by itself an explanation")
    shown = ("positive · 0.", "attention, share of the text", "erasure, for positive", "good(+1.333)")
    measured = ("over 5 texts", "measured on 5 held-out texts of the dev data", "only 5 texts, too few")
    for due in (*shown, *measured, "Integrated gradients skipped"):
        assert due in outcome.out, due


def test_faithfulness_figures_are_cached_until_the_samples_change(gonie: Gonie, reviews: Path) -> None:
    kept = reviews / "faithfulness.json"
    assert gonie("explain", reviews, "good").code == 0
    first = json.loads(kept.read_text("utf-8"))
    assert {each["method"] for each in first["figures"]} == {
        "attention",
        "erasure",
        "random",
        "uniform attention",
    }
    marked = {**first, "figures": [{**each, "texts": 777} for each in first["figures"]]}
    kept.write_text(json.dumps(marked), "utf-8")
    assert "over 777 texts" in gonie("explain", reviews, "bad").out
    (reviews / "samples.jsonl").write_text('{"review": "good"}\n{"review": "bad film"}\n', "utf-8")
    assert "over 2 texts" in gonie("explain", reviews, "bad").out


def test_label_selects_the_explained_label(gonie: Gonie, reviews: Path) -> None:
    outcome = gonie("explain", reviews, "good film", "--label", "negative", "--method", "erasure")
    assert outcome.code == 0, outcome.err
    assert "erasure, for negative" in outcome.out
    assert "good(-" in outcome.out
    assert "attention," not in outcome.out.split("positive · 0.")[1]
    assert gonie("explain", reviews, "good", "--label", "dull").refused(
        "Use one of negative, positive", "dull"
    )


def test_files_of_every_format_are_explained_in_order(gonie: Gonie, reviews: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("good\n\nbad\n", "utf-8")
    (tmp_path / "b.tsv").write_text("id\treview\tlabel\n1\tgood film\tnegative\n", "utf-8")
    (tmp_path / "c.jsonl").write_text('{"review": "bad film"}\n', "utf-8")
    files = [argument for name in ("a.txt", "b.tsv", "c.jsonl") for argument in ("--file", tmp_path / name)]
    outcome = gonie("explain", reviews, *files, "--method", "erasure")
    assert outcome.code == 0, outcome.err
    answers = [
        line for line in outcome.out.splitlines() if "txt:" in line or "tsv:" in line or "jsonl:" in line
    ]
    assert [line.split()[0] for line in answers] == ["positive", "negative", "positive", "negative"]
    assert "✗ gold is negative" in answers[2]
    assert "a.txt:3" in answers[1]


@pytest.mark.long
def test_a_trained_run_supports_every_method(gonie: Gonie, tmp_path: Path) -> None:
    rows = "".join(f"{said}\t{word} film\n" for said, word in [("yes", "good"), ("no", "bad")] * 10)
    (tmp_path / "train.tsv").write_text(f"label\ttext\n{rows}", "utf-8")
    small = {"model.words.width": 4, "model.chars.kind": "none", "model.encoder.hidden": 4, "train.epochs": 1}
    splits = {f"data.{split}": tmp_path / "train.tsv" for split in ("train", "dev", "test")}
    settings = [f"{key}={value}" for key, value in {**small, **splits, "train.device": "cpu"}.items()]
    run = tmp_path / "run"
    trained = gonie(
        "train", "subjectivity", *(part for each in settings for part in ("--set", each)), "--out", run
    )
    assert trained.code == 0, trained.err
    outcome = gonie("explain", run, "good film")
    assert outcome.code == 0, outcome.err
    for due in (
        "attention, share",
        "integrated gradients, for",
        "unexplained",
        "erasure, for",
        "held-out texts of the dev data",
    ):
        assert due in outcome.out, due


def test_standard_input_is_explained_in_an_escaped_html_page(
    gonie: Gonie, reviews: Path, tmp_path: Path
) -> None:
    page = tmp_path / "why.html"
    outcome = gonie("explain", reviews, "--html", page, stdin=b"good <script> film\n")
    assert outcome.code == 0, outcome.err
    html = page.read_text("utf-8")
    assert "<script" not in html
    assert "too few for a verdict" in html
    assert f"page: {page}" in outcome.out


def test_without_held_out_texts_the_measured_texts_are_named(
    gonie: Gonie, reviews: Path, tmp_path: Path
) -> None:
    bundle = reviews / "bundle"
    outcome = gonie("explain", bundle, "good film")
    assert "measured on these texts" in outcome.out
    assert "only 1 text, too few for a verdict" in outcome.out
    other = tmp_path / "other.tsv"
    other.write_text("review\ngood\nbad\nthe bad film\n", "utf-8")
    outcome = gonie("explain", bundle, "good film", "--on", other)
    assert "over 3 texts" in outcome.out
    assert "measured on 3 texts of other.tsv" in outcome.out
    assert not (bundle / "faithfulness.json").exists()  # a bundle is never changed


def test_a_tagged_sentence_shows_spans_nbest_and_transitions(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    page, run = tmp_path / "why.html", tmp_path / "run"
    shutil.copytree(toy_run, run)  # the command writes its figures into the run folder
    options = ("--nbest", "2", "--on", toy / "dev.conll", "--html", page)
    outcome = gonie("explain", run, "Anna Kim lives in Seoul .", *options)
    assert outcome.code == 0, outcome.err
    spans = ("Anna Kim PER", "Seoul LOC", "integrated gradients, for PER", "erasure, for LOC")
    others = ("not the model's reasons", "B-PER", "1.  0.", "2.  0.", "spans", "dev.conll", "(start)", "✕")
    for due in (*spans, *others):
        assert due in outcome.out, due
    assert "3.  0." not in outcome.out
    assert "Transition scores" in page.read_text("utf-8")
    assert (run / "faithfulness.json").is_file()


def test_a_bundle_is_explained_without_gradients_and_without_torch(toy_run: Path) -> None:
    code = (
        "import sys; sys.argv = ['gonie', 'explain', sys.argv[1], 'Anna sleeps .']\n"
        "from gonie.cli.main import main\n"
        "try: main()\n"
        "finally: assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, toy_run / "bundle"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Integrated gradients skipped" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--method", "gradients"), ("run folder", "is a bundle")),
        (("--method", "magic"), ("--method", "magic", "Use attention, gradients, erasure")),
        (("--nbest", "3"), ("--nbest works only with taggers", "is a classifier")),
        (("--span", "good=ORG"), ("--span works only with taggers", "is a classifier")),
        (("--nbest", "0"), ("must be between 1 and",)),
        (("--on", "none.tsv"), ("none.tsv",)),
        (("--file", "none.txt"), ("TEXT and --file",)),
    ],
)
def test_options_that_a_classifier_does_not_support_are_refused(
    gonie: Gonie, reviews: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    assert gonie("explain", reviews, "good", *arguments).refused(*words)


def test_a_span_that_is_not_tagged_is_explained(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    text = "Anna Kim lives in Seoul and lives well ."
    outcome = gonie(
        "explain",
        toy_run,
        text,
        "--span",
        "lives=LOC",
        "--span",
        "Seou",
        "--method",
        "erasure",
        "--html",
        page,
    )
    assert outcome.code == 0, outcome.err
    html = page.read_text("utf-8")
    for due in (
        "‘lives’ is not tagged LOC: probability ",
        "The model prefers O (",
        "Their log-odds differ by ",
        "‘Seoul’ is tagged LOC: probability ",
    ):
        assert due in outcome.out, due
        assert due in html, due
    for due in (
        "Against it, by erasure: ",
        "erasure, for LOC",
        "'lives' occurs 2 times, and this is the first.",
    ):
        assert due in outcome.out, due
    assert "'Seou' is not made of whole tokens, so this is about 'Seoul'." in outcome.out
    assert html.index("is not tagged LOC") < html.index("How to read this")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("Anna lives", "--span", "Tokyo=LOC"),
            ("'Tokyo' does not occur in the text", "Copy it from the text"),
        ),
        (("Anna lives", "--span", "anna=PER"), ("'anna' does not occur", "Did you mean 'Anna'?")),
        (
            ("Anna lives", "--span", "Anna=PET"),
            ("unknown type 'PET' of the span 'Anna'", "Use one of", "PER"),
        ),
        (("Anna lives", "--span", "Anna#2=PER"), ("there is no Anna#2: 'Anna' occurs 1 time",)),
        (("Anna lives", "--span", "=PER"), ("no text in the span", "Write TEXT=TYPE")),
        (("It rains. We go.", "--span", ". We=PER"), ("crosses the end of a sentence",)),
        (("--span", "Anna=PER"), ("spans can be asked about only in a text",)),
    ],
)
def test_mistakes_in_a_span_are_explained(
    gonie: Gonie, toy_run: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    assert gonie("explain", toy_run, *arguments, stdin=b"Anna lives\n").refused(*words)


def test_options_that_a_tagger_does_not_support_are_refused(
    gonie: Gonie, toy_run: Path, tmp_path: Path
) -> None:
    assert gonie("explain", toy_run, "Anna", "--label", "PER").refused(
        "--label works only with classifiers", "is a tagger"
    )
    assert gonie("explain", toy_run, "Anna", "--method", "attention").refused("gradients, erasure")
    assert gonie("explain", tmp_path / "none", "Anna").refused("none")


def test_a_text_without_words_is_accepted(gonie: Gonie, reviews: Path, toy_run: Path) -> None:
    assert "(no word)" in gonie("explain", reviews, "  ").out
    outcome = gonie("explain", toy_run, "")
    assert outcome.code == 0, outcome.err
    assert "was not measured" in outcome.out


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("jsonl", '{"review": "the label says good"}\n'),
        ("tsv", "review\tunlabelled\ngood\t1\n"),
        ("csv", 'id,review\n1,"good, label"\n'),
        ("gold.tsv", "review\tlabel\ngood\tpositive\n"),
        ("gold.jsonl", '{"review": "good", "labels": ["positive"]}\n'),
    ],
)
def test_files_are_explained_with_or_without_gold_labels(
    gonie: Gonie, reviews: Path, tmp_path: Path, suffix: str, content: str
) -> None:
    file = tmp_path / f"texts.{suffix}"
    file.write_text(content, "utf-8")
    outcome = gonie("explain", reviews, "--file", file, "--method", "erasure")
    assert outcome.code == 0, outcome.err
    assert ("as gold" in outcome.out) == suffix.startswith("gold")


def test_a_missing_file_is_refused_before_anything_is_measured(
    gonie: Gonie, reviews: Path, toy_run: Path, tmp_path: Path
) -> None:
    for model in (reviews, toy_run):
        assert gonie("explain", model, "--file", tmp_path / "none.txt").refused("none.txt", "file not found")
        assert gonie("explain", model, "good", "--file", tmp_path).refused("TEXT and --file")
    assert not (reviews / "faithfulness.json").exists()
    assert gonie("explain", reviews, "good", "--on", tmp_path / "none.tsv").refused("file not found")
