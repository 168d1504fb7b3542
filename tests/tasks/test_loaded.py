"""Models loaded with their task: commands and options that do not apply are refused by name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import BundleError, GonieError
from gonie.runtime.bundle import write_bundle
from gonie.tasks.loaded import LoadedModel, load_model
from gonie.tasks.recipe import load_recipe
from gonie.tasks.table import TASKS
from gonie.tasks.task import Task
from gonie.training.run import start_run


@pytest.fixture
def classifier(text_bundle: Callable[..., Any], tmp_path: Path) -> LoadedModel:
    write_bundle(tmp_path / "b", text_bundle())
    return load_model(tmp_path / "b")


@pytest.fixture
def pairs(pair_bundle: Callable[..., Any], tmp_path: Path) -> LoadedModel:
    write_bundle(tmp_path / "p", pair_bundle())
    return load_model(tmp_path / "p")


def test_every_loaded_model_has_its_task(classifier: LoadedModel, pairs: LoadedModel, toy_run: Path) -> None:
    tagger = load_model(toy_run)
    for loaded, name in ((classifier, "classify"), (tagger, "tag"), (pairs, "pair")):
        assert loaded.task is TASKS[name]
        assert loaded.model.task == name
        command = "classify" if name == "pair" else name
        assert isinstance(loaded.records(command), type(loaded.task.records()))


def test_the_wrong_command_is_refused_with_the_right_one(classifier: LoadedModel) -> None:
    with pytest.raises(BundleError, match=r"b is a classifier; use gonie classify .*b$"):
        classifier.records("tag")


def test_options_that_do_not_apply_are_named(classifier: LoadedModel, toy_run: Path) -> None:
    assert "text_column" in classifier.evaluator(["text_column"]).options
    with pytest.raises(GonieError, match=r"^--mode does not apply to classifiers$"):
        classifier.evaluator(["mode"])
    with pytest.raises(GonieError, match=r"^--text-column, --label-column do not apply to taggers$"):
        load_model(toy_run).evaluator(["text_column", "label_column"])
    with pytest.raises(GonieError, match=r"^--nbest works only with taggers; .* is a classifier$"):
        classifier.explained({"nbest": 3})
    assert classifier.explained({"label": "positive"}).noun == "text"


def test_options_that_do_not_apply_to_pair_models_are_named(pairs: LoadedModel) -> None:
    assert {"text_column", "label_column", "map"} == pairs.evaluator(["text_column", "label_column"]).options
    with pytest.raises(GonieError, match=r"^--mode does not apply to pair classifiers$"):
        pairs.evaluator(["mode"])
    with pytest.raises(BundleError, match=r"p is a pair classifier; use gonie classify .*p$"):
        pairs.records("tag")
    assert pairs.explained({"label": "same"}).noun == "pair"


def test_operations_that_a_task_lacks_are_refused(classifier: LoadedModel) -> None:
    own = TASKS["tag"]
    bare = Task(name="bare", model="toy", examples="x", answers="y", recipe=own.recipe, torch=own.torch)
    loaded = classifier._replace(task=bare)
    with pytest.raises(BundleError, match="is a toy"):
        loaded.records("tag")
    with pytest.raises(GonieError, match="cannot be scored"):
        loaded.evaluator([])
    with pytest.raises(GonieError, match="cannot be explained"):
        loaded.explained({})


def test_files_that_a_model_learned_are_named(toy: Path, tmp_path: Path, silence: Any) -> None:
    """Also by its start, by replay, and not a domain that it left out."""
    for name in ("web", "news", "kept"):
        shutil.copy(toy / "train.conll", tmp_path / name)
    named = [f"data.train.{name}={tmp_path / name}" for name in ("web", "news")]
    runs = {
        "first": [*named, "data.leave_out=news"],
        "second": [
            f"data.train={tmp_path / 'news'}",
            f"train.start={tmp_path / 'first'}",
            "train.keep_labels=true",
            f"data.replay={tmp_path / 'kept'}",
        ],
    }
    for name, changes in runs.items():
        recipe = load_recipe(toy / "toy.toml", [*changes, "train.epochs=1"])
        assert start_run(recipe, tmp_path / name, silence) is not None
    first, second = (load_model(tmp_path / name) for name in runs)
    assert first.notes_on(tmp_path / "news") == []
    assert "the model was trained on" in first.notes_on(tmp_path / "web")[0]
    for name in ("news", "kept"):
        assert "the model was trained on" in second.notes_on(tmp_path / name)[0]
    (told,) = second.notes_on(tmp_path / "web")
    assert f"the model started from {tmp_path / 'first'}, which was trained on" in told
