"""Language models on disk: saved models are loaded back, and invalid folders are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from gonie.errors import BundleError, OutputError
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.folder import (
    INDEX,
    SOFTMAX,
    VOCABULARY,
    WEIGHTS,
    Predictions,
    SavedBilm,
    check_free,
    load_bilm,
    save_bilm,
)
from gonie.tasks.language_model.torch.storage import Storage

SHAPE = BilmConfig(byte_width=2, longest=8, filters=[(1, 3), (2, 4)], width=3, hidden=5, layers=2)


def made(*, predictions: bool = False) -> SavedBilm:
    known = Predictions(["the", "집", "a\u2028b"], {"weight": torch.randn(3, 3), "bias": torch.randn(3)})
    return SavedBilm(
        bilm=build_bilm(SHAPE),
        shape=SHAPE,
        language="ko",
        unit="eojeol",
        about={"perplexity": 76.5},
        predictions=known if predictions else None,
    )


@pytest.mark.parametrize(("storage", "tolerance"), [("float32", 0.0), ("float16", 1e-3), ("int8", 1e-2)])
def test_a_saved_model_is_loaded_back(tmp_path: Path, storage: Storage, tolerance: float) -> None:
    saved = made(predictions=True)
    save_bilm(tmp_path, saved, storage=storage)
    loaded = load_bilm(tmp_path, predictions=True)
    assert (loaded.shape, loaded.language, loaded.unit) == (SHAPE, "ko", "eojeol")
    assert loaded.about == {"perplexity": 76.5}
    assert not loaded.bilm.training
    for name, weight in saved.bilm.state_dict().items():
        torch.testing.assert_close(loaded.bilm.state_dict()[name], weight, rtol=0, atol=tolerance)
    assert loaded.predictions is not None
    assert saved.predictions is not None
    assert loaded.predictions.words == saved.predictions.words
    torch.testing.assert_close(
        loaded.predictions.weights["weight"], saved.predictions.weights["weight"], rtol=0, atol=2 * tolerance
    )


def test_a_model_loads_without_its_softmax(tmp_path: Path) -> None:
    save_bilm(tmp_path, made(predictions=True))
    (tmp_path / SOFTMAX).unlink()
    assert load_bilm(tmp_path).predictions is None


def test_a_model_can_be_loaded_from_its_run_folder(tmp_path: Path) -> None:
    save_bilm(tmp_path / "bilm", made())
    assert load_bilm(tmp_path).shape == SHAPE


def test_saving_removes_the_softmax_of_an_earlier_model(tmp_path: Path) -> None:
    """Otherwise continued training would use the softmax of the wrong model."""
    save_bilm(tmp_path, made(predictions=True))
    save_bilm(tmp_path, made())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([INDEX, WEIGHTS])
    with pytest.raises(BundleError, match=f"{VOCABULARY} not found"):
        load_bilm(tmp_path, predictions=True)


def refusal(folder: Path, *, predictions: bool = False) -> str:
    """Return the one-line message with which a folder is refused."""
    with pytest.raises(BundleError) as caught:
        load_bilm(folder, predictions=predictions)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    assert "gonie pretrain or gonie import-elmo" in refusal(tmp_path / "none")


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    save_bilm(tmp_path, made())
    content = bytearray((tmp_path / WEIGHTS).read_bytes())
    content[-5] ^= 0x40
    (tmp_path / WEIGHTS).write_bytes(content)
    assert "damaged" in refusal(tmp_path)
    (tmp_path / WEIGHTS).unlink()
    assert WEIGHTS in refusal(tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden": 6}, "shape (24, 3) of ahead.layers.0.input_weight by bilm.json, got (20, 3)"),
        ({"layers": 3}, "shape (20, 3) of ahead.layers.2.input_weight by bilm.json, got none"),
        ({"layers": 1}, "shape none of ahead.layers.1.bias by bilm.json, got (20,)"),
        ({"filters": [[9, 9]]}, "kernel size 9 is larger than longest"),
        ({"width": 0}, "language model: width: "),
        ({"odd": 1}, "language model: odd: "),
    ],
)
def test_a_shape_that_does_not_fit_the_weights_is_refused(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    save_bilm(tmp_path, made())
    index = json.loads((tmp_path / INDEX).read_text("utf-8"))
    index["shape"] |= changes
    (tmp_path / INDEX).write_text(json.dumps(index), "utf-8")
    assert words in refusal(tmp_path)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": 9, "language": "en", "unit": "word"}', '{"format": 1}', "\udcff"],
)
def test_an_invalid_index_is_refused(tmp_path: Path, content: str) -> None:
    save_bilm(tmp_path, made())
    (tmp_path / INDEX).write_bytes(content.encode("utf-8", "surrogateescape"))
    assert "not a language model: " in refusal(tmp_path)


def test_an_index_without_a_shape_is_refused(tmp_path: Path) -> None:
    save_bilm(tmp_path, made())
    (tmp_path / INDEX).write_text('{"format": 1, "language": "en", "unit": "word"}', "utf-8")
    assert "invalid shape of a language model: no shape" in refusal(tmp_path)


def test_a_vocabulary_of_another_size_is_refused(tmp_path: Path) -> None:
    save_bilm(tmp_path, made(predictions=True))
    (tmp_path / VOCABULARY).write_text("the\n", "utf-8")
    assert "of 1 words, got 3 and 3" in refusal(tmp_path, predictions=True)


def test_a_folder_that_contains_a_model_is_not_free(tmp_path: Path) -> None:
    check_free(tmp_path)
    check_free(tmp_path / "new")
    save_bilm(tmp_path / "run" / "bilm", made())
    for folder in (tmp_path / "run", tmp_path / "run" / "bilm"):
        with pytest.raises(OutputError, match="already contains a language model"):
            check_free(folder)


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot create folder"):
        save_bilm(tmp_path / "file", made())
