"""Tests ``gonie.compare``: the cells of the command, as rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import gonie

SENTENCES = "Anna B-PER\nworks O\n\nIt O\nrains O\n\n" * 10


def test_rows_and_report(tmp_path: Path) -> None:
    (tmp_path / "mine.conll").write_text(SENTENCES, "utf-8")
    settings = {"data.train": str(tmp_path / "mine.conll"), "train.epochs": 1, "model.encoder.hidden": [4, 8]}
    settings["model.elmo.bilm"] = "none"
    found = gonie.compare("ner", set=settings, out=tmp_path / "out", jobs=1, progress=False)
    assert [row["model.encoder.hidden"] for row in found.rows] == ["4", "8"]
    assert sum(row["best"] for row in found.rows) == 1
    assert (found.folder / "table.md").is_file()
    assert found.failures == 0
    assert "best with" in repr(found)
    assert found.to_dict()["metric"] == "F1"
    with pytest.raises(gonie.OutputError, match=r"resume=True.*out=…"):
        gonie.compare("ner", set=settings, out=tmp_path / "out", progress=False)
    again = gonie.compare("ner", set=settings, out=tmp_path / "out", resume=True, progress=False)
    assert again.rows == found.rows
    with pytest.raises(gonie.InputError, match="no recipe"):
        gonie.compare([])


def test_examples_in_memory(tmp_path: Path) -> None:
    rows = [(["Anna", "works"], ["B-PER", "O"]), (["It", "rains"], ["O", "O"])] * 10
    settings = {"train.epochs": 1, "model.encoder.hidden": [4, 8], "model.elmo.bilm": "none"}
    out = tmp_path / "out"
    found = gonie.compare("ner", rows, test=rows[:4], set=settings, out=out, jobs=1, progress=False)
    assert [row["model.encoder.hidden"] for row in found.rows] == ["4", "8"]
    assert all("test" in row for row in found.rows)
    assert sorted(path.name for path in (out / "data").iterdir()) == ["test.jsonl", "train.jsonl"]
    with pytest.raises(gonie.OutputError, match="already contains a comparison"):
        gonie.compare("ner", rows[:2], out=out, progress=False)
    again = gonie.compare(
        "ner", rows, test=rows[:4], set=settings, out=out, jobs=1, resume=True, progress=False
    )
    assert again.rows == found.rows
    with pytest.raises(gonie.GonieError, match="the examples differ"):
        gonie.compare("ner", rows[2:], test=rows[:4], set=settings, out=out, resume=True, progress=False)
    with pytest.raises(gonie.InputError, match="train row 1: not a tagged sentence"):
        gonie.compare("ner", ["Anna"], out=tmp_path / "other", progress=False)
    assert not (tmp_path / "other").exists()


def test_sizes_and_named_recipes(tmp_path: Path) -> None:
    rows = [(["Anna", "works"], ["B-PER", "O"]), (["It", "rains"], ["O", "O"])] * 20
    settings = {"train.epochs": 1, "model.elmo.bilm": "none", "model.encoder.hidden": 4}
    old = gonie.train("ner", rows, set=settings, out=tmp_path / "old", progress=False)
    found = gonie.compare(
        {"plain": "ner", "wide": ("ner", {"model.encoder.hidden": 8}), "old": old.model},
        rows,
        test=rows[:8],
        set={key: value for key, value in settings.items() if key != "model.encoder.hidden"},
        sizes=[4, "all"],
        out=tmp_path / "out",
        progress=False,
    )
    assert [(row["recipe"], row["data.size"]) for row in found.rows] == [
        ("plain", "4"),
        ("plain", "all"),
        ("wide", "4"),
        ("wide", "all"),
    ]
    sizes = found.sizes
    assert sizes is not None
    assert [line["name"] for line in sizes["lines"]] == ["plain", "wide", "old"]
    assert sizes["verdict"] in repr(found)
    assert sizes["verdict"].split(",")[0] in found._repr_html_()
    for wrong in ({"a=b": "ner"}, {"a:b": "ner"}, {" ": "ner"}):
        with pytest.raises(gonie.InputError, match="invalid name of a recipe"):
            gonie.compare(wrong, sizes=[4, "all"])
    with pytest.raises(gonie.GonieError, match=r"sizes=… needs two or more"):
        gonie.compare("ner", sizes=[4])
    with pytest.raises(gonie.InputError, match="not a model"):
        gonie.compare({"a": "ner", "b": object()}, sizes=[4, "all"])


def test_without_sizes_there_are_none(tmp_path: Path) -> None:
    rows = [(["Anna", "works"], ["B-PER", "O"]), (["It", "rains"], ["O", "O"])] * 10
    settings = {"train.epochs": 1, "model.elmo.bilm": "none", "model.encoder.hidden": [4, 8]}
    assert gonie.compare("ner", rows, set=settings, out=tmp_path / "out", progress=False).sizes is None
