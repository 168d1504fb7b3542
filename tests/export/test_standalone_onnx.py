"""Tests the standalone graph from ids to predictions, which runs without gonie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from gonie import load
from gonie.errors import GonieError
from gonie.export.exportable import Standalone
from gonie.export.standalone_onnx import StandaloneModel, prove_standalone
from gonie.features.corpus import collate
from gonie.tasks.recipe import load_recipe
from gonie.text.schemes import convert
from gonie.text.types import Sentence
from gonie.training.export_run import export_run
from gonie.training.run import start_run

WORDS = [["Anna", "Kim", "lives", "in", "Seoul"], ["Seoul"], ["Busan", "calls", "Ben"]]


def exported(run: Path, folder: Path) -> Path:
    export_run(
        run, folder / "bundle", int8=False, onnx=folder / "whole.onnx", data=None, note=lambda text: None
    )
    return folder / "whole.onnx"


def test_tags_equal_those_of_the_bundle(toy_run: Path, tmp_path: Path) -> None:
    graph = exported(toy_run, tmp_path).read_bytes()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    labels = json.loads(session.get_modelmeta().custom_metadata_map["labels"])
    tagger: Any = load(toy_run)
    corpus = tagger.encoding.encode([Sentence(words=tuple(words)) for words in WORDS])
    found = StandaloneModel(graph).run(collate(corpus, np.arange(3)), "tags")
    got = [[labels[tag] for tag in row if tag >= 0] for row in found.tolist()]
    own, given = tagger.encoding.scheme, tagger.document_scheme
    tags = [[token.tag for token in document.tokens] for document in tagger.tag_tokens(WORDS)]
    assert [convert(row, own, given) for row in got] == tags


def test_a_model_with_elmo_is_exported(toy: Path, toy_bilm: Path, tmp_path: Path, silence: Any) -> None:
    recipe = load_recipe(toy / "toy.toml", [f"model.elmo.bilm={toy_bilm}", "train.epochs=1"])
    assert start_run(recipe, tmp_path / "run", silence) is not None
    assert exported(tmp_path / "run", tmp_path).stat().st_size > 0  # checked on dev, or refused


def test_a_classifier_gives_calibrated_probabilities(text_toy: Path, tmp_path: Path, silence: Any) -> None:
    assert start_run(load_recipe(text_toy / "texts.toml"), tmp_path / "run", silence) is not None
    graph = exported(tmp_path / "run", tmp_path).read_bytes()
    classifier: Any = load(tmp_path / "run")
    text = "The plot is silly. The cast is dull."
    corpus = classifier.encoding.encode_passages([classifier.passage(text)])
    (chances,) = StandaloneModel(graph).run(corpus.batch(np.array([0])), "probabilities")
    assert dict(zip(classifier.labels, chances.tolist(), strict=True)) == pytest.approx(
        classifier(text).scores, abs=1e-5
    )


def test_a_graph_with_other_predictions_is_refused(toy_run: Path, tmp_path: Path) -> None:
    graph = exported(toy_run, tmp_path).read_bytes()
    tagger: Any = load(toy_run)
    batch = collate(tagger.encoding.encode([Sentence(words=("Anna",))]), np.array([0]))
    wrong = Standalone(graph, "tags", lambda batch: np.array([[-7]]))
    with pytest.raises(GonieError, match="the tags of the standalone graph differ from the bundle's"):
        prove_standalone(wrong, [batch])
