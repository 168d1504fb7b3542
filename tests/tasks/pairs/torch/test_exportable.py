"""Exporting pair models: the bundle gives the same answers, and a failed export writes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import gonie
from gonie.errors import GonieError
from gonie.export.driver import export_model, float_bundle
from gonie.export.proof import prove
from gonie.export.standalone_onnx import StandaloneModel
from gonie.runtime.scorer import ScoredTexts
from gonie.tasks.pairs.torch.exportable import PairExportable
from gonie.tasks.pairs.torch.job import PairJob
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import prepare
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.training.export_run import export_run
from gonie.training.fit import begin_training

PAIRS = [
    ("The plot is fine.", "The cast is dull."),
    ("Xyzzy 1999!", "The ending is lovely. The film is clever, and so is the cast."),
    ("", "dull"),
]


def own(pair_toy: Path, kind: str, *changes: str) -> PairExportable:
    job = prepare(load_recipe(pair_toy / f"{kind}.toml", changes), lambda text: None)
    assert isinstance(job, PairJob)
    return job.exportable(begin_training(job).model, print)


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_the_bundle_index_describes_the_model(kind: str, pair_runs: Path) -> None:
    index = json.loads((pair_runs / kind / "bundle" / "bundle.json").read_text("utf-8"))
    assert index["task"] == "pair"
    assert (index["encoding"]["scale"] is None) == (kind == "labels")
    assert index["recipe"]["task"] == "pair"
    assert index["model"]["weights"]["matching"] > 0


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_an_export_that_fails_its_check_is_not_written(
    kind: str, pair_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exportable = own(pair_toy, kind)
    spoil(monkeypatch, "scores", 0.001)
    with pytest.raises(GonieError, match="The bundle was not written"):
        export_model(exportable, tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []


def spoil(monkeypatch: pytest.MonkeyPatch, name: str, by: float) -> None:
    """Change the first unpadded value of this output of the torch scorer."""
    score = TorchTextScorer.score_texts

    def changed(self: TorchTextScorer, batch: Any) -> ScoredTexts:
        scored = score(self, batch)
        mask = {"words": batch["mask"], "sentences": batch["places_mask"]}.get(name)
        place = (0, 0) if mask is None else tuple(np.argwhere(mask)[0])
        getattr(scored, name)[place] += by
        return scored

    monkeypatch.setattr(TorchTextScorer, "score_texts", changed)


@pytest.mark.parametrize("name", ScoredTexts._fields)
def test_wrong_scores_or_attention_fail_the_export_check(
    name: str, pair_toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exportable = own(pair_toy, "labels", 'model.matching.pooling.kinds=["mean"]')
    assert exportable.discontinuous == ()
    assert (
        prove(exportable.trained, exportable.shipped(float_bundle(exportable)), exportable.batches(3)).value
        < 1e-4
    )
    spoil(monkeypatch, name, 0.001)
    with pytest.raises(GonieError, match="the exported model's scores differ from the trained model's"):
        prove(exportable.trained, exportable.shipped(float_bundle(exportable)), exportable.batches(3))


def test_attention_is_discontinuous_with_max_pooling(pair_toy: Path) -> None:
    assert own(pair_toy, "labels").discontinuous == ("words", "sentences")


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_reexporting_a_run_gives_the_same_bundle_and_answers(
    kind: str, pair_runs: Path, tmp_path: Path
) -> None:
    """The standalone graph runs without gonie, from ids to probabilities or values."""
    onnx = tmp_path / "whole.onnx"
    export_run(
        pair_runs / kind, tmp_path / "bundle", int8=False, onnx=onnx, data=None, note=lambda text: None
    )
    for name in ("bundle.json", "model.onnx"):
        assert (tmp_path / "bundle" / name).read_bytes() == (pair_runs / kind / "bundle" / name).read_bytes()
    model: Any = gonie.load(pair_runs / kind)
    graph = onnx.read_bytes()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    labels = json.loads(session.get_modelmeta().custom_metadata_map["labels"])
    corpus = model.encoding.encode_passages([model.tokenise(pair).passage for pair in PAIRS])
    output = "probabilities" if kind == "labels" else "scores"
    found = StandaloneModel(graph).run(corpus.batch(np.arange(len(PAIRS))), output)
    for row, pair in zip(found, PAIRS, strict=True):
        answer = model(*pair)
        if kind == "labels":
            assert dict(zip(labels, row.tolist(), strict=True)) == pytest.approx(answer.scores, abs=1e-5)
        else:
            assert row.tolist() == pytest.approx([answer.value], abs=1e-4)


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_an_export_can_be_checked_on_another_file(
    kind: str, pair_runs: Path, pair_toy: Path, tmp_path: Path
) -> None:
    found = export_run(
        pair_runs / kind,
        tmp_path / "bundle",
        int8=False,
        onnx=None,
        data=pair_toy / f"{kind}-test.tsv",
        note=lambda text: None,
    )
    assert found.task == "pair"
    assert found.difference.value < 1e-4
