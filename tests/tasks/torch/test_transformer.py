"""Loading transformers from folders: what is refused, and what depends on the files."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from gonie.errors import BundleError, GonieError, RecipeError
from gonie.tasks.sections import CorpusConfig
from gonie.tasks.torch.transformer import LoadedTransformer
from gonie.tasks.transformer import TransformerConfig
from support.tiny_encoders import TINY, bert, roberta

DATA = CorpusConfig(train="x")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("encoder") / "bert")


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """Copy the encoder, so that a test may damage it."""
    return Path(shutil.copytree(written, tmp_path / "bert"))


def load(folder: Path, notes: list[str] | None = None, **settings: object) -> LoadedTransformer:
    config = TransformerConfig.model_validate({"path": str(folder), **settings})
    return LoadedTransformer.load(config, DATA, notes.append if notes is not None else print)


def changed(folder: Path, **values: object) -> Path:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **values}), "utf-8")
    return folder


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at any use of a socket or a name server."""

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("a network call was attempted")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("kind", TINY)
def test_nothing_is_looked_up_on_a_network(kind: str, tmp_path: Path) -> None:
    """Also if a file that the library would look for is missing, and for a damaged folder."""
    folder = TINY[kind](tmp_path / "encoder")
    load(folder)
    (folder / "config.json").write_text('{"model_type": "no-such-model"}', "utf-8")
    with pytest.raises(BundleError):
        load(folder)


def test_the_weights_are_those_of_the_file(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    found = load(folder).encoder.state_dict()
    assert set(found) == {name for name in tensors if not name.startswith("pooler")}
    assert all(torch.equal(found[name], tensors[name]) for name in found)


def test_layers_above_the_used_ones_are_removed(folder: Path) -> None:
    source = load(folder, layers=[1, -3])
    assert source.layers == (1,), "the third layer from the top is the first"
    assert not any("layer.1." in name for name in source.encoder.state_dict())
    assert load(folder, layers=[-1, 0]).layers == (0, 3)


def test_positions_after_padding_are_not_for_sub_words(tmp_path: Path) -> None:
    pieces = load(roberta(tmp_path / "roberta")).pieces
    assert pieces is not None
    assert (pieces.limit, pieces.width) == (24, 22)


def test_an_encoder_that_cannot_be_exported_is_told_before_training(folder: Path) -> None:
    notes: list[str] = []
    load(folder, notes)
    assert notes == []
    load(changed(folder, hidden_act="silu"), notes)
    (note,) = notes
    assert "no ONNX graph for BertModel with the activation silu" in note


def test_the_digest_changes_with_weights_sub_words_and_layers(folder: Path) -> None:
    digests = {load(folder).digest(), load(folder).digest()}
    assert len(digests) == 1
    digests |= {load(folder, layers=[0, -1]).digest(), load(folder, pooling="mean").digest()}
    tensors = load_file(folder / "model.safetensors")
    tensors["embeddings.LayerNorm.bias"][0] += 0.1
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    digests.add(load(folder).digest())
    assert len(digests) == 4


def test_a_restored_encoder_has_the_same_shape(folder: Path, tmp_path: Path) -> None:
    source = load(folder, layers=[0, 2])
    for name, content in source.files().items():
        (tmp_path / name).write_text(content, "utf-8")
    copy = LoadedTransformer.restore(tmp_path)
    assert copy.layers == (0, 2)
    copy.encoder.load_state_dict(source.encoder.state_dict())
    (tmp_path / "transformer.json").write_text('{"layers": [1]}', "utf-8")
    with pytest.raises(BundleError, match="cannot read the transformer"):
        LoadedTransformer.restore(tmp_path)


def test_decomposed_files_are_refused(folder: Path) -> None:
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        copy = Path(shutil.copytree(folder, folder.parent / name))
        (copy / name).unlink()
        with pytest.raises(BundleError, match=f"{name} not found"):
            load(copy)


def test_pickles_are_never_read(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(BundleError, match=r"pickle \(\.bin\), which gonie never reads"):
        load(folder)


def test_code_of_a_folder_is_never_run(folder: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (folder / "modeling.py").write_text(f"open({str(ran)!r}, 'w')", "utf-8")
    changed(folder, auto_map={"AutoModel": "modeling.Model", "AutoConfig": "modeling.Config"})
    with pytest.raises(BundleError, match="code of its own"):
        load(folder)
    changed(folder, auto_map=None, model_type="custom")
    with pytest.raises(BundleError):
        load(folder)
    assert not ran.exists()


@pytest.mark.parametrize(
    "values",
    [
        {"num_hidden_layers": 10**9},
        {"hidden_size": 10**9},
        {"vocab_size": -1},
        {"num_hidden_layers": "many"},
        {"hidden_size": 13},
        {"is_decoder": True},
        {"model_type": "t5"},
        {"model_type": 5},
        {"intermediate_size": 99},
        {"hidden_act": "no-such-function"},
    ],
    ids=str,
)
def test_a_hostile_configuration_is_refused(values: dict[str, object], folder: Path) -> None:
    with pytest.raises(GonieError) as error:
        load(changed(folder, **values))
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1", b'{"model_type": "bert"', b"\xff\xfe", b"[" * 100_000]
)
def test_a_damaged_configuration_is_refused(content: bytes, folder: Path) -> None:
    (folder / "config.json").write_bytes(content)
    with pytest.raises(BundleError, match=r"config\.json"):
        load(folder)


def damage_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda t: t.pop("encoder.layer.1.output.dense.bias"), "missing or of another shape: 1 weight,"),
        (lambda t: t.update({"embeddings.LayerNorm.bias": torch.full((12,), np.nan)}), "not finite"),
        (lambda t: t.update({"embeddings.LayerNorm.bias": torch.zeros(11)}), r"does not fit config\.json"),
        (lambda t: t.clear(), r"another shape: \d+ weights,"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    change: Callable[[dict[str, torch.Tensor]], None], told: str, folder: Path
) -> None:
    """Nothing may be filled with random numbers."""
    damage_weights(folder, change)
    with pytest.raises(BundleError, match=told):
        load(folder)


def test_truncated_weights_are_refused(folder: Path) -> None:
    content = (folder / "model.safetensors").read_bytes()
    for size in (0, 7, len(content) - 1):
        (folder / "model.safetensors").write_bytes(content[:size])
        with pytest.raises(BundleError, match=r"damaged or incomplete .*Download the file again"):
            load(folder)


def test_the_pointer_of_a_clone_without_lfs_is_named(folder: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    (folder / "model.safetensors").write_text(pointer, "utf-8")
    with pytest.raises(BundleError, match=r"a pointer of Git LFS, .*git lfs pull"):
        load(folder)


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    folder = bert(tmp_path / "small", vocab_size=40)
    with pytest.raises(BundleError, match="not of the same model"):
        load(folder)


@pytest.mark.parametrize(
    ("layers", "told"), [([4], "no layer 4"), ([-5], "no layer -5"), ([0], "only layer 0")]
)
def test_layers_that_do_not_exist_are_refused(layers: list[int], told: str, folder: Path) -> None:
    with pytest.raises(RecipeError, match=told):
        load(folder, layers=layers)


def test_settings_that_leave_nothing_to_tune_are_refused(folder: Path) -> None:
    """The run would be as slow as tuning, and tune nothing."""
    load(folder, tuned=True, fixed=3)
    with pytest.raises(RecipeError, match="fixed: 4 leaves nothing to tune; the highest layer in use is 3"):
        load(folder, tuned=True, fixed=4)
    with pytest.raises(RecipeError, match="highest layer in use is 2, so use at most 2"):
        load(folder, tuned=True, fixed=3, layers=[2])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"fixed": 1}, "no effect on a frozen transformer: model.transformer.fixed. To tune it"),
        (
            {"rate": 0.1, "layer_rate": 0.9},
            "no effect on a frozen transformer: model.transformer.rate, model",
        ),
        ({"tuned": True, "cache": "x"}, "no effect on a tuned transformer: model.transformer.cache"),
    ],
)
def test_settings_without_effect_are_named(settings: dict[str, Any], told: str, folder: Path) -> None:
    """Whoever forgets tuned=true would believe in fine-tuning."""
    notes: list[str] = []
    load(folder, notes, **settings)
    (note,) = notes
    assert note.startswith(f"warning: {told}")


def test_a_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="not found; use a folder with"):
        load(tmp_path / "nothing")
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(RecipeError, match="a file; use a folder with"):
        load(tmp_path / "file")
