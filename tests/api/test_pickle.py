"""Tests that models pickle by their bundle, for joblib, multiprocessing and machines without the folder."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import gonie

TEXTS = ["Anna Kim works in Seoul.", "Paul lives in Rome."]


def test_a_spawned_process_tags(tagged: Any) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(tagged.model, TEXTS) == [tagged.model(text) for text in TEXTS]


def test_joblib(tagged: Any, tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    joblib.dump(tagged.model, tmp_path / "model.joblib")
    assert joblib.load(tmp_path / "model.joblib")(TEXTS[0]) == tagged.model(TEXTS[0])


def test_the_folder_is_not_needed(tagged: Any, classified: Any, paired: Any, tmp_path: Path) -> None:
    for run, texts in ((tagged, TEXTS[:1]), (classified, TEXTS[:1]), (paired, ("a", "b"))):
        shutil.copytree(run.folder, tmp_path / "model")
        model = gonie.load(tmp_path / "model", threads=1)
        pickled = pickle.dumps(model)
        shutil.rmtree(tmp_path / "model")
        with pytest.raises(gonie.BundleError, match="pickled by its bundle"):
            pickle.dumps(model)
        restored = pickle.loads(pickled)
        assert restored(*texts) == model(*texts)
        again = pickle.loads(pickle.dumps(restored))  # as in a second stage of a cluster
        assert again(*texts) == model(*texts)
        assert again.origin.threads == 1


def test_settings_are_kept(tagged: Any) -> None:
    tagger = tagged.model.with_decoding("posterior", {"PER": 2.0}).with_nbest(2)
    restored = pickle.loads(pickle.dumps(tagger))
    assert restored.decoding == tagger.decoding
    assert restored(TEXTS[0]) == tagger(TEXTS[0])
    assert restored(TEXTS[0]).nbest is not None
    assert copy.deepcopy(tagger) is tagger


def test_a_changed_bundle_is_refused(tagged: Any, tmp_path: Path) -> None:
    folder = shutil.copytree(tagged.folder / "bundle", tmp_path / "bundle")
    model = gonie.load(folder)
    index = folder / "bundle.json"
    index.write_bytes(index.read_bytes() + b" ")
    with pytest.raises(gonie.BundleError, match="has changed since the model was loaded"):
        pickle.dumps(model)
