"""The bundle's format: what is written is read back, and anything wrong is a clear refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.data.encoding import Encoding
from gonie.errors import BundleError, OutputError
from gonie.runtime.bundle import GRAPH, INDEX, WEIGHTS, Bundle, read_bundle, write_bundle
from gonie.runtime.folder import set_aside

RECIPE = {"task": "tag", "data": {"train": "사람.conll", "columns": {"pos": 1}}}


@pytest.fixture
def bundle(encoding: Encoding) -> Bundle:
    size = len(encoding.labels)
    random = np.random.default_rng(0)
    return Bundle(
        encoding=encoding,
        tokenizer={"language": "ko", "unit": "morpheme"},
        graph=b"not really a graph",
        transitions=random.normal(size=(size, size)).astype(np.float32),
        start=random.normal(size=size).astype(np.float32),
        end=random.normal(size=size).astype(np.float32),
        constrained=False,
        forbidden=["B-PER -> B-PER"],
        model={"weights": 12},
        scores={"dev": {"f1": 0.5}},
        recipe=RECIPE,
    )


@pytest.fixture
def folder(tmp_path: Path, bundle: Bundle) -> Path:
    write_bundle(tmp_path / "bundle", bundle)
    return tmp_path / "bundle"


def change(folder: Path, **values: Any) -> None:
    index = json.loads((folder / INDEX).read_text("utf-8"))
    index.update(values)
    (folder / INDEX).write_text(json.dumps(index), "utf-8")


def test_what_is_written_is_read_back(folder: Path, bundle: Bundle) -> None:
    again = read_bundle(folder)
    assert again.encoding.to_json() == bundle.encoding.to_json()
    for name in (
        "tokenizer",
        "graph",
        "constrained",
        "forbidden",
        "task",
        "model",
        "scores",
        "recipe",
        "gonie",
    ):
        assert getattr(again, name) == getattr(bundle, name)
    for name in ("transitions", "start", "end"):
        np.testing.assert_array_equal(getattr(again, name), getattr(bundle, name))


def test_a_bundle_of_the_first_format_has_no_rules_of_its_own(folder: Path) -> None:
    index = json.loads((folder / INDEX).read_text("utf-8"))
    del index["forbidden"]
    (folder / INDEX).write_text(json.dumps({**index, "format": 1}), "utf-8")
    assert read_bundle(folder).forbidden == []


def test_the_description_opens_with_what_a_person_looks_for(folder: Path) -> None:
    lines = (folder / INDEX).read_text("utf-8").splitlines()
    assert lines[1] == '"format": 2,'
    assert lines[-2].startswith('"encoding": ')
    assert any("사람.conll" in line for line in lines)


def test_a_bundle_is_replaced_by_a_bundle_only(folder: Path, bundle: Bundle) -> None:
    write_bundle(folder, bundle)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt"):
        write_bundle(folder, bundle)


def test_a_newer_format_asks_for_a_newer_gonie(folder: Path) -> None:
    change(folder, format=3, gonie="9.9")
    with pytest.raises(BundleError, match=r"format 2 or lower, got 3, written by gonie 9\.9.*upgrade"):
        read_bundle(folder)


@pytest.mark.parametrize("name", [INDEX, GRAPH, WEIGHTS])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BundleError, match=f"got no {name}"):
        read_bundle(folder)


@pytest.mark.parametrize("name", [GRAPH, WEIGHTS])
def test_a_damaged_file_is_named(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-3])
    with pytest.raises(BundleError, match=f"{name} is not the file that was exported"):
        read_bundle(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"3", b'{"format": "x"}', b"\xff\xfe"])
def test_a_description_that_is_none_is_refused(folder: Path, content: bytes) -> None:
    (folder / INDEX).write_bytes(content)
    with pytest.raises(BundleError, match=r"bundle\.json: expected"):
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
        {"files": {}},
    ],
)
def test_wrong_values_are_refused_not_traced(folder: Path, values: dict[str, Any]) -> None:
    """A stranger's file may hold anything; loading it must end in a sentence."""
    change(folder, **values)
    with pytest.raises(BundleError, match="expected the keys of bundle format 2"):
        read_bundle(folder)


@pytest.mark.parametrize("key", ["tokenizer", "task", "constrained", "recipe", "files", "encoding"])
def test_a_missing_key_is_named(folder: Path, key: str) -> None:
    index = json.loads((folder / INDEX).read_text("utf-8"))
    del index[key]
    (folder / INDEX).write_text(json.dumps(index), "utf-8")
    with pytest.raises(BundleError, match=key):
        read_bundle(folder)


def test_a_chain_of_another_size_is_refused(tmp_path: Path, encoding: Encoding, bundle: Bundle) -> None:
    strange = Bundle(
        encoding=encoding,
        tokenizer={},
        graph=b"",
        transitions=np.zeros((2, 2), np.float32),
        start=bundle.start,
        end=bundle.end,
    )
    write_bundle(tmp_path / "b", strange)
    with pytest.raises(BundleError, match=f"expected a chain over {len(encoding.labels)} labels"):
        read_bundle(tmp_path / "b")


def test_no_folder_is_said(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(BundleError, match="expected a bundle's folder, got nothing there"):
        read_bundle(tmp_path / "nowhere")
    with pytest.raises(BundleError, match="expected a bundle's folder, got a file"):
        read_bundle(folder / INDEX)
    folder.rename(set_aside(folder))
    with pytest.raises(BundleError, match=r"stopped half-way. Do: mv .*\.bundle\.old"):
        read_bundle(folder)
