"""Tests the commands with in-context models: output, the block of counts, the prompt, and refusals."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.language_model import ScriptedModel, refusal
from support.scripted_service import running

Gonie = Callable[..., Any]


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("GONIE_LLM_KEY", "sk-secret")


@pytest.fixture
def endpoint() -> Iterator[ScriptedModel]:
    with running(ScriptedModel()) as model:  # type: ignore[arg-type]
        yield model


def test_evaluate_shows_scores_and_counts_and_answers_again_from_the_cache(
    gonie: Gonie, endpoint: ScriptedModel, toy: Path, tmp_path: Path
) -> None:
    command = (
        *("evaluate", f"llm:{endpoint.url}/v1", toy / "test.conll", "--shots-from", toy / "train.conll"),
        *(
            "--shots",
            2,
            "--llm",
            "prompt_price=1",
            "--llm",
            "completion_price=10",
            "--json",
            tmp_path / "s.json",
        ),
    )
    first = gonie(*map(str, command))
    assert first.code == 0, first.err
    asked = len(endpoint.asked)
    for words in (
        "F1 ",
        "PER",
        "LOC",
        "20 sentences",
        "toy: 20 texts, ",
        "malformed answers: 0 of 20 (0.0%)",
    ):
        assert words in first.out, first.out
    assert "seconds per text" in first.out
    assert "cost 0.0028" in first.out
    record = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert (record["usage"]["texts"], record["usage"]["prompt_tokens"]) == (20, 800)
    second = gonie(*map(str, command))
    assert len(endpoint.asked) == asked
    assert "toy: 20 texts, 20 from the cache, 0 requests" in second.out
    assert second.out.splitlines()[:9] == first.out.splitlines()[:9]
    assert "sk-secret" not in first.out + first.err + (tmp_path / "s.json").read_text("utf-8")
    assert "sk-secret" not in "".join(f.read_text() for f in (tmp_path / "user-cache").rglob("*.json"))


def test_failed_texts_are_named(gonie: Gonie, endpoint: ScriptedModel, toy: Path) -> None:
    endpoint.script = [refusal(400, "too long")]
    found = gonie(
        *("evaluate", f"llm:{endpoint.url}/v1", toy / "test.conll", "--shots-from", toy / "train.conll"),
        *("--llm", "concurrency=1"),
    )
    assert found.code == 0
    assert (
        f"warning: no answer for 1 text, scored as empty: {toy / 'test.conll'}:1 (status 400: too"
        in found.out
    )


def test_an_html_report_is_written(gonie: Gonie, endpoint: ScriptedModel, toy: Path, tmp_path: Path) -> None:
    found = gonie(
        *("evaluate", f"llm:{endpoint.url}/v1", toy / "test.conll", "--shots-from", toy / "train.conll"),
        *("--html", tmp_path / "r.html", "--errors", tmp_path / "e.jsonl"),
    )
    assert found.code == 0, found.err
    assert (tmp_path / "r.html").stat().st_size > 1000
    assert (tmp_path / "e.jsonl").read_text("utf-8").count("\n") > 0


def test_tag_writes_spans_and_counts(gonie: Gonie, endpoint: ScriptedModel, toy: Path) -> None:
    place = f"llm:{endpoint.url}/v1"
    shots = ("--shots-from", toy / "train.conll", "--shots", "1")
    found = gonie("tag", place, "Anna left Oslo.", *shots, "--output", "jsonl")
    assert found.code == 0, found.err
    assert [span["label"] for span in json.loads(found.out)["spans"]] == ["PER", "LOC"]
    assert "note: toy: 1 text, 0 from the cache, 1 request" in found.err
    lines = gonie(
        "tag", place, *shots, "--input", "tokens", "--output", "conll", stdin=b"Anna left\nBert ran\n"
    )
    assert lines.out == "Anna\tB-PER\nleft\tO\n\nBert\tB-PER\nran\tO\n\n"
    pretty = gonie("tag", place, "Anna left Oslo.", *shots)
    assert "[Anna PER] left [Oslo LOC]." in pretty.out


def test_classify_writes_labels(gonie: Gonie, endpoint: ScriptedModel, tmp_path: Path) -> None:
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\nfine film\tgood\nweak film\tbad\n", "utf-8")
    endpoint.write = lambda messages: "good"
    found = gonie(
        *("classify", f"llm:{endpoint.url}/v1", "--shots-from", file, "--llm", "format=lines"),
        *("--output", "jsonl"),
        stdin=b"so fine\n",
    )
    assert found.code == 0, found.err
    assert json.loads(found.out)["label"] == "good"
    score = gonie("evaluate", f"llm:{endpoint.url}/v1", file, "--shots-from", file, "--llm", "format=lines")
    assert score.code == 0, score.err
    assert "50.00" in score.out
    assert "warning: the model was trained on" in score.out


@pytest.mark.parametrize("several", [False, True])
def test_labels_without_probabilities_are_scored_without_calibration(
    gonie: Gonie, endpoint: ScriptedModel, tmp_path: Path, several: bool
) -> None:
    """Probabilities of 1 and 0 would have a calibration error and an AUC that say nothing."""
    file = tmp_path / "test.tsv"
    file.write_text("text\tlabel\nfine film\tgood\nweak film\tbad\nso so\tbad\n", "utf-8")
    endpoint.write = lambda messages: "good"
    own = ("--llm", "format=lines", *(("--llm", "label_separator=|") if several else ()))
    files = ("--json", tmp_path / "s.json", "--html", tmp_path / "s.html", "--errors", tmp_path / "e.jsonl")
    found = gonie("evaluate", f"llm:{endpoint.url}/v1", file, "--shots-from", file, *own, *files)
    assert found.code == 0, found.err
    assert "33.33" in found.out
    page = (tmp_path / "s.html").read_text("utf-8")
    for name in ("Calibration", "calibration", "Brier", "AUC", "log loss", "coverage"):
        assert name not in found.out
        assert name not in page
    record = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert [record[name] for name in ("calibration", "risk_coverage", "auc")] == [None] * 3
    assert record["lengths"] == [], "the number of its tokens is not known"
    errors = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text("utf-8").splitlines()]
    assert {error["confidence"] for error in errors} == {1.0}
    assert {error["gold_probability"] for error in errors} == {None}


@pytest.mark.parametrize("command", ["tag", "evaluate", "classify"])
def test_the_prompt_is_printed_and_nothing_is_sent(
    gonie: Gonie, endpoint: ScriptedModel, toy: Path, tmp_path: Path, command: str
) -> None:
    texts = tmp_path / "train.tsv"
    texts.write_text("text\tlabel\nfine film\tgood\nweak film\tbad\n", "utf-8")
    shots, given = {
        "tag": (toy / "train.conll", "Zoe left"),
        "classify": (texts, "Zoe left"),
        "evaluate": (toy / "train.conll", toy / "test.conll"),
    }[command]
    found = gonie(
        command, f"llm:{endpoint.url}/v1", given, "--shots-from", shots, "--shots", 2, "--show-prompt"
    )
    assert found.code == 0, found.err
    assert found.out.startswith("[system]\n")
    assert found.out.count("[user]") == 3
    assert endpoint.seen == []
    assert "0 of 0" not in found.out + found.err


def test_the_prompt_in_the_guide_is_exact(gonie: Gonie) -> None:
    page = (Path(__file__).parents[2] / "docs" / "in-context.md").read_text("utf-8")
    found = re.search(r"<!-- run -->\n```sh\ngonie (.+)\n```\n\n```text\n(.+?)```", page, re.DOTALL)
    assert found is not None
    assert gonie(*shlex.split(found[1])).out == found[2]


def test_options_of_language_models_need_one(gonie: Gonie, toy: Path, toy_run: Path) -> None:
    for option in (
        ("--shots-from", toy / "train.conll"),
        ("--shots", 3),
        ("--llm", "shots=3"),
        ("--show-prompt",),
    ):
        assert gonie("tag", toy_run, "Anna", *option).refused(
            option[0], "only to in-context models", str(toy_run)
        )
    assert gonie("evaluate", "llm:http://127.0.0.1:1/v1", toy / "test.conll").refused(
        "the labels are not known"
    )
    twice = ("--shots", 3, "--llm", "shots=4", "--shots-from", toy / "train.conll")
    assert gonie("tag", "llm:http://127.0.0.1:1/v1", "Anna", *twice).refused("shots is given twice")


def test_other_commands_refuse_an_address(gonie: Gonie, toy: Path, tmp_path: Path) -> None:
    place = "llm:http://127.0.0.1:1/v1"
    told = f"{place} is an in-context model, but this needs a trained one"
    assert gonie("explain", place, "Anna").refused(told)
    assert gonie("export", place, "--out", tmp_path / "b").refused(told)
    assert gonie(
        "tag",
        place,
        "--file",
        toy / "test.conll",
        "--out",
        tmp_path / "o",
        "--shots-from",
        toy / "train.conll",
    ).refused("--out needs the model itself")


def test_advice_on_the_examples_is_what_the_command_takes(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    """It has neither --set nor --format, or has them for other files."""
    place, file = "llm:http://127.0.0.1:1/v1", tmp_path / "train.csv"
    file.write_text("text,label\na film,good\nthe book,bad\n", "utf-8")
    told = "choose the format with gonie data convert FILE --format NAME --to FORMAT --out NEW"
    assert gonie("tag", place, "Anna", "--shots-from", file).refused(told)
    distil = ("distill", place, toy / "toy.toml", "--text", file, "--shots-from", file)
    assert gonie(*distil, "--out", tmp_path / "run").refused(told)
    assert gonie("export", toy_run, "--data", file, "--out", tmp_path / "bundle").refused(told)
    columns = tmp_path / "columns.jsonl"
    columns.write_text('{"tokens": ["Anna"], "ner_tags": ["B-PER"], "pos_tags": ["B-X"]}\n', "utf-8")
    own = ("--shots-from", columns, "--llm", "tag_column=tags")
    assert gonie("tag", place, "Anna", *own).refused("with --llm tag_column=NAME")


@pytest.mark.parametrize("option", [("--bias", "PER=1"), ("--decode", "posterior"), ("--nbest", "3")])
def test_what_needs_probabilities_is_refused_before_anything_is_asked(
    gonie: Gonie, endpoint: ScriptedModel, toy: Path, option: tuple[str, str]
) -> None:
    place, shots = f"llm:{endpoint.url}/v1", ("--shots-from", toy / "train.conll")
    told = "does not work with in-context models, whose answers have no probabilities"
    assert gonie("tag", place, "Anna", *shots, *option).refused(option[0], told)
    if option[0] != "--nbest":
        assert gonie("evaluate", place, toy / "test.conll", *shots, *option).refused(option[0], told)
    assert endpoint.seen == []


def test_no_endpoint_is_a_sentence(gonie: Gonie, toy: Path) -> None:
    found = gonie(
        *(
            "tag",
            "llm:http://127.0.0.1:1/v1",
            "Anna",
            "--shots-from",
            toy / "train.conll",
            "--llm",
            "retries=0",
        )
    )
    assert found.refused("cannot connect to http://127.0.0.1:1/v1")


def test_ctrl_c_keeps_the_cache(endpoint: ScriptedModel, toy: Path, tmp_path: Path) -> None:
    endpoint.slow = 0.3
    command = [sys.executable, "-m", "gonie", "evaluate", f"llm:{endpoint.url}/v1", str(toy / "test.conll")]
    command += ["--shots-from", str(toy / "train.conll"), "--llm", "concurrency=1"]
    with subprocess.Popen(
        command, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        until = time.monotonic() + 60
        while len(endpoint.asked) < 4 and time.monotonic() < until:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
    assert run.returncode == 130
    kept = list((tmp_path / "user-cache").rglob("*.json"))
    assert len(kept) >= 2
    asked = len(endpoint.asked)
    endpoint.slow = 0
    again = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "20 texts" in again.stdout
    texts = {json.dumps(body["messages"]) for body in endpoint.asked[asked:]}
    assert not texts & {json.dumps(body["messages"]) for body in endpoint.asked[: len(kept)]}
