"""Tests `gonie evaluate` by named values, on several files and under noise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]


def conll(path: Path, *sentences: str, year: str = "") -> Path:
    """Write sentences of ``word/TAG``."""
    head = f"# year = {year}\n" if year else ""
    rows = (head + "".join(f"{token.replace('/', chr(9))}\n" for token in each.split()) for each in sentences)
    path.write_text("\n".join(rows), "utf-8")
    return path


@pytest.fixture
def years(tmp_path: Path) -> Path:
    path = tmp_path / "years.conll"
    blocks = []
    for year, tag in (("2010", "B-PER"), ("900", "B-LOC")):
        blocks += [f"# year = {year}\nAnna\t{tag}\nlives\tO\nin\tO\nSeoul\tB-LOC\n"] * 3
    path.write_text("\n".join([*blocks, "it\tO\nrains\tO\n"]), "utf-8")
    return path


def test_values_are_scored_one_by_one(gonie: Gonie, toy_run: Path, years: Path, tmp_path: Path) -> None:
    files = ("--json", tmp_path / "s.json", "--html", tmp_path / "r.html")
    outcome = gonie("evaluate", toy_run, years, "--by", "year", *files)
    assert outcome.code == 0, outcome.err
    table = outcome.out[outcome.out.index("year  ") :]
    assert [line.split()[0] for line in table.splitlines()[1:4]] == ["900", "2010", "(none)"]
    assert "fewer than 20 examples" in table
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    groups = scores["by"]["year"]
    assert (groups["2010"]["f1"], groups["900"]["f1"]) == (1.0, 0.5)
    assert (groups["2010"]["examples"], groups["(none)"]["examples"]) == (3, 1)
    assert groups["900"]["seen"]["gold"] + groups["900"]["unseen"]["gold"] == 6
    assert "Scores by value" in (tmp_path / "r.html").read_text("utf-8")
    alone = gonie("evaluate", toy_run, years, "--json", tmp_path / "a.json")
    assert alone.code == 0
    del scores["by"]
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == scores


def test_an_unknown_value_is_refused_with_those_of_the_file(gonie: Gonie, toy_run: Path, years: Path) -> None:
    assert gonie("evaluate", toy_run, years, "--by", "genre").refused("genre", "year")


def test_files_are_compared_with_the_first(gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path) -> None:
    web = conll(tmp_path / "b.conll", "Anna/B-LOC lives/O in/O Seoul/B-LOC", "it/O rains/O")
    outputs = [tmp_path / name for name in ("s.json", "r.html", "e.tsv")]
    flags = [each for pair in zip(("--json", "--html", "--errors"), outputs, strict=True) for each in pair]
    outcome = gonie("evaluate", toy_run, f"news={toy / 'test.conll'}", f"web={web}", *flags)
    assert outcome.code == 0, outcome.err
    lines = reversed(outcome.out.splitlines())  # of each file, the first line is kept
    rows = {line.split()[0]: line.split() for line in lines if line.strip()}
    assert rows["news"][1:3] == ["20", "100.00"]
    assert rows["web"][1:3] == ["2*", "50.00"]
    assert rows["web"][-1] == "-50.00"
    assert "all files" in outcome.out
    scores = json.loads(outputs[0].read_text("utf-8"))
    assert list(scores["domains"]) == ["news", "web"]
    assert scores["domains"]["web"]["f1"] == 0.5
    assert scores["gap"]["web"]["score"] == -0.5
    assert scores["pooled"]["sentences"] == 22
    assert scores["headline"] == "f1"
    page = outputs[1].read_text("utf-8")
    assert page.index("Scores by file") < page.index("Seen in training?")
    assert str(web) in outputs[2].read_text("utf-8")


def test_files_have_the_name_of_their_stem(gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path) -> None:
    other = conll(tmp_path / "web.conll", "it/O rains/O", "Anna/B-PER lives/O")
    outcome = gonie("evaluate", toy_run, toy / "test.conll", other, "--json", tmp_path / "s.json")
    assert outcome.code == 0, outcome.err
    assert list(json.loads((tmp_path / "s.json").read_text("utf-8"))["domains"]) == ["test", "web"]
    again = gonie("evaluate", toy_run, other, other)
    assert again.refused("two files have the name web", "NAME=FILE")
    named = gonie("evaluate", toy_run, f"a={toy / 'test.conll'}", f"a={other}")
    assert named.refused("two files have the name a", "Give each its own name")


def test_a_file_whose_name_has_an_equals_sign_is_one_file(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a=b.conll"
    path.write_bytes((toy / "test.conll").read_bytes())
    outcome = gonie("evaluate", toy_run, path)
    assert outcome.code == 0, outcome.err
    assert "F1 100.00" in outcome.out
    assert gonie("evaluate", toy_run, "news=missing.conll").refused("missing.conll")


def test_a_rule_of_a_map_must_be_for_a_label_of_some_file(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    web = conll(tmp_path / "web.conll", "Anna/B-person lives/O in/O Seoul/B-place", "it/O rains/O")
    files = (toy / "test.conll", web)
    rules = ("--map", "person=PER", "--map", "place=LOC")
    assert gonie("evaluate", toy_run, files[0], *rules).refused("rule for person, place")
    outcome = gonie("evaluate", toy_run, *files, *rules, "--json", tmp_path / "s.json")
    assert outcome.code == 0, outcome.err
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert scores["domains"]["web"]["f1"] == 1.0
    assert gonie("evaluate", toy_run, *files, *rules, "--map", "song=O").refused("rule for song")


def test_a_file_without_a_label_of_the_model_names_its_map(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    wnut = conll(tmp_path / "wnut.conll", "Anna/B-person lives/O", "a/O group/B-group", "x/B-product y/O")
    outcome = gonie("evaluate", toy_run, toy / "test.conll", wnut)
    assert outcome.refused("person", "--map wnut")
    assert gonie("evaluate", toy_run, toy / "test.conll", wnut, "--map", "wnut").code == 0
    ai = conll(tmp_path / "ai.conll", "Anna/B-researcher lives/O", "x/B-algorithm y/O", "Rome/B-country is/O")
    assert gonie("evaluate", toy_run, ai).refused("--map crossner")
    assert gonie("evaluate", toy_run, ai, "--map", "crossner").code == 0


def test_schemes_of_files_may_differ(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    one = conll(tmp_path / "one.conll", *["Anna/B-PER Kim/I-PER lives/O in/O Seoul/B-LOC"] * 3)
    two = conll(tmp_path / "two.conll", *["Anna/B-PER Kim/E-PER lives/O in/O Seoul/S-LOC"] * 3)
    outcome = gonie("evaluate", toy_run, one, two, "--json", tmp_path / "s.json")
    assert outcome.code == 0, outcome.err
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    own = [scores["domains"][name]["f1"] for name in ("one", "two")]
    assert own[0] == own[1] == scores["pooled"]["f1"]


def test_noise_is_a_table_records_and_a_curve(gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path) -> None:
    files = ("--json", tmp_path / "s.json", "--html", tmp_path / "r.html")
    outcome = gonie("evaluate", toy_run, toy / "test.conll", "--noise", "--limit", "10", *files)
    assert outcome.code == 0, outcome.err
    for words in ("words with a typo", "upper case", "spaces lost", "noise in 10 of 20 examples"):
        assert words in outcome.out, words
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    noise = {(each["kind"], each["rate"]): each for each in scores["noise"]}
    assert noise["none", 0.0]["f1"] == 1.0
    assert noise["spaces-lost", 1.0]["f1"] < 0.5
    assert len(noise["typos", 0.4]["draws"]) == 3
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "Scores under noise" in page
    assert page.count("<svg") > 2
    assert gonie("evaluate", toy_run, toy / "test.conll", "--limit", "10").refused("--limit", "--noise")


def test_classifiers_and_pairs(gonie: Gonie, text_bundle: Any, pair_bundle: Any, tmp_path: Path) -> None:
    write_bundle(tmp_path / "texts", text_bundle())
    write_bundle(tmp_path / "pairs", pair_bundle(values=False))
    write_bundle(tmp_path / "values", pair_bundle(values=True))
    texts = tmp_path / "t.tsv"
    texts.write_text("text\tlabel\tyear\ngood film\tpositive\t1\nbad bad\tnegative\t2\na film\tpositive\t1\n")
    pairs = {"label": ("same", "other", "other"), "value": ("4.5", "0.5", "4")}
    for column, gold in pairs.items():
        rows = zip(("good\tgood", "good\tbad", "bad film\tbad"), gold, "121", strict=True)
        table = "".join(f"{text}\t{answer}\t{year}\n" for text, answer, year in rows)
        (tmp_path / f"{column}.tsv").write_text(f"text\ttext_pair\t{column}\tyear\n{table}")
    for model, file, measure in (
        ("texts", "t.tsv", "accuracy"),
        ("pairs", "label.tsv", "accuracy"),
        ("values", "value.tsv", "pearson"),
    ):
        found = tmp_path / f"{model}.json"
        extras = ("--by", "year", "--noise", "--json", found, "--html", tmp_path / "r.html")
        outcome = gonie("evaluate", tmp_path / model, f"a={tmp_path / file}", *extras)
        assert outcome.code == 0, outcome.err
        scores = json.loads(found.read_text("utf-8"))
        assert {measure, "examples", "interval"} == scores["by"]["year"]["1"].keys()
        assert scores["by"]["year"]["1"]["examples"] == 2
        assert all(measure in each for each in scores["noise"])
        assert list(scores["domains"]) == ["a"]


def test_uncertainty_tells_files_apart(gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path) -> None:
    web = conll(tmp_path / "web.conll", "Xu/B-PER of/O Qo/B-LOC met/O", "far/O in/O Zed/B-PER", "")
    outputs = ("--json", tmp_path / "s.json", "--html", tmp_path / "r.html")
    outcome = gonie("evaluate", toy_run, toy / "test.conll", web, *outputs)
    assert outcome.code == 0, outcome.err
    assert "least certain answer" in outcome.out
    assert "mutual information" not in outcome.out
    found = json.loads((tmp_path / "s.json").read_text("utf-8"))["separation"]
    assert list(found) == ["web"]
    assert found["web"]["lowest"]["auroc"] > 0.5
    assert found["web"]["lowest"]["outside"] == 2
    assert "Uncertainty by file" in (tmp_path / "r.html").read_text("utf-8")
    values = gonie("evaluate", toy_run, toy / "test.conll", "--json", tmp_path / "one.json")
    assert values.code == 0
    assert "separation" not in json.loads((tmp_path / "one.json").read_text("utf-8"))
