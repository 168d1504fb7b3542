"""Tests `gonie embed`: vectors for every input format, in order, and refusals that write no file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.embedder import Embedder
from gonie.tasks.language_model.torch.folder import SavedBilm, load_bilm, save_bilm

Gonie = Callable[..., Any]
TEXT = "They play in the play. It is good."
SENTENCES = [["They", "play", "in", "the", "play", "."], ["It", "is", "good", "."]]


@pytest.fixture(scope="module")
def bilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("bilm")
    shape = BilmConfig(byte_width=3, filters=[(1, 4), (3, 6)], width=4, hidden=8)
    saved = SavedBilm(bilm=build_bilm(shape), shape=shape, language="en", unit="word")
    save_bilm(folder, saved, storage="float32")
    return folder


def check(path: Path, bilm: Path, sentences: list[list[str]]) -> None:
    """Check that the file contains the layers of these sentences."""
    expected = Embedder(load_bilm(bilm)).layers(sentences)
    with np.load(path, allow_pickle=False) as found:
        assert found.files == [str(number) for number in range(len(sentences))]
        for number, array in enumerate(expected):
            assert found[str(number)].dtype == np.float32
            np.testing.assert_allclose(found[str(number)], array, rtol=1e-4, atol=1e-6)


def test_a_text_is_embedded(gonie: Gonie, bilm: Path, tmp_path: Path) -> None:
    outcome = gonie("embed", bilm, TEXT, "--out", tmp_path / "v.npz")
    assert outcome.code == 0
    assert "2 sentences, 10 tokens; 3 layers of width 8" in outcome.out
    check(tmp_path / "v.npz", bilm, SENTENCES)


def test_a_shipped_language_model_goes_by_its_name(
    gonie: Gonie, bilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of that name needs a path, and a note says which of the two is used."""
    monkeypatch.chdir(tmp_path)
    outcome = gonie("embed", "en", TEXT, "--out", "v.npz")
    assert (outcome.code, outcome.err) == (0, "")
    assert "3 layers of width 512" in outcome.out
    shutil.copytree(bilm, "en")
    outcome = gonie("embed", "en", TEXT, "--out", "v.npz")
    assert "3 layers of width 512" in outcome.out
    assert "write ./en" in outcome.err
    outcome = gonie("embed", "./en", TEXT, "--out", "v.npz")
    assert "3 layers of width 8" in outcome.out
    assert outcome.err == ""
    assert gonie("embed", "fr", TEXT, "--out", "v.npz").refused("not found: fr", "(en, ko)")
    assert gonie("embed", "pretrained/ko", TEXT, "--out", "v.npz").refused("use ko")


@pytest.mark.parametrize(
    ("kind", "case"),
    {
        "text": (f"{TEXT}\n", SENTENCES),
        "tokens": ("They play\n\n집에서\n", [["They", "play"], [], ["집에서"]]),
        "jsonl": (json.dumps({"text": TEXT}), SENTENCES),
        "conll": ("They\tO\nplay\tO\n\nIt\tO\n", [["They", "play"], ["It"]]),
    }.items(),
)
def test_every_input_format_works_from_a_file_and_standard_input(
    gonie: Gonie, bilm: Path, tmp_path: Path, kind: str, case: tuple[str, list[list[str]]]
) -> None:
    content, sentences = case
    given, out = tmp_path / "given", tmp_path / "v.npz"
    given.write_text(content, "utf-8")
    assert gonie("embed", bilm, "--file", given, "--input", kind, "--out", out).code == 0
    check(out, bilm, sentences)
    assert gonie("embed", bilm, "--input", kind, "--out", out, stdin=content.encode()).code == 0
    check(out, bilm, sentences)


def test_many_sentences_keep_their_order(gonie: Gonie, bilm: Path, tmp_path: Path) -> None:
    """Sentences are batched by length, and the output must be in the input order."""
    sentences = [["w"] * (1 + number * 7 % 13) + [str(number)] for number in range(300)]
    lines = "".join(" ".join(words) + "\n" for words in sentences)
    out = tmp_path / "v.npz"
    assert gonie("embed", bilm, "--input", "tokens", "--out", out, stdin=lines.encode()).code == 0
    check(out, bilm, sentences)


def test_hdf5_output_has_the_tokens(gonie: Gonie, bilm: Path, tmp_path: Path) -> None:
    assert gonie("embed", bilm, TEXT, "--out", tmp_path / "v.h5").code == 0
    with h5py.File(tmp_path / "v.h5") as found:
        assert [json.loads(found[name].attrs["tokens"]) for name in ("0", "1")] == SENTENCES
        assert found["0"].shape == (3, 6, 8)


def test_empty_input_gives_an_empty_file(gonie: Gonie, bilm: Path, tmp_path: Path) -> None:
    outcome = gonie("embed", bilm, "--out", tmp_path / "v.npz")
    assert "0 sentences, 0 tokens" in outcome.out
    check(tmp_path / "v.npz", bilm, [])


def test_invalid_arguments_are_refused_and_no_file_is_written(
    gonie: Gonie, bilm: Path, tmp_path: Path
) -> None:
    out = tmp_path / "v.npz"
    assert gonie("embed", tmp_path / "none", TEXT, "--out", out).refused(
        "gonie pretrain or gonie import-elmo"
    )
    assert gonie("embed", bilm, TEXT, "--out", tmp_path / "v.txt").refused("Use .npz")
    assert gonie("embed", bilm, TEXT, "--out", tmp_path / "no" / "v.h5").refused("mkdir -p")
    assert gonie("embed", bilm, TEXT, "--input", "csv", "--out", out).refused("Use text, tokens")
    assert gonie("embed", bilm, "--file", tmp_path / "x", "--out", out).refused("file not found")
    assert gonie("embed", bilm, "--input", "jsonl", "--out", out, stdin=b'{"text": "a"}\n{').refused(":2:")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_no_partial_file(
    gonie: Gonie, bilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Embedder, sentences: object) -> Any:
        yield from self.layers(SENTENCES[:1])
        raise KeyboardInterrupt

    monkeypatch.setattr(Embedder, "pipe", interrupted)
    for name in ("v.npz", "v.h5"):
        assert gonie("embed", bilm, TEXT, "--out", tmp_path / name).code == 130
    assert list(tmp_path.iterdir()) == []
