"""Tests the results of models: records equal to those of the commands, JSON, repr and HTML."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.text.types import Morpheme

TEXT = "Anna Kim works in <Seoul> & Rome."


def answered(command: str, folder: Path, *texts: str) -> dict[str, Any]:
    arguments = [sys.executable, "-m", "gonie", command, str(folder), *texts, "--output", "jsonl"]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def test_records_equal_those_of_the_commands(tagged: Any, classified: Any, paired: Any) -> None:
    document = tagged.model(TEXT)
    assert document.to_dict() == json.loads(document.to_json()) == answered("tag", tagged.folder, TEXT)
    label = classified.model("a good film")
    assert label.to_dict() == answered("classify", classified.folder, "a good film")
    pair = paired.model("a man", "<b>")
    assert pair.to_dict() == answered("classify", paired.folder, "a man", "<b>")
    assert json.loads(label.to_json())["label"] == label.label
    assert json.loads(pair.to_json())["label"] == pair.label


def test_dataclasses_can_be_written_as_json(tagged: Any, classified: Any, paired: Any) -> None:
    nbest = tagged.model.with_nbest(2)(TEXT)
    for found in (nbest, classified.model("a"), paired.model("a", "b")):
        assert json.loads(json.dumps(asdict(found)))["text"] == found.text
    token = gonie.Token("했", 0, 1, "VV", 1.0, (Morpheme("하", "VV"), Morpheme("었", "EP")))
    assert json.loads(json.dumps(asdict(gonie.Document("했", (token,)))))["tokens"][0][5][0] == ["하", "VV"]


def test_repr_and_html(tagged: Any, classified: Any, paired: Any) -> None:
    document = tagged.model(TEXT)
    assert document.spans
    assert repr(document).startswith("Document('Anna Kim works in <Seoul> & Rome.', spans=[")
    html = document._repr_html_()
    assert "&lt;Seoul&gt;" in html or "&lt;" in html
    assert "<Seoul" not in html
    assert all(span.label in html for span in document.spans)
    label = classified.model("<script>good")
    assert repr(label) == f"Classification('<script>good', label={label.label!r}, score={label.score:.4f})"
    assert "<script" not in label._repr_html_()
    assert all(name in label._repr_html_() for name in label.scores)
    assert "<b>x" not in paired.model("<b>x", "y")._repr_html_()
    assert repr(paired.model("a", "b")).startswith("PairAnswer('a', 'b', label=")
    value = gonie.PairAnswer("a", "b", value=3.25)
    assert repr(value) == "PairAnswer('a', 'b', value=3.2500)"
    assert value.to_dict() == {"text": "a", "text_pair": "b", "value": 3.25}
    several = gonie.Classification("t", "a", 0.9, {"a": 0.9, "b": 0.2}, ("a",), multi_label=True)
    assert several.to_dict()["labels"] == ["a"]
    assert len(repr(gonie.Document("x" * 500))) < 100


def test_plain_tags_are_shown() -> None:
    tokens = (gonie.Token("It", 0, 2, "PRON", 0.9), gonie.Token("rains", 3, 8, "VERB", 0.8))
    document = gonie.Document("It rains", tokens)
    assert repr(document) == "Document('It rains', tags='PRON VERB')"
    assert "PRON" in document._repr_html_()


def test_contexts_come_back(tagged: Any, classified: Any, paired: Any) -> None:
    texts = [("Anna works", {"id": 1}), ("It rains", None)]
    found = list(tagged.model.pipe(texts, as_tuples=True))
    assert [(document.text, context) for document, context in found] == texts
    for document, _ in found:
        alone = tagged.model(document.text)
        assert document.tags == alone.tags
        # BLAS adds up the products of one row and of several in another order
        assert [token.score for token in document.tokens] == pytest.approx(
            [t.score for t in alone.tokens], rel=1e-9
        )
    assert list(classified.model.pipe(texts, as_tuples=True)) == [(classified.model(t), c) for t, c in texts]
    pairs = [(("a", "b"), 1), (("c", "d"), 2)]
    assert list(paired.model.pipe(pairs, as_tuples=True)) == [(paired.model(*t), c) for t, c in pairs]
    with pytest.raises(gonie.InputError, match=r"Pass \(text, context\)"):
        list(tagged.model.pipe(["Anna works"], as_tuples=True))


def test_one_text_is_refused_by_pipe(tagged: Any, classified: Any, paired: Any) -> None:
    for model in (tagged.model, classified.model):
        with pytest.raises(gonie.InputError, match=r"pipe\(\[text\]\)"):
            model.pipe("Anna works")
    with pytest.raises(gonie.InputError, match=r"pipe\(\[\(text, text_pair\)\]\)"):
        paired.model.pipe("Anna works")


def test_tags_are_in_the_scheme_of_the_training_data(tagged: Any, tmp_path: Path) -> None:
    assert {tag[:2] for tag in tagged.model.labels} == {"B-", "I-", "E-", "S-", "O"}, "the model uses BIOES"
    (document,) = tagged.model.tag_tokens([["Anna", "Kim", "works", "in", "Seoul"]])
    assert document.tags == ("B-PER", "I-PER", "O", "O", "B-LOC")
    (nbest,) = tagged.model.with_nbest(2).tag_tokens([["Anna", "Kim", "works", "in", "Seoul"]])
    assert nbest.nbest[0][0].tags == document.tags
    suffixed = [(["Anna", "Kim", "works"], ["PER_B", "PER_I", "O"]), (["It", "rains"], ["O", "O"])] * 10
    settings = {"train.epochs": 8, "train.lr": 0.02, "model.encoder.hidden": 16, "model.words.width": 16}
    settings["model.elmo.bilm"] = "none"
    run = gonie.train("ner", suffixed, suffixed, set=settings, out=tmp_path / "run", progress=False)
    assert run.model.tag_tokens([["Anna", "Kim", "works"]])[0].tags == ("PER_B", "PER_I", "O")


def test_a_table_is_not_a_stream_of_texts(toy_run: Path) -> None:
    """The names of its columns would be tagged."""
    tagger = gonie.load(toy_run)
    pandas = pytest.importorskip("pandas")
    for table in (pandas.DataFrame({"id": [1], "text": ["Anna"]}), {"text": "Anna"}):
        with pytest.raises(gonie.InputError, match="expected texts, got a"):
            tagger.pipe(table)
        with pytest.raises(gonie.InputError, match="expected texts, got a"):
            gonie.explain(tagger, table, methods=["erasure"])
