"""Synthetic classifiers: small, without data files, but with all parts of the recipe."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from gonie.errors import RecipeError
from gonie.features.text_encoding import TextEncoding
from gonie.nn import (
    AdditiveAttention,
    Bag,
    BatchNorm,
    Bypass,
    CharCNN,
    DotAttention,
    ElmoEmbedding,
    FeatureEmbedding,
    Joined,
    Last,
    Max,
    Mean,
    MultiLabelHead,
    TextSigmoidHead,
    TextSoftmaxHead,
    WordEmbedding,
)
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.classification.torch.synthetic import synthetic_classifier
from gonie.tasks.recipe import load_recipe, recipe_names
from gonie.tasks.torch.synthetic import SyntheticModel

TextSpecimen = SyntheticModel[ClassifyingNetwork, TextEncoding]
CLASSIFIERS = recipe_names("classify")
RECIPE = """
task = "classify"
[data]
train = "not-there/train.tsv"
vectors = "not-there/vectors.txt"
gazetteers = { city = "not-there/cities.txt" }
marks = ["e1", "e2"]
label_separator = ","
[model.words]
[model.features]
groups = ["gazetteer", "spelling"]
[model.pooling]
kinds = ["attention", "dot", "mean", "max", "last"]
heads = 2
norm = "batch"
[model.sentences]
[model.bag]
words = [1, 2]
"""


def loaded(*changes: str, recipe: str | Path = "subjectivity") -> TextRecipe:
    found = load_recipe(recipe, changes)
    assert isinstance(found, TextRecipe)
    return found


def made(*changes: str, recipe: str | Path = "subjectivity") -> TextSpecimen:
    return synthetic_classifier(loaded(*changes, recipe=recipe))


def parts(specimen: TextSpecimen, kind: type) -> list[torch.nn.Module]:
    return [part for part in specimen.model.modules() if isinstance(part, kind)]


def test_the_files_of_a_recipe_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "all.toml"
    path.write_text(RECIPE, "utf-8")
    specimen = made(recipe=path)
    for kind in (AdditiveAttention, DotAttention, Mean, Max, Last, Joined, BatchNorm, Bag, MultiLabelHead):
        assert parts(specimen, kind), kind
    assert specimen.model.sentences is not None
    assert specimen.encoding.words.groups == ("gazetteer", "spelling")
    assert specimen.model.loss(specimen.batch).isfinite()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_synthetic_model_is_small_and_has_all_parts(name: str) -> None:
    recipe, specimen = loaded(recipe=name), made(recipe=name)
    assert sum(p.numel() for p in specimen.model.parameters()) < 10_000
    assert bool(parts(specimen, CharCNN)) == (recipe.model.chars is not None)
    assert bool(parts(specimen, WordEmbedding)) == (recipe.model.words is not None)
    assert bool(parts(specimen, FeatureEmbedding)) == (recipe.model.features is not None)
    assert bool(parts(specimen, Bag)) == (recipe.model.bag is not None)
    assert (specimen.model.sentences is None) == (recipe.model.sentences is None)
    assert bool(parts(specimen, Max)) == ("max" in recipe.model.pooling.kinds)


def test_the_synthetic_texts_include_edge_cases() -> None:
    """Padding of tokens and of sentences, a sentence of one word, and unknown words."""
    batch = made(recipe="reviews-han").batch
    heights = batch["places_mask"].sum(1).tolist()
    assert len(set(heights)) > 2
    assert min(heights) == min(batch["lengths"].tolist()) == 1
    assert 1 in batch["words"][batch["mask"]].tolist(), "the unknown word"
    assert set(made().batch["places_mask"].sum(1).tolist()) == {1}, "at one level a text is one sentence"


def test_marks_are_known_words_in_every_text() -> None:
    specimen = made(recipe="relations")
    words = specimen.encoding.words
    for mark in ("<e1>", "</e1>", "<e2>", "</e2>"):
        times = (specimen.batch["words"] == words.word_id(mark)).sum()
        assert times == len(specimen.batch["labels"]), f"{mark} is known, and once in every text"


def test_morphemes_do_not_require_kiwi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kiwipiepy", None)
    specimen = made(recipe="sentiment-nsmc")
    assert "NNG" in specimen.encoding.words.features["morphemes"].strings
    assert any("가" <= word[0] <= "힣" for word in specimen.encoding.words.words.strings)


# --- labels ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "head", "number"),
    [
        ((), TextSoftmaxHead, 3),
        (("model.head.kind=sigmoid",), TextSigmoidHead, 2),
        (("data.label_separator=|",), MultiLabelHead, 3),
        (("model.head.weights.spam=2", "model.head.kind=sigmoid"), TextSigmoidHead, 2),
    ],
)
def test_the_number_of_labels_fits_the_head(changes: tuple[str, ...], head: type, number: int) -> None:
    specimen = made(*changes)
    assert parts(specimen, head)
    assert len(specimen.encoding.labels) == number
    assert bool("model.head.weights.spam=2" in changes) == ("spam" in specimen.encoding.labels)


def test_every_label_occurs_and_texts_may_have_several() -> None:
    assert set(made().batch["labels"].tolist()) == {0, 1, 2}
    multi_label = made("data.label_separator=|").batch["labels"]  # (N, K)
    assert multi_label.shape == (5, 3)
    assert multi_label.sum(1).tolist() == [0, 1, 1, 2, 1]
    assert multi_label.any(0).all()


@pytest.mark.parametrize("weights", ["balanced", '{bad = 3.0, "never met" = 0.5}'])
def test_label_weights_are_set_if_the_recipe_has_them(weights: str) -> None:
    even, weighed = made(), made(f"model.head.weights={weights}")
    objective = weighed.model.head().objective  # type: ignore[attr-defined]
    assert objective.weights is not None
    assert even.model.head().objective.weights is None  # type: ignore[attr-defined]


def test_a_head_that_does_not_fit_is_refused() -> None:
    with pytest.raises(RecipeError, match="labels does not support one label per text"):
        made("model.head.kind=labels")


def test_the_synthetic_model_depends_only_on_the_seed() -> None:
    state = torch.get_rng_state()
    one, same, other = made(), made(), made("train.seed=2")
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    assert all(map(torch.equal, one.model.parameters(), same.model.parameters()))
    assert torch.equal(one.batch["words"], same.batch["words"])
    assert not torch.equal(one.batch["words"], other.batch["words"])


@pytest.mark.parametrize("levels", [(), ("model.sentences.encoder.hidden=3",)], ids=["one", "two"])
def test_a_synthetic_language_model_replaces_the_one_of_the_recipe(levels: tuple[str, ...]) -> None:
    specimen = made("model.elmo.bilm=not-there", "model.elmo.at=both", *levels)
    (elmo,) = parts(specimen, ElmoEmbedding)
    assert len(elmo.mixes) == 2
    assert len(parts(specimen, Bypass)) == 1, "sentences are read as before"
    assert specimen.batch["bytes"].shape[1] == specimen.encoding.words.longest
    assert specimen.model.loss(specimen.batch).isfinite()
