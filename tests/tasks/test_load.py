"""Loading trained models without torch, and the errors when there is no model to load."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import gonie
from gonie.errors import BundleError
from gonie.features.encoding import Encoding
from gonie.runtime.bundle import write_bundle
from gonie.tasks.bundled import BundledModel
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.load import load, load_classifier, load_tagger
from gonie.tasks.tagging.bundle import TagBundle
from gonie.text.tokenizers import tokenizer


@pytest.fixture
def bundle(encoding: Encoding, word_scorer: Any) -> TagBundle:
    """The toy tagger as a real bundle whose graph is a single lookup."""
    table = word_scorer(encoding, {"George": "S-PER", "New": "B-LOC", "York": "E-LOC"}).table
    size = len(encoding.labels)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "words"], ["scores"])],
        "look-up",
        [helper.make_tensor_value_info("words", TensorProto.INT64, ["B", "T"])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["B", "T", size])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return TagBundle(
        encoding=encoding,
        tokenizer=tokenizer(language="en", unit="word").to_json(),
        graph=bytes(model.SerializeToString()),
        transitions=np.zeros((size, size), np.float32),
        start=np.zeros(size, np.float32),
        end=np.zeros(size, np.float32),
    )


@pytest.fixture
def run(tmp_path: Path, bundle: TagBundle) -> Path:
    write_bundle(tmp_path / "run" / "bundle", bundle)
    return tmp_path / "run"


def test_a_run_folder_and_its_bundle_load_the_same_model(run: Path) -> None:
    for path in (run, run / "bundle", str(run)):
        document = gonie.load(path)("George is in New York.")
        assert [(span.text, span.label) for span in document.spans] == [
            ("George", "PER"),
            ("New York", "LOC"),
        ]


def test_tagging_never_imports_torch(run: Path) -> None:
    """The core install has no torch: `gonie.load` and `gonie tag` must work without it."""
    program = (
        "import sys, gonie\n"
        "assert 'onnxruntime' not in sys.modules, 'importing gonie should be cheap'\n"
        f"tagger = gonie.load({str(run)!r})\n"
        "assert tagger('George sleeps.').spans[0].text == 'George'\n"
        "assert len(list(tagger.pipe(['a', 'b']))) == 2\n"
        "from gonie.cli.tag import tag\n"
        f"tag({str(run)!r}, text='George sleeps.', output='jsonl')\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('torch', 'onnx', 'pydantic')])\n"
    )
    # the tests' own path, in case the package is not installed
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_unconstrained_bundles_ignore_the_tagging_scheme(tmp_path: Path, bundle: TagBundle) -> None:
    write_bundle(tmp_path / "free", replace(bundle, constrained=False))
    write_bundle(tmp_path / "held", bundle)
    words = [["New", "sleeps"]]
    assert load_tagger(tmp_path / "free").tag_tokens(words)[0].tags == ("B-LOC", "O")
    assert load_tagger(tmp_path / "held").tag_tokens(words)[0].tags != ("B-LOC", "O")


def test_a_corrupt_graph_is_refused(tmp_path: Path, bundle: TagBundle) -> None:
    write_bundle(tmp_path / "b", replace(bundle, graph=b"garbage"))
    with pytest.raises(BundleError, match="cannot load the ONNX graph"):
        load(tmp_path / "b")


def test_loading_the_wrong_kind_of_model_names_the_right_command(
    run: Path, tmp_path: Path, text_bundle: Any
) -> None:
    """A user who passes the wrong model is told which command to use."""
    write_bundle(tmp_path / "texts", text_bundle())
    with pytest.raises(BundleError, match=r"texts is a classifier; use gonie classify .*texts$"):
        load_tagger(tmp_path / "texts")
    with pytest.raises(BundleError, match=r"run is a tagger; use gonie tag .*run$"):
        load_classifier(run)


def test_a_classifier_loads_with_its_temperature_and_marks(tmp_path: Path, text_bundle: Any) -> None:
    write_bundle(
        tmp_path / "run" / "bundle", text_bundle(temperature=2.0, recipe={"data": {"marks": ["e1"]}})
    )
    classifier = load_classifier(tmp_path / "run")
    assert isinstance(gonie.load(tmp_path / "run"), TextClassifier)
    assert (classifier.temperature, classifier.marks) == (2.0, ("e1",))
    assert classifier("a good film").label == "positive"


def test_classifying_never_imports_torch(tmp_path: Path, text_bundle: Any) -> None:
    write_bundle(tmp_path / "b", text_bundle(upper=True))
    program = (
        "import sys, gonie\n"
        f"assert gonie.load({str(tmp_path / 'b')!r})('bad').label == 'negative'\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('torch', 'onnx', 'pydantic')])\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_a_folder_without_a_model_is_refused_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="folder not found"):
        load(tmp_path / "nowhere")
    with pytest.raises(BundleError, match=r"neither bundle\.json nor bundle/"):
        load(tmp_path)
    (tmp_path / "recipe.toml").write_text("")
    with pytest.raises(BundleError, match=r"training has not finished, .* Resume with: gonie train"):
        load(tmp_path)


def test_a_recipe_in_place_of_a_model_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BundleError, match=r"ner-ko is a recipe, .* gonie train ner-ko FILE\. .*runs/ner-ko"):
        load("ner-ko")
    with pytest.raises(BundleError, match=r"gonie pretrain elmo-ko FILE"):
        load("elmo-ko")


def test_a_model_says_what_it_is_in_a_notebook(
    run: Path, tmp_path: Path, bundle: TagBundle, text_bundle: Any
) -> None:
    """The default, <Tagger object at 0x7f…>, does not tell two models apart."""
    assert repr(load(run)) == f"<Tagger({str(run)!r}): 2 types: LOC, PER>"
    write_bundle(tmp_path / "texts", text_bundle())
    assert repr(load(tmp_path / "texts")).endswith("/texts'): 2 labels: negative, positive>")


def test_a_model_of_another_task_need_not_say_what_it_predicts() -> None:
    """Otherwise showing it in a notebook or a debugger raises an error."""

    class Other(BundledModel):
        pass

    assert repr(Other()) == "<Other()>"
