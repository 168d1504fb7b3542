"""Tests exporting a finished run again: as float32 or int8, checked on its dev data or on a file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gonie import load
from gonie.errors import BundleError, GonieError, InputError
from gonie.export.driver import Exported
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import prepare
from gonie.training.export_run import export_run, open_run
from gonie.training.run import start_run

WORDS = [["Anna", "Kim", "lives", "in", "Seoul"], ["Seoul"]]
TEXTS = ["The plot is silly. The cast is dull.", "The ending is lovely."]


def quiet(text: str) -> None:
    pass


def exported(
    run: Path, out: Path, *, int8: bool = False, data: Path | None = None, onnx: Path | None = None
) -> Exported:
    return export_run(run, out, int8=int8, onnx=onnx, data=data, note=quiet)


def with_elmo(folder: Path, bilm: Path, out: Path, silence: Any, *changes: str) -> Path:
    (recipe,) = folder.glob("*.toml")
    assert start_run(load_recipe(recipe, [f"model.elmo.bilm={bilm}", *changes]), out, silence) is not None
    return out


@pytest.fixture(scope="module")
def elmo_run(toy: Path, toy_bilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.conftest import Silence

    return with_elmo(toy, toy_bilm, tmp_path_factory.mktemp("runs") / "elmo", Silence())


def test_a_float_export_equals_the_bundle_of_training(toy_run: Path, tmp_path: Path) -> None:
    found = exported(toy_run, tmp_path / "out")
    assert found.int8 is None
    assert found.difference.value <= 1e-4
    assert found.size == sum(path.stat().st_size for path in (tmp_path / "out").iterdir())
    for name in ("bundle.json", "model.onnx", "weights.safetensors"):
        assert (tmp_path / "out" / name).read_bytes() == (toy_run / "bundle" / name).read_bytes()


def test_a_run_with_few_shots_and_a_dev_file_is_verified_on_the_dev_file(
    text_toy: Path, tmp_path: Path, silence: Any
) -> None:
    recipe = load_recipe(text_toy / "texts.toml", ["train.shots=5", "train.epochs=1"])
    assert start_run(recipe, tmp_path / "run", silence) is not None
    found = exported(tmp_path / "run", tmp_path / "out")
    assert found.difference.value <= 1e-4
    alone = exported(tmp_path / "run", tmp_path / "same", data=text_toy / "dev.tsv")
    assert alone.difference.tokens == found.difference.tokens > 0


def test_an_int8_export_multiplies_integers_and_keeps_the_answers(elmo_run: Path, tmp_path: Path) -> None:
    found = exported(elmo_run, tmp_path / "out", int8=True)
    assert found.int8 is not None
    assert found.int8.unchanged >= 0.998
    assert b"MatMulInteger" in (tmp_path / "out" / "model.onnx").read_bytes()
    assert b"MatMulInteger" not in (elmo_run / "bundle" / "model.onnx").read_bytes()
    tagger: Any = load(tmp_path / "out")
    together = [tagging.tags for tagging in tagger.tag_tokens(WORDS)]
    assert together == [tagger.tag_tokens([words])[0].tags for words in WORDS]
    assert together == [tagging.tags for tagging in load(elmo_run).tag_tokens(WORDS)]  # type: ignore[union-attr]


def test_classifiers_are_exported_as_float_and_int8(
    text_toy: Path, toy_bilm: Path, tmp_path: Path, silence: Any
) -> None:
    run = with_elmo(text_toy, toy_bilm, tmp_path / "run", silence)
    assert exported(run, tmp_path / "floats").int8 is None
    found = exported(run, tmp_path / "bytes", int8=True).int8
    assert found is not None
    assert (found.answers, found.metric) == (20, "accuracy")
    labels = [[load(folder)(text).label for text in TEXTS] for folder in (run, tmp_path / "bytes")]  # type: ignore[operator]
    assert labels[0] == labels[1]


@pytest.mark.parametrize(("kind", "metric"), [("labels", "accuracy"), ("values", "pearson")])
def test_pair_models_are_exported_as_float_and_int8(
    kind: str, metric: str, pair_toy: Path, toy_bilm: Path, *, tmp_path: Path, silence: Any
) -> None:
    """The models use contextual embeddings of a language model."""
    run = tmp_path / "run"
    recipe = load_recipe(pair_toy / f"{kind}.toml", [f"model.elmo.bilm={toy_bilm}", "model.elmo.at=both"])
    assert start_run(recipe, run, silence) is not None
    assert exported(run, tmp_path / "floats").difference.value < 1e-4
    found = exported(run, tmp_path / "bytes", int8=True).int8
    assert found is not None
    assert (found.answers, found.metric) == (20, metric)
    pair = ("The plot is silly.", "The ending is lovely.")
    one, other = (load(folder)(*pair) for folder in (run, tmp_path / "bytes"))
    assert one.label == other.label
    assert one.value == pytest.approx(other.value, abs=0.1)


def test_the_export_is_checked_on_the_held_out_sentences(toy: Path, tmp_path: Path, silence: Any) -> None:
    """On training sentences, a bad export could pass because the model has memorised them."""
    recipe = load_recipe(toy / "toy.toml", ["data.dev=none", "data.holdout=0.2", "train.epochs=1"])
    assert start_run(recipe, tmp_path / "run", silence) is not None
    job: Any = prepare(recipe, quiet)
    again = open_run(tmp_path / "run", None, quiet).examples
    assert [sentence.words for sentence in again] == [sentence.words for sentence in job.data.dev]  # type: ignore[attr-defined]
    assert 0 < len(again) < 40


def test_the_export_is_checked_on_the_held_out_texts(text_toy: Path, tmp_path: Path, silence: Any) -> None:
    recipe = load_recipe(text_toy / "texts.toml", ["data.dev=none", "data.holdout=0.2", "train.epochs=1"])
    assert start_run(recipe, tmp_path / "run", silence) is not None
    job: Any = prepare(recipe, quiet)
    again = open_run(tmp_path / "run", None, quiet).examples
    assert [text.text for text in again] == [text.text for text in job.data.dev]  # type: ignore[attr-defined]
    assert 0 < len(again) < 30


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_the_export_is_checked_on_the_held_out_pairs(
    kind: str, pair_toy: Path, tmp_path: Path, silence: Any
) -> None:
    changes = ["data.dev=none", "data.holdout=0.2", "train.epochs=1"]
    recipe = load_recipe(pair_toy / f"{kind}.toml", changes)
    assert start_run(recipe, tmp_path / "run", silence) is not None
    job: Any = prepare(recipe, quiet)
    assert open_run(tmp_path / "run", None, quiet).examples == job.data.dev
    assert 0 < len(job.data.dev) < 30


def test_another_file_can_replace_the_dev_data_of_the_run(elmo_run: Path, toy: Path, tmp_path: Path) -> None:
    """The training files may not exist on the machine that exports."""
    moved = tmp_path / "moved"
    shutil.copytree(elmo_run, moved)
    text = (moved / "recipe.toml").read_text("utf-8").replace(str(toy), str(tmp_path / "gone"))
    (moved / "recipe.toml").write_text(text, "utf-8")
    with pytest.raises(InputError, match="gone"):
        exported(moved, tmp_path / "out", int8=True)
    assert not (tmp_path / "out").exists()
    found = exported(moved, tmp_path / "out", int8=True, data=toy / "test.conll").int8
    assert found is not None
    assert found.answers == len((toy / "test.conll").read_text("utf-8").split()) // 2


def test_a_rejected_export_leaves_nothing(
    elmo_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gonie.export.int8.UNCHANGED", 1.01)
    with pytest.raises(GonieError, match="int8 changes the model too much"):
        exported(elmo_run, tmp_path / "out", int8=True)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_bundle_is_not_overwritten(elmo_run: Path, tmp_path: Path) -> None:
    exported(elmo_run, tmp_path / "out")
    before = (tmp_path / "out" / "model.onnx").read_bytes()
    with pytest.raises(GonieError, match="already contains a bundle"):
        exported(elmo_run, tmp_path / "out", int8=True)
    assert (tmp_path / "out" / "model.onnx").read_bytes() == before


@pytest.mark.parametrize("spoil", ["best.safetensors", "encoding.json"])
def test_a_folder_without_the_files_of_a_run_is_refused(toy_run: Path, tmp_path: Path, spoil: str) -> None:
    shutil.copytree(toy_run, tmp_path / "run")
    (tmp_path / "run" / spoil).unlink()
    with pytest.raises(InputError, match=f"not a training run: {spoil} not found"):
        exported(tmp_path / "run", tmp_path / "out")


def test_an_unfinished_run_is_refused(toy_run: Path, tmp_path: Path) -> None:
    shutil.copytree(toy_run, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "bundle")
    with pytest.raises(BundleError, match="training has not finished"):
        exported(tmp_path / "run", tmp_path / "out")


def test_the_description_of_the_bundle_is_unchanged_except_files(elmo_run: Path, tmp_path: Path) -> None:
    exported(elmo_run, tmp_path / "out", int8=True)
    old, new = (
        json.loads((f / "bundle.json").read_text("utf-8")) for f in (elmo_run / "bundle", tmp_path / "out")
    )
    assert {key for key in old if old[key] != new[key]} == {"files"}
