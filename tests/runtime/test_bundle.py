"""Tests the bundle format: bundles are read back as written, and invalid ones are refused with a message."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import safetensors.numpy

from gonie.errors import BundleError, MissingExtraError, OutputError
from gonie.features.encoding import Encoding
from gonie.runtime.about import About
from gonie.runtime.bundle import FORMAT, GRAPH, INDEX, Graphs, write_bundle
from gonie.runtime.bundle import read_bundle as read_kinds
from gonie.system.atomic_folder import backup_path
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.tagging.bundle import WEIGHTS, TagBundle

RECIPE = {"task": "tag", "data": {"train": "사람.conll", "columns": {"pos": 1}}}


@pytest.fixture
def bundle(encoding: Encoding) -> TagBundle:
    size = len(encoding.labels)
    random = np.random.default_rng(0)
    return TagBundle(
        encoding=encoding,
        tokenizer={"language": "ko", "unit": "morpheme"},
        graph=b"not really a graph",
        transitions=random.normal(size=(size, size)).astype(np.float32),
        start=random.normal(size=size).astype(np.float32),
        end=random.normal(size=size).astype(np.float32),
        constrained=False,
        forbidden=["B-PER -> B-PER"],
        temperature=1.5,
        about=About(model={"weights": 12}, scores={"dev": {"f1": 0.5}}, recipe=RECIPE),
    )


@pytest.fixture
def folder(tmp_path: Path, bundle: TagBundle) -> Path:
    write_bundle(tmp_path / "bundle", bundle)
    return tmp_path / "bundle"


def read_bundle(folder: Path) -> Any:
    return read_kinds(folder, {kind.task: kind for kind in (TagBundle, TextBundle)})


def change(folder: Path, **values: Any) -> None:
    index = json.loads((folder / INDEX).read_text("utf-8"))
    index.update(values)
    (folder / INDEX).write_text(json.dumps(index), "utf-8")


def test_a_tagger_is_read_back(folder: Path, bundle: TagBundle) -> None:
    again = read_bundle(folder)
    assert isinstance(again, TagBundle)
    assert again.encoding.to_json() == bundle.encoding.to_json()
    for name in ("tokenizer", "graph", "constrained", "forbidden", "temperature", "about"):
        assert getattr(again, name) == getattr(bundle, name)
    for name in ("transitions", "start", "end"):
        np.testing.assert_array_equal(getattr(again, name), getattr(bundle, name))


@pytest.mark.parametrize("upper", [False, True])
def test_a_classifier_is_read_back(tmp_path: Path, text_bundle: Any, upper: bool) -> None:
    bundle = text_bundle(upper=upper, temperature=1.5, recipe=RECIPE)
    write_bundle(tmp_path / "b", bundle)
    assert {file.name for file in (tmp_path / "b").iterdir()} == {INDEX, GRAPH}
    again = read_bundle(tmp_path / "b")
    assert isinstance(again, TextBundle)
    assert again.encoding.to_json() == bundle.encoding.to_json()
    assert (again.graph, again.temperature, again.about) == (bundle.graph, 1.5, bundle.about)


def test_a_tagger_without_a_temperature_has_1(folder: Path) -> None:
    """Bundles of gonie 0.1 are not calibrated, and keep their probabilities."""
    index = json.loads((folder / INDEX).read_text("utf-8"))
    del index["temperature"]
    (folder / INDEX).write_text(json.dumps(index), "utf-8")
    assert read_bundle(folder).temperature == 1.0


@pytest.mark.parametrize("value", [0, -1.0, "warm", None, True])
def test_an_invalid_temperature_of_a_tagger_is_refused(folder: Path, value: Any) -> None:
    change(folder, temperature=value)
    with pytest.raises(BundleError, match="temperature"):
        read_bundle(folder)


@pytest.mark.parametrize("number", [1, 2])
def test_bundles_of_earlier_formats_are_read(folder: Path, bundle: TagBundle, number: int) -> None:
    """Models of earlier versions must still work. Format 1 has no forbidden transitions."""
    index = json.loads((folder / INDEX).read_text("utf-8"))
    if number == 1:
        del index["forbidden"]
    (folder / INDEX).write_text(json.dumps({**index, "format": number}), "utf-8")
    again = read_bundle(folder)
    assert isinstance(again, TagBundle)
    assert again.forbidden == ([] if number == 1 else bundle.forbidden)


def test_the_description_is_readable_and_starts_with_the_format(folder: Path) -> None:
    lines = (folder / INDEX).read_text("utf-8").splitlines()
    assert lines[1] == f'"format": {FORMAT},'
    assert lines[-2].startswith('"encoding": ')
    assert any("사람.conll" in line for line in lines)


def test_a_folder_with_other_files_is_not_replaced(folder: Path, bundle: TagBundle) -> None:
    write_bundle(folder, bundle)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt"):
        write_bundle(folder, bundle)


def test_a_bundle_that_could_not_be_read_is_not_written(
    folder: Path, bundle: TagBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gonie.runtime.bundle.LIMITS", {INDEX: 100})
    with pytest.raises(OutputError, match=r"more than 100, .*data\.min_feature_count"):
        write_bundle(folder, bundle)
    monkeypatch.undo()
    with pytest.raises(OutputError, match=r"could not be read again: tokenizer\.language is missing"):
        write_bundle(folder, replace(bundle, tokenizer={}))
    assert read_bundle(folder) is not None  # the previous bundle is still there


def test_a_newer_format_asks_for_a_newer_gonie(folder: Path) -> None:
    change(folder, format=FORMAT + 1, gonie="9.9")
    with pytest.raises(BundleError, match=r"unsupported bundle format 5, written by gonie 9\.9.*upgrade"):
        read_bundle(folder)


@pytest.mark.parametrize("name", [INDEX, GRAPH, WEIGHTS])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BundleError, match=f"not a complete bundle: no {name}"):
        read_bundle(folder)


@pytest.mark.parametrize("name", [GRAPH, WEIGHTS])
def test_a_damaged_file_is_named(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-3])
    with pytest.raises(BundleError, match=f"{name} has changed since it was exported"):
        read_bundle(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"3", b'{"format": "x"}', b"\xff\xfe"])
def test_an_invalid_description_is_refused(folder: Path, content: bytes) -> None:
    (folder / INDEX).write_bytes(content)
    with pytest.raises(BundleError, match=r"bundle\.json: (invalid JSON|not a bundle)"):
        read_bundle(folder)


@pytest.mark.parametrize(
    "values",
    [
        {"encoding": None},
        {"encoding": {}},
        {"encoding": {"words": 3}},
        {"files": []},
        {"recipe": "none"},
        {"tokenizer": 3},
        {"constrained": "yes"},
        {"forbidden": [3]},
        {"files": {}},
    ],
)
def test_invalid_values_are_refused_without_a_traceback(folder: Path, values: dict[str, Any]) -> None:
    """An untrusted file may have any content. Loading it must fail with a message."""
    change(folder, **values)
    with pytest.raises(BundleError, match="damaged bundle"):
        read_bundle(folder)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "notes.txt", "x/../model.onnx", ""])
def test_files_that_do_not_belong_to_a_bundle_are_refused(folder: Path, name: str) -> None:
    """Only known files are opened. The names in a description are never used as paths."""
    files = json.loads((folder / INDEX).read_text("utf-8"))["files"]
    change(folder, files={**files, name: "0" * 64})
    with pytest.raises(BundleError, match="unknown file"):
        read_bundle(folder)


def test_files_beyond_their_limit_are_refused_without_reading(folder: Path) -> None:
    with open(folder / WEIGHTS, "r+b") as file:
        file.truncate(1 << 40)  # a sparse file: it takes no disk space, but would fill the memory
    with pytest.raises(BundleError, match=r"weights\.safetensors: .*more than 134,217,728"):
        read_bundle(folder)


@pytest.mark.parametrize("name", [INDEX, GRAPH, WEIGHTS])
def test_a_pipe_is_refused_without_waiting(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(BundleError, match="not a regular file"):
        read_bundle(folder)


@pytest.mark.parametrize("number", [True, 0, -1, 4.0, "4", None])
def test_an_invalid_format_number_is_refused(folder: Path, number: Any) -> None:
    change(folder, format=number)
    with pytest.raises(BundleError, match="no valid format number"):
        read_bundle(folder)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_chain_with_nan_or_infinity_is_refused(folder: Path, bundle: TagBundle, value: float) -> None:
    write_bundle(folder, replace(bundle, start=np.full_like(bundle.start, value)))
    with pytest.raises(BundleError, match="not finite float32"):
        read_bundle(folder)


def test_a_chain_of_integers_is_refused(folder: Path, bundle: TagBundle) -> None:
    whole = {
        name: np.zeros(getattr(bundle, name).shape, np.int64) for name in ("transitions", "start", "end")
    }
    content = safetensors.numpy.save(whole)
    (folder / WEIGHTS).write_bytes(content)
    files = json.loads((folder / INDEX).read_text("utf-8"))["files"]
    change(folder, files={**files, WEIGHTS: hashlib.sha256(content).hexdigest()})
    with pytest.raises(BundleError, match="not finite float32"):
        read_bundle(folder)


@pytest.mark.parametrize("key", ["tokenizer", "task", "constrained", "recipe", "files", "encoding"])
def test_a_missing_key_is_named(folder: Path, key: str) -> None:
    index = json.loads((folder / INDEX).read_text("utf-8"))
    del index[key]
    (folder / INDEX).write_text(json.dumps(index), "utf-8")
    with pytest.raises(BundleError, match=key):
        read_bundle(folder)


@pytest.mark.parametrize("task", ["dance", None, ["tag"]])
def test_an_unknown_task_is_refused(folder: Path, task: Any) -> None:
    change(folder, task=task)
    with pytest.raises(BundleError, match="unknown task"):
        read_bundle(folder)


def test_a_task_that_does_not_match_the_files_is_refused(
    folder: Path, tmp_path: Path, text_bundle: Any
) -> None:
    change(folder, task="classify", temperature=1.0)
    with pytest.raises(BundleError, match="damaged bundle"):
        read_bundle(folder)
    write_bundle(tmp_path / "texts", text_bundle())
    change(tmp_path / "texts", task="tag")
    with pytest.raises(BundleError, match="damaged bundle"):
        read_bundle(tmp_path / "texts")


@pytest.mark.parametrize(
    "values",
    [
        {"temperature": 0.0},
        {"temperature": -1.0},
        {"temperature": "warm"},
        {"temperature": None},
        {"encoding": {}},
        {"encoding": {"passages": {"tokenizer": {"language": "xx", "unit": "word"}}}},
        {"recipe": []},
    ],
)
def test_invalid_values_of_a_classifier_are_refused_without_a_traceback(
    tmp_path: Path, text_bundle: Any, values: dict[str, Any]
) -> None:
    write_bundle(tmp_path / "b", text_bundle())
    change(tmp_path / "b", **values)
    with pytest.raises(BundleError, match="damaged bundle"):
        read_bundle(tmp_path / "b")


def test_a_classifier_replaces_a_tagger(folder: Path, text_bundle: Any, bundle: TagBundle) -> None:
    """A run that is trained again for another task writes to the same folder."""
    write_bundle(folder, text_bundle())
    assert not (folder / WEIGHTS).exists()
    write_bundle(folder, bundle)
    assert isinstance(read_bundle(folder), TagBundle)


def test_files_that_are_not_of_the_previous_bundle_are_kept(
    folder: Path, text_bundle: Any, bundle: TagBundle
) -> None:
    """A file is replaced only if the description has its digest."""
    change(folder, files={WEIGHTS: "0" * 64, "notes.txt": "0" * 64})
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt, weights\.safetensors"):
        write_bundle(folder, text_bundle())
    assert (folder / "notes.txt").read_text() == "mine"


def test_an_interrupted_export_is_replaced_by_one_of_another_task(folder: Path, text_bundle: Any) -> None:
    folder.rename(backup_path(folder))
    write_bundle(folder, text_bundle())
    assert isinstance(read_bundle(folder), TextBundle)


# --- a task that gonie does not have ---------------------------------------------------------------------


class Letters:
    """An encoding."""

    def to_json(self) -> list[str]:
        return ["a", "b"]


@dataclass(frozen=True)
class Dance:
    """The bundle of a new task with a file of its own."""

    task: ClassVar[str] = "dance"
    further: ClassVar[Mapping[str, int]] = {"steps.bin": 10}

    graph: bytes
    steps: bytes
    forms: bytes | None = None
    about: About = field(default_factory=About)
    encoding: Letters = field(default_factory=Letters)

    def describe(self) -> dict[str, Any]:
        return {"beats": 3}

    def files(self) -> dict[str, bytes]:
        return {"steps.bin": self.steps}

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        if index["beats"] not in (3, 4):
            raise ValueError(f"beats is {index['beats']}")

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> Dance:
        return cls(graph=graphs.graph, forms=graphs.forms, steps=files["steps.bin"])


def test_the_format_supports_any_task(tmp_path: Path) -> None:
    kinds = {Dance.task: Dance}
    write_bundle(tmp_path / "b", Dance(b"g", b"123", forms=b"f"))
    found = read_kinds(tmp_path / "b", kinds)
    assert (found.graph, found.forms, found.steps) == (b"g", b"f", b"123")
    change(tmp_path / "b", beats=5)
    with pytest.raises(BundleError, match="beats is 5"):
        read_kinds(tmp_path / "b", kinds)
    write_bundle(tmp_path / "b", Dance(b"g", b"12345678901"))
    with pytest.raises(BundleError, match=r"steps\.bin: 11 bytes, more than 10"):
        read_kinds(tmp_path / "b", kinds)
    with pytest.raises(BundleError, match="unknown task 'dance'"):
        read_kinds(tmp_path / "b", {TagBundle.task: TagBundle})


def test_a_missing_tokenizer_asks_to_install_its_extra(
    tmp_path: Path, text_bundle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error must say which extra to install, not that the bundle is damaged."""
    write_bundle(tmp_path / "b", text_bundle())

    def missing(**_: str) -> None:
        raise MissingExtraError("kiwipiepy", extra="korean", purpose="splitting Korean into morphemes")

    monkeypatch.setattr("gonie.text.passages.tokenizer", missing)
    with pytest.raises(MissingExtraError, match="pip install"):
        read_bundle(tmp_path / "b")


def test_a_chain_of_another_size_is_refused(tmp_path: Path, encoding: Encoding, bundle: TagBundle) -> None:
    strange = TagBundle(
        encoding=encoding,
        tokenizer=bundle.tokenizer,
        graph=b"",
        transitions=np.zeros((2, 2), np.float32),
        start=bundle.start,
        end=bundle.end,
    )
    write_bundle(tmp_path / "b", strange)
    with pytest.raises(BundleError, match=f"not a chain over {len(encoding.labels)} labels"):
        read_bundle(tmp_path / "b")


def test_a_missing_or_interrupted_folder_is_reported(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(BundleError, match="folder not found"):
        read_bundle(tmp_path / "nowhere")
    with pytest.raises(BundleError, match="expected a model's folder, got a file"):
        read_bundle(folder / INDEX)
    folder.rename(backup_path(folder))
    with pytest.raises(BundleError, match=r"export was interrupted\. Run: mv .*\.bundle\.old"):
        read_bundle(folder)
