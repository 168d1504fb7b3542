"""Tests `gonie import-elmo`: imported models give the published vectors, and bad files are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

Gonie = Callable[..., Any]


@pytest.fixture(scope="module")
def fixture(shared_data: Path) -> Path:
    folder = shared_data / "elmo_fixture"
    if not folder.is_dir():
        pytest.skip(f"no published ELMo at {folder}")
    return folder


def test_an_imported_model_gives_the_published_vectors(gonie: Gonie, fixture: Path, tmp_path: Path) -> None:
    model = tmp_path / "elmo"
    outcome = gonie("import-elmo", fixture / "options.json", fixture / "lm_weights.hdf5", "--out", model)
    assert outcome.code == 0
    for words in ("105,124 parameters", "124 filters", "2 LSTM layers", "64 cells"):
        assert words in outcome.out
    lists = json.loads((fixture / "sentences.json").read_text("utf-8"))
    first = "".join(f"{texts[0]}\n" for texts in lists).encode()
    out = tmp_path / "v.npz"
    assert gonie("embed", model, "--input", "tokens", "--out", out, stdin=first).code == 0
    with np.load(out) as found:
        for number in range(len(lists)):
            with h5py.File(fixture / f"lm_embeddings_{number}.hdf5") as file:
                theirs = np.concatenate(list(file["0"][...]), axis=1)
            np.testing.assert_allclose(found[str(number)][-1], theirs, rtol=0, atol=1e-5)


def test_float16_and_int8_storage_take_less_space(gonie: Gonie, fixture: Path, tmp_path: Path) -> None:
    sizes = {}
    for storage in ("float32", "float16", "int8"):
        out = tmp_path / storage
        paths = fixture / "options.json", fixture / "lm_weights.hdf5"
        assert gonie("import-elmo", *paths, "--out", out, "--storage", storage).code == 0
        sizes[storage] = (out / "weights.safetensors").stat().st_size
    assert sizes["float32"] > 1.8 * sizes["float16"] > 3 * sizes["int8"]


def test_invalid_arguments_are_refused_and_nothing_is_written(gonie: Gonie, tmp_path: Path) -> None:
    options, weights, out = tmp_path / "options.json", tmp_path / "weights.hdf5", tmp_path / "out"
    assert gonie("import-elmo", options, weights, "--out", out).refused("options.json: file not found")
    options.write_text("{}")
    assert gonie("import-elmo", options, weights, "--out", out).refused("lstm: Field required")
    unit = ("--language", "ko", "--unit", "word")
    assert gonie("import-elmo", options, weights, "--out", out, *unit).refused("eojeol")
    assert not out.exists()


def test_weights_that_do_not_match_the_options_are_refused(
    gonie: Gonie, fixture: Path, tmp_path: Path
) -> None:
    said = json.loads((fixture / "options.json").read_text("utf-8"))
    said["lstm"]["dim"] = 65
    (tmp_path / "options.json").write_text(json.dumps(said))
    outcome = gonie(
        "import-elmo", tmp_path / "options.json", fixture / "lm_weights.hdf5", "--out", tmp_path / "out"
    )
    assert outcome.refused("W_0 of shape (32, 260) by the options, got (32, 256)")
    assert not (tmp_path / "out").exists()
    outcome = gonie(
        "import-elmo", fixture / "options.json", tmp_path / "none.hdf5", "--out", tmp_path / "out"
    )
    assert outcome.refused("none.hdf5: file not found")
    outcome = gonie("import-elmo", fixture / "options.json", tmp_path, "--out", tmp_path / "out")
    assert outcome.refused("expected a file, got a folder")


def test_an_existing_model_is_not_overwritten(gonie: Gonie, fixture: Path, toy_bilm: Path) -> None:
    """The existing model may have taken hours to pretrain, and there is no other copy of its softmax."""
    before = {path: path.read_bytes() for path in (toy_bilm / "bilm").iterdir()}
    paths = fixture / "options.json", fixture / "lm_weights.hdf5"
    for folder in (toy_bilm, toy_bilm / "bilm"):
        outcome = gonie("import-elmo", *paths, "--out", folder)
        assert outcome.refused("already contains a language model")
    assert {path: path.read_bytes() for path in (toy_bilm / "bilm").iterdir()} == before
    assert not (toy_bilm / "bilm.json").exists()
