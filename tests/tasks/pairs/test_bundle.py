"""Loading bundles of pair models: an invalid bundle.json is refused with a message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.errors import BundleError
from gonie.runtime.bundle import write_bundle
from gonie.tasks.pairs.bundle import PairBundle
from gonie.tasks.pairs.classifier import PairClassifier

INDEX = "bundle.json"


@pytest.fixture
def folder(pair_bundle: Callable[..., PairBundle], tmp_path: Path) -> Callable[..., Path]:
    """Writes a bundle with changes to its bundle.json; a change is a dotted key and a value."""

    def write(*changes: tuple[str, Any], values: bool = False) -> Path:
        write_bundle(tmp_path / "b", pair_bundle(values=values))
        index = json.loads((tmp_path / "b" / INDEX).read_text("utf-8"))
        for path, value in changes:
            *way, last = path.split(".")
            inner = index
            for step in way:
                inner = inner[step]
            inner[last] = value
        (tmp_path / "b" / INDEX).write_text(json.dumps(index), "utf-8")
        return tmp_path / "b"

    return write


def test_a_written_bundle_is_read_back(folder: Callable[..., Path]) -> None:
    model: Any = gonie.load(folder())
    assert isinstance(model, PairClassifier)
    assert model("good", "good").label == "same"
    value: Any = gonie.load(folder(values=True))
    assert value.gives_values
    assert value("good", "good").value == pytest.approx(4.91, abs=0.01)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("temperature", 0.0),
        ("temperature", -1.0),
        ("temperature", "warm"),
        ("temperature", None),
        ("encoding", {}),
        ("encoding.texts", None),
        ("encoding.scale", [5.0, 0.0]),
        ("encoding.scale", [1.0, 1.0]),
        ("encoding.scale", [1.0]),
        ("encoding.scale", []),
        ("encoding.scale", [0.0, 5.0, 9.0]),
        ("encoding.scale", ["0", "5"]),
        ("encoding.scale", 5.0),
        ("encoding.texts.labels", []),
        ("encoding.texts.labels", ["a"]),
        ("encoding.texts.labels", ["a", "a"]),
        ("encoding.texts.labels", ["a", "b", "c"]),
        ("encoding.texts.labels", [1, 2]),
        ("encoding.texts.passages.max_tokens", 0),
        ("encoding.texts.passages.max_tokens", -1),
        ("encoding.texts.passages.max_tokens", 2001),
        ("encoding.texts.passages.max_tokens", 10**9),
        ("encoding.texts.passages.max_tokens", 10**30),
        ("encoding.texts.passages.max_tokens", 1.5),
        ("encoding.texts.passages.by", "line"),
        ("encoding.texts.passages.by", "sentence"),
        ("encoding.texts.passages.tokenizer", {"language": "xx", "unit": "word"}),
        ("encoding.texts.several", True),
        ("recipe", []),
        ("recipe", {"data": []}),
        ("recipe", {"data": {"text_columns": ["only one"]}}),
        ("recipe", {"data": {"text_columns": ["a", "b", "c"]}}),
        ("recipe", {"data": {"text_columns": "ab"}}),
        ("recipe", {"data": {"label_column": 7}}),
    ],
    ids=str,
)
def test_an_invalid_value_raises_a_bundle_error(folder: Callable[..., Path], path: str, value: Any) -> None:
    with pytest.raises(BundleError):
        gonie.load(folder((path, value)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("encoding.scale", None),
        ("encoding.scale", [5.0, 0.0]),
        ("encoding.scale", [0.0, 0.0]),
        ("encoding.texts.labels", ["a", "b"]),
    ],
    ids=str,
)
def test_a_scale_that_does_not_fit_its_model_is_refused(
    folder: Callable[..., Path], path: str, value: Any
) -> None:
    with pytest.raises(BundleError):
        gonie.load(folder((path, value), values=True))


@pytest.mark.parametrize("task", ["tag", "classify"])
def test_a_bundle_of_another_task_is_refused(folder: Callable[..., Path], task: str) -> None:
    with pytest.raises(BundleError, match="damaged bundle"):
        gonie.load(folder(("task", task)))


@pytest.mark.parametrize("key", ["temperature", "encoding", "files", "recipe"])
def test_a_missing_key_is_named(folder: Callable[..., Path], key: str) -> None:
    path = folder()
    index = json.loads((path / INDEX).read_text("utf-8"))
    del index[key]
    (path / INDEX).write_text(json.dumps(index), "utf-8")
    with pytest.raises(BundleError, match=key):
        gonie.load(path)


def test_a_bundle_loads_and_answers_without_torch(pair_runs: Path) -> None:
    """The core install has no torch, and must run models that were trained elsewhere."""
    program = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'onnx', 'scipy', 'numba'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import gonie\n"
        f"runs = {str(pair_runs)!r}\n"
        "label = gonie.load(runs + '/labels')('The plot is fine.', 'The plot is dull.')\n"
        "value = gonie.load(runs + '/values')('The plot is fine.', 'The plot is dull.')\n"
        "assert label.label in ('same', 'other') and 0 <= value.value <= 5\n"
        "sys.argv = ['gonie', 'classify', runs + '/labels', 'The plot is fine.', 'It is dull.']\n"
        "from gonie.cli.main import main\n"
        "main()\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in done.stdout.splitlines()} == {"same", "other"}
