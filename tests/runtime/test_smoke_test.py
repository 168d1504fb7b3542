"""Tests the smoke test at loading: a graph that does not fit is refused before the first text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gonie.errors import BundleError
from gonie.features.encoding import Encoding
from gonie.runtime.bundle import INDEX, read_bundle
from gonie.runtime.smoke_test import smoke_test_batch, smoke_test_texts
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.load import bundle_kinds, load
from gonie.tasks.tagging.bundle import TagBundle

BUNDLES = Path(__file__).parent.parent / "bundles"


def test_the_batch_has_the_highest_id_of_each_vocabulary() -> None:
    bundle = read_bundle(BUNDLES / "4" / "features", bundle_kinds())
    assert isinstance(bundle, TagBundle)
    encoding, batch = bundle.encoding, smoke_test_batch(bundle.encoding)
    assert batch["words"].max() == len(encoding.words) - 1
    assert batch["chars"].max() == len(encoding.chars) - 1
    for group in encoding.groups:
        assert batch[f"{group}.ids"].tolist() == [len(encoding.features[group]) - 1]
        assert len(batch[f"{group}.offsets"]) == batch["words"].size + 1


def test_the_batch_of_texts_has_the_last_n_gram() -> None:
    bundle = read_bundle(BUNDLES / "4" / "texts", bundle_kinds())
    assert isinstance(bundle, TextBundle)
    assert bundle.encoding.bag is not None
    batch = smoke_test_texts(bundle.encoding)
    assert batch["bag.ids"].tolist() == [len(bundle.encoding.bag.vocabulary) - 1]
    assert batch["places"].shape == (1, 1)


def test_the_batch_has_bytes_for_a_language_model(encoding: Encoding) -> None:
    encoding.longest = 7
    assert smoke_test_batch(encoding)["bytes"].shape == (4, 7)  # two marks, two words


@pytest.mark.parametrize("part", ["words", "chars"])
def test_a_vocabulary_longer_than_its_table_is_refused_when_loaded(tmp_path: Path, part: str) -> None:
    """Otherwise the model would fail at the first text with the word that has no row."""
    for file in (BUNDLES / "4" / "letters").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    index = json.loads((tmp_path / INDEX).read_bytes())
    index["encoding"][part]["strings"].append("\u2603")
    (tmp_path / INDEX).write_text(json.dumps(index))
    with pytest.raises(BundleError, match="the graph does not fit the encoding of its bundle"):
        load(tmp_path)


def test_labels_that_the_graph_does_not_score_are_refused_when_loaded(tmp_path: Path) -> None:
    for file in (BUNDLES / "4" / "texts").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    index = json.loads((tmp_path / INDEX).read_bytes())
    index["encoding"]["labels"].append("ugly")
    (tmp_path / INDEX).write_text(json.dumps(index))
    with pytest.raises(BundleError, match=r"float32 of shape \(1, 3\) from the graph, got \(1, 2\)"):
        load(tmp_path)


def test_each_batch_is_a_new_copy(encoding: Encoding) -> None:
    first, second = smoke_test_batch(encoding), smoke_test_batch(encoding)
    first["words"][:] = 0
    assert np.any(second["words"])
