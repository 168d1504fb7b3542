"""Tests training with contextual embeddings (ELMo): caching, resuming, tuning and refusals."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gonie import load
from gonie.errors import InputError, RecipeError, ResumeError
from gonie.nn import Bypass
from gonie.nn.inference import to_tensors
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.elmo import ElmoConfig
from gonie.tasks.language_model.torch.folder import load_bilm, save_bilm
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.torch.build import contextual_parts
from gonie.tasks.torch.checkpoint import read_tensors
from gonie.tasks.torch.prepare import prepare
from gonie.tasks.torch.trained import load_trained
from gonie.training.fit import build_model
from gonie.training.optim import RATE, build_optimizer
from gonie.training.run import RunDisplay, resume_run, start_run
from gonie.training.variants import build_variants

SHORT = ("train.epochs=3", "model.encoder.hidden=6", "train.average=0.9")
ELMO = "embedding.parts.1."


class Quiet:
    """A display that records notes and can simulate a crash after some steps."""

    def __init__(self, steps: int = -1) -> None:
        self.notes: list[str] = []
        self._left = steps

    def note(self, text: str) -> None:
        self.notes.append(text)

    def step(self, step: object) -> None:
        self._left -= 1
        if not self._left:
            raise Crash

    def __getattr__(self, name: str) -> Callable[[object], None]:
        return lambda told: None


class Crash(BaseException):
    """An exception that no part of training handles."""


def trained(toy: Path, bilm: Path, out: Path, *changes: str, display: Any = None) -> Path:
    """Train the toy recipe with a language model and return the run folder."""
    (recipe,) = toy.glob("*.toml")
    loaded = load_recipe(recipe, [f"model.elmo.bilm={bilm}", *SHORT, *changes])
    watcher: RunDisplay = display or Quiet()
    assert start_run(loaded, out, watcher) is not None
    return out


def best(run: Path) -> dict[str, Tensor]:
    return read_tensors(run / "best.safetensors")[0]


def history(run: Path) -> list[dict[str, Any]]:
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if "seconds" not in k} for line in lines]


def same(one: Path, other: Path) -> bool:
    """Return whether two runs are the same, bit for bit."""
    first, second = best(one), best(other)
    assert history(one) == history(other)
    return all(torch.equal(first[name], second[name]) for name in first.keys() | second.keys())


@pytest.fixture(scope="module")
def run(toy: Path, toy_bilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a run that caches no vectors."""
    return trained(toy, toy_bilm, tmp_path_factory.mktemp("plain") / "run", "model.elmo.at=both")


@pytest.fixture
def bilm(toy_bilm: Path, tmp_path: Path) -> Path:
    """Copy the language model, so that a test may change or delete it."""
    return Path(shutil.copytree(toy_bilm / "bilm", tmp_path / "bilm"))


def test_the_language_model_is_frozen_and_the_mixes_are_trained(run: Path, toy_bilm: Path) -> None:
    weights = best(run)
    for name, weight in load_bilm(toy_bilm).bilm.state_dict().items():
        assert torch.equal(weights[f"{ELMO}bilm.{name}"], weight), name
    for mix in range(2):
        assert weights[f"{ELMO}mixes.{mix}.weights"].any()
        assert weights[f"{ELMO}mixes.{mix}.scale"] != 1.0
    assert history(run)[-1]["score"] > 0.5
    kept, _ = read_tensors(run / "last.safetensors")
    assert not any("bilm" in name for name in kept), "a checkpoint has what moves, and that is small"


def test_cached_vectors_give_the_same_run(run: Path, toy: Path, toy_bilm: Path, tmp_path: Path) -> None:
    """This holds when the cache is written and when it is read."""
    changes = ("model.elmo.at=both", f"model.elmo.cache={tmp_path}/kept")
    first = trained(toy, toy_bilm, tmp_path / "first", *changes)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    assert len(written) == 2, "of train and of dev"
    again = trained(toy, toy_bilm, tmp_path / "again", *changes)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()} == written
    assert same(run, first)
    assert same(run, again)


def test_a_tuned_language_model_has_its_own_learning_rate(toy: Path, toy_bilm: Path) -> None:
    """At the learning rate of untrained weights it would forget what it has learned."""
    (path,) = toy.glob("*.toml")
    changes = [f"model.elmo.bilm={toy_bilm}", "model.elmo.tuned=true", "model.elmo.rate=0.25"]
    job = prepare(load_recipe(path, [*changes, *SHORT]), print)
    model = build_model(job)
    optimizer = build_optimizer(job.recipe.train, model.named_parameters(), job.rates(model))
    slow = next(group for group in optimizer.param_groups if group[RATE] == 0.25)
    (elmo,) = contextual_parts(model)
    assert {id(p) for p in slow["params"]} == {id(p) for p in elmo.bilm.parameters()}
    frozen = prepare(load_recipe(path, [changes[0], *SHORT]), print)
    assert frozen.rates(build_model(frozen)) == {}


@pytest.mark.parametrize("tuned", [False, True])
def test_a_crashed_and_resumed_run_equals_an_unbroken_one(
    toy: Path, toy_bilm: Path, tmp_path: Path, tuned: bool
) -> None:
    changes = ("train.checkpoint_seconds=1e-9", f"model.elmo.tuned={str(tuned).lower()}")
    whole = trained(toy, toy_bilm, tmp_path / "whole", *changes)
    for steps in (1, 14, 25):
        out = tmp_path / f"after-{steps}"
        with pytest.raises(Crash):
            trained(toy, toy_bilm, out, *changes, display=Quiet(steps))
        assert resume_run(out, Quiet()) is not None
        assert same(out, whole)


def test_a_run_records_the_name_of_a_shipped_language_model(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path into the package would be wrong once gonie is installed elsewhere."""
    (tmp_path / "en").mkdir()
    monkeypatch.chdir(tmp_path)
    display = Quiet(steps=3)
    with pytest.raises(Crash):
        trained(toy, Path("en"), tmp_path / "run", "train.checkpoint_seconds=1e-9", display=display)
    assert any("write ./en" in note for note in display.notes), display.notes
    assert load_recipe(tmp_path / "run" / "recipe.toml").model.elmo.bilm == "en"
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert resume_run(tmp_path / "run", Quiet()) is not None


def test_resuming_with_a_changed_language_model_is_refused(toy: Path, bilm: Path, tmp_path: Path) -> None:
    with pytest.raises(Crash):
        trained(toy, bilm, tmp_path / "run", "train.checkpoint_seconds=1e-9", display=Quiet(5))
    saved = load_bilm(bilm)
    with torch.no_grad():
        saved.bilm.words.projection.bias += 0.1
    save_bilm(bilm, saved)
    with pytest.raises(ResumeError, match="a file that the recipe names changed"):
        resume_run(tmp_path / "run", Quiet())


@pytest.mark.parametrize("at", ["input", "output"])
def test_the_recipe_sets_where_the_vectors_are_used(
    toy: Path, toy_bilm: Path, tmp_path: Path, at: str
) -> None:
    found = load_trained(trained(toy, toy_bilm, tmp_path / "run", f"model.elmo.at={at}", "train.epochs=1"))
    (elmo,) = contextual_parts(found.model)
    assert len(elmo.mixes) == 1
    assert isinstance(found.model.encoder, Bypass) == (at == "output")


def test_a_tuned_language_model_is_trained_and_not_cached(toy: Path, toy_bilm: Path, tmp_path: Path) -> None:
    changes = ("model.elmo.tuned=true", f"model.elmo.cache={tmp_path}/kept")
    out = trained(toy, toy_bilm, tmp_path / "run", *changes)
    weights = best(out)
    before = load_bilm(toy_bilm).bilm.state_dict()
    still = [name for name in before if torch.equal(weights[f"{ELMO}bilm.{name}"], before[name])]
    assert still == []
    assert not (tmp_path / "kept").exists(), "its vectors change with every step"


# --- after training --------------------------------------------------------------------------------------


def test_a_run_can_be_loaded_without_the_language_model(toy: Path, bilm: Path, tmp_path: Path) -> None:
    out = trained(toy, bilm, tmp_path / "run", "model.elmo.at=both", "model.elmo.normalize=true")
    shutil.rmtree(bilm)
    found, tagger = load_trained(out), load(out)
    assert isinstance(tagger, Tagger)
    sentences = tagger.tokenizer("Anna Kim lives in Seoul . Unheard of !")
    batch = to_tensors(found.encoding.encode(sentences).batch(np.arange(len(sentences))), torch.device("cpu"))
    with torch.no_grad():
        scores = found.model(batch)
    for row, wanted in enumerate(tagger.emissions(sentences)):
        np.testing.assert_allclose(scores[row, : len(wanted)], wanted, atol=1e-4)


def test_explain_shows_the_trained_weights_of_the_mixes(
    gonie: Callable[..., Any], run: Path, tmp_path: Path
) -> None:
    """This holds for the run folder and for its bundle."""
    weights, page = best(run), tmp_path / "why.html"
    for model in (run, run / "bundle"):
        done = gonie("explain", model, "Anna lives in Seoul .", "--html", page)
        assert done.code == 0, done.err
        for mix in range(2):
            for share in weights[f"{ELMO}mixes.{mix}.weights"].softmax(0).tolist():
                assert f"{share:.4f}" in done.out
                assert f"{share:.4f}" in page.read_text("utf-8")
            assert f"γ = {weights[f'{ELMO}mixes.{mix}.scale']:.4f}" in done.out
        assert "At the output" in done.out


@pytest.mark.parametrize(
    "levels",
    [("model.elmo.at=both",), ("model.sentences.encoder.hidden=4", "model.elmo.at=output")],
    ids=["one level", "two levels"],
)
def test_classifiers_are_trained_with_contextual_embeddings(
    gonie: Callable[..., Any], text_toy: Path, toy_bilm: Path, tmp_path: Path, levels: tuple[str, ...]
) -> None:
    kept = f"model.elmo.cache={tmp_path}/kept"
    plain = trained(text_toy, toy_bilm, tmp_path / "plain", *levels)
    assert same(trained(text_toy, toy_bilm, tmp_path / "kept-run", *levels, kept), plain)
    found, classifier = load_trained(plain), load(plain)
    assert isinstance(classifier, TextClassifier)
    passages = [classifier.passage(text) for text in ("The plot is dull. The cast is fine.", "  ", "Oh.")]
    corpus = found.encoding.encode_passages(passages)
    with torch.no_grad():
        scores = found.model(to_tensors(corpus.batch(np.arange(3)), torch.device("cpu")))
    readings = classifier.read(passages)
    np.testing.assert_allclose(scores, [reading.scores for reading in readings], atol=1e-4)
    assert "γ = " in gonie("explain", plain, "The plot is dull.", "--method", "erasure").out
    weights, before = best(plain), load_bilm(toy_bilm).bilm.state_dict()
    assert all(torch.equal(weights[f"{ELMO}bilm.{name}"], before[name]) for name in before)


# --- notes and refusals ----------------------------------------------------------------------------------


def test_a_language_model_of_another_language_is_refused(toy: Path, bilm: Path, tmp_path: Path) -> None:
    """Otherwise training would finish with a useless model."""
    index = bilm / "bilm.json"
    index.write_text(index.read_text("utf-8").replace('"language": "en"', '"language": "ko"'), "utf-8")
    with pytest.raises(RecipeError, match=r"is a language model for ko, but data\.language is en"):
        trained(toy, bilm, tmp_path / "run", "train.epochs=1")
    assert not (tmp_path / "run").exists()


def test_a_language_model_with_another_unit_gets_a_note(toy: Path, bilm: Path, tmp_path: Path) -> None:
    display = Quiet()
    index = bilm / "bilm.json"
    index.write_text(index.read_text("utf-8").replace('"unit": "word"', '"unit": "syllable"'), "utf-8")
    trained(toy, bilm, tmp_path / "run", "train.epochs=1", display=display)
    assert any("tokenised into words" in note and "data.unit=syllable" in note for note in display.notes)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (shutil.rmtree, ("language model not found", "gonie pretrain")),
        (lambda folder: (folder / "bilm.json").write_text("{"), ("bilm.json", "not a language model")),
        (lambda folder: (folder / "weights.safetensors").unlink(), ("weights.safetensors",)),
        (
            lambda folder: (folder / "weights.safetensors").write_bytes(
                (folder / "weights.safetensors").read_bytes()[:-7]
            ),
            ("weights.safetensors", "cannot read the weights"),
        ),
    ],
    ids=["missing", "index", "no weights", "short weights"],
)
def test_a_missing_or_damaged_language_model_is_refused(
    gonie: Callable[..., Any],
    toy: Path,
    bilm: Path,
    damage: Callable[[Path], object],
    words: tuple[str, ...],
) -> None:
    damage(bilm)
    out = bilm.parent / "run"
    done = gonie("train", toy / "toy.toml", "--set", f"model.elmo.bilm={bilm}", "--out", out)
    assert done.refused(str(bilm), *words)
    assert not out.exists()


def test_a_run_of_a_tagger_as_language_model_is_refused(
    gonie: Callable[..., Any], toy: Path, run: Path, tmp_path: Path
) -> None:
    done = gonie("train", toy / "toy.toml", "--set", f"model.elmo.bilm={run}", "--out", tmp_path / "run")
    assert done.refused(str(run))


# --- the default of ner ----------------------------------------------------------------------------------


def test_a_long_training_file_is_trained_without_a_language_model(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run has no section, and settings with the same meaning may be repeated to resume it."""
    monkeypatch.setattr("gonie.tasks.elmo.MOST_SENTENCES", 79)
    display, out = Quiet(), tmp_path / "run"
    trained(toy, Path("auto"), out, "train.epochs=1", display=display)
    assert "none, because the training file has more than 79 sentences" in display.notes[0]
    assert "[model.elmo]" not in (out / "recipe.toml").read_text("utf-8")
    for change in ("model.elmo.bilm=auto", "model.elmo.bilm=none", "model.elmo=none"):
        assert resume_run(out, Quiet(), [change]) is not None
    with pytest.raises(ResumeError, match=r"model\.elmo is unset, not .*\"en\""):
        resume_run(out, Quiet(), ["model.elmo.bilm=en"])


def test_a_variant_may_leave_the_choice_to_the_training_file(toy: Path) -> None:
    recipe = load_recipe(toy / "toy.toml", ['variants.more={"model.elmo.bilm" = "auto"}'])
    assert recipe.model.contextual == {}
    assert build_variants(recipe)["more"].model.contextual["elmo"] == ElmoConfig(bilm="en")


def test_a_pipe_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Counting its sentences would leave nothing to train on."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="cannot be a stream"):
        start_run(load_recipe("ner", [f"data.train={tmp_path}/pipe"]), tmp_path / "run", Quiet())
