"""Tests ``gonie.read``: examples with their kind and report."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

import gonie

CORPORA = Path(str(resources.files("gonie") / "corpora"))


@pytest.mark.parametrize(
    ("file", "kind", "example"),
    [
        ("english/dev.conll", "tag", gonie.Sentence),
        ("intents/dev.tsv", "classify", gonie.LabelledText),
        ("snli/dev.tsv", "pair", gonie.LabelledPair),
    ],
)
def test_the_kind_follows_from_the_file(file: str, kind: str, example: type) -> None:
    found = gonie.read(CORPORA / file)
    assert found.kind == kind
    assert len(found) == len(list(found)) > 100
    assert all(isinstance(each, example) for each in found[:10])
    assert "format: " in repr(found)
    assert "<li>format: " in found._repr_html_()


def test_objects(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    for line, kind in (
        ('{"text": "Ann left", "spans": []}', "tag"),
        ('{"text": "a", "label": "x"}', "classify"),
        ('{"premise": "a", "hypothesis": "b", "label": "x"}', "pair"),
    ):
        file.write_text(line + "\n", "utf-8")
        assert gonie.read(file).kind == kind
    assert gonie.read(file, kind="classify", text_column="premise")[0].text == "a"
