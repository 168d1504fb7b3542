"""MC dropout and deep ensembles of trained models: if these break, their uncertainty says nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import gonie
from gonie.errors import InputError
from gonie.nn.inference import inferring
from gonie.tasks.classification.torch.mc_dropout import dropout_passes as text_passes
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.evaluation import read_sentences
from gonie.tasks.tagging.torch.mc_dropout import dropout_passes
from gonie.tasks.tagging.uncertainty import separate
from gonie.tasks.torch.mc_dropout import load_passes, pass_modes
from gonie.tasks.torch.trained import load_trained
from gonie.text.types import Sentence
from gonie.training.run import start_run

STRANGE = [
    Sentence(words=tuple(words.split()))
    for words in (
        "Xu Yi and Zed met far we",
        "in in Qo lives . Anna rains",
        "far Kim it Oslo Oslo we .",
        "Wu , Vo ; Lee Lima met",
        "rains Seoul Dora lives Bert in",
        "met Ab of Cd Ef",
    )
]


@pytest.fixture(scope="module")
def text_run(text_toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from conftest import Silence

    folder = tmp_path_factory.mktemp("runs") / "texts"
    assert start_run(load_recipe(text_toy / "texts.toml"), folder, Silence()) is not None
    return folder


@pytest.fixture(scope="module")
def seeds(toy: Path, toy_run: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The toy run, and two others of other seeds."""
    from conftest import Silence

    folders = [tmp_path_factory.mktemp("runs") / f"seed-{seed}" for seed in (2, 3)]
    for seed, folder in enumerate(folders, start=2):
        assert start_run(load_recipe(toy / "toy.toml", [f"train.seed={seed}"]), folder, Silence()) is not None
    return [toy_run, *folders]


def words_of(toy: Path, tagger: Any) -> list[Sentence]:
    return read_sentences(tagger, toy / "test.conll")


def test_passes_are_reproducible_and_differ_by_seed(toy: Path, toy_run: Path) -> None:
    tagger = gonie.load(toy_run)
    sentences = words_of(toy, tagger)
    one, same, other = (
        load_passes(toy_run, tagger, 4, seed=seed).tag_sentences(sentences) for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other
    assert all(tagging.entropies.mutual_information > 0 for tagging in one)
    again = load_passes(toy_run, tagger, 4, seed=1)
    assert again.tag_sentences(sentences) == again.tag_sentences(sentences) == one


def test_passes_without_dropout_are_the_model(toy: Path, toy_run: Path) -> None:
    tagger = gonie.load(toy_run)
    trained = load_trained(toy_run)
    for part in trained.model.modules():
        if isinstance(getattr(part, "rate", None), float):
            part.rate = 0.0  # type: ignore[assignment]
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    passes = dropout_passes(trained.model, trained.recipe.model, tagger, pass_modes(3, 0))  # type: ignore[arg-type]
    sentences = words_of(toy, tagger)
    for one, other in zip(tagger.tag_sentences(sentences), passes.tag_sentences(sentences), strict=True):
        assert one.tags == other.tags
        assert one.scores == pytest.approx(other.scores, abs=1e-5)
        assert other.entropies is not None
        assert other.entropies.mutual_information == pytest.approx(0.0, abs=1e-9)


def test_a_classifier_takes_passes_with_batch_normalisation_at_rest(text_toy: Path, text_run: Path) -> None:
    classifier = gonie.load(text_run)
    texts = [line.split("\t")[1] for line in (text_toy / "test.tsv").read_text("utf-8").splitlines()[1:]]
    one, same, other = (
        list(load_passes(text_run, classifier, 5, seed=seed).pipe(texts)) for seed in (1, 1, 2)
    )
    assert [each.scores for each in one] == [each.scores for each in same]
    assert [each.scores for each in one] != [each.scores for each in other]
    assert all(each.entropies.mutual_information > 0 for each in one)
    trained = load_trained(text_run)
    plain = text_passes(trained.model, trained.recipe.model, classifier, [inferring] * 2)  # type: ignore[arg-type]
    for given, found in zip(classifier.pipe(texts), plain.pipe(texts), strict=True):
        assert given.scores == pytest.approx(found.scores, abs=1e-5)


def test_mutual_information_tells_strange_sentences(toy: Path, seeds: list[Path]) -> None:
    """Members agree on sentences like those that they learned, and guess about others."""
    deep = gonie.load(seeds)
    dropped = load_passes(seeds[0], gonie.load(seeds[0]), 20)
    for ensemble in (deep, dropped):
        found = separate(ensemble, words_of(toy, ensemble), STRANGE, by="mutual_information")
        assert found.auroc > 0.8
        assert found.interval is not None
        assert found.interval[0] > 0.5, "better than chance"


def test_a_bundle_has_no_dropout(toy_run: Path) -> None:
    bundle = toy_run / "bundle"
    with pytest.raises(
        InputError, match=r"needs the checkpoint of a training run, and .*bundle has none\. A bundle has no"
    ):
        load_passes(bundle, gonie.load(bundle), 3)


def test_a_model_trained_without_dropout_is_refused(toy_run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(toy_run, tmp_path / "run"))
    recipe = folder / "recipe.toml"
    recipe.write_text(recipe.read_text("utf-8").replace("= 0.1", "= 0.0"), "utf-8")
    with pytest.raises(InputError, match="was trained without dropout, so all passes would be the same"):
        load_passes(folder, gonie.load(folder), 3)


def test_at_least_one_pass_is_needed(toy_run: Path) -> None:
    with pytest.raises(InputError, match="the number of passes must be at least 1: 0"):
        load_passes(toy_run, gonie.load(toy_run), 0)
