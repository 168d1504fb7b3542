"""Tests ``gonie.evaluate``: the scores of the command, from files and from examples in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gonie

from .conftest import SENTENCES, TEXTS


def test_scores_equal_those_of_the_command(tagged: Any, tmp_path: Path) -> None:
    file, scores = tmp_path / "test.conll", tmp_path / "scores.json"
    lines = ("".join(f"{w}\t{t}\n" for w, t in zip(*row, strict=True)) for row in SENTENCES)
    file.write_text("\n".join(lines), "utf-8")
    command = [
        sys.executable,
        "-m",
        "gonie",
        "evaluate",
        str(tagged.folder),
        str(file),
        "--json",
        str(scores),
    ]
    subprocess.run(command, check=True, capture_output=True)
    expected = json.loads(scores.read_text("utf-8"))
    for model in (tagged.folder, tagged.model):
        for data in (file, str(file), SENTENCES, [gonie.Sentence(tuple(w), tuple(t)) for w, t in SENTENCES]):
            found = gonie.evaluate(model, data)
            assert found.to_dict() == expected
    assert found.f1 == expected["f1"] == found.value
    assert found.f1 > 0.8
    assert repr(found).startswith(f"ModelScores(f1={found.f1:.4f}, precision=")
    assert json.loads(found.to_json()) == expected
    assert all(word in found._repr_html_() for word in ("PER", "LOC", "95%"))
    assert found.errors() is not None


def test_labels_are_renamed(tagged: Any) -> None:
    other = [(words, [tag.replace("PER", "person") for tag in tags]) for words, tags in SENTENCES]
    assert gonie.evaluate(tagged.model, other, map={"person": "PER"}).f1 == tagged.scores["dev"].f1
    with pytest.raises(gonie.InputError, match=r"map=") as caught:
        gonie.evaluate(tagged.model, [(w, [t.replace("LOC", "place") for t in ts]) for w, ts in other])
    assert "--map" not in str(caught.value)


def test_classifiers_and_columns(classified: Any) -> None:
    rows = [{"q": text, "intent": label} for text, label in TEXTS]
    scores = gonie.evaluate(classified.model, rows, text_column="q", label_column="intent")
    assert scores.accuracy == classified.scores["dev"].accuracy
    assert gonie.evaluate(classified.folder, TEXTS).accuracy == scores.accuracy
    numbered = [{0: label, 1: text} for text, label in TEXTS]
    for text, label in ((1, 0), ("1", "0")):
        again = gonie.evaluate(classified.model, numbered, text_column=text, label_column=label)
        assert again.accuracy == scores.accuracy
    with pytest.raises(
        gonie.InputError, match=r"no column 'text'; the columns are q, intent.*: text_column=…"
    ):
        gonie.evaluate(classified.model, rows)


def test_bad_arguments(tagged: Any) -> None:
    with pytest.raises(gonie.InputError, match=r"file not found.*model\(text\)"):
        gonie.evaluate(tagged.model, "Anna works in Seoul")
    with pytest.raises(gonie.InputError, match=r"not a model"):
        gonie.evaluate(3, SENTENCES)
    with pytest.raises(gonie.GonieError, match="does not apply to taggers"):
        gonie.evaluate(tagged.model, SENTENCES, label_column="x")
    with pytest.raises(gonie.GonieError, match=r"unknown option of gonie\.evaluate: foo\. Use bias, decode"):
        gonie.evaluate(tagged.model, SENTENCES, foo=1)
