"""If these break, the explained model is not the one that gives the answers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gonie.errors import BundleError, InputError
from gonie.features.encoding import Encoding, count
from gonie.features.ngrams import NGramBag, NGrams
from gonie.features.text_encoding import TextEncoding
from gonie.features.vectors import Coverage, PretrainedVectors
from gonie.nn.inference import to_tensors
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch.build import build_classifier
from gonie.tasks.load import load
from gonie.tasks.recipe import check_recipe
from gonie.tasks.sections import Recipe
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.checkpoint import save_weights
from gonie.tasks.torch.contextual import network_files
from gonie.tasks.torch.trained import load_trained
from gonie.tasks.written_recipe import write_recipe
from gonie.text.labelled_text import LabelledText
from gonie.text.normalize import Normalization
from gonie.text.passages import Passages
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers import EnglishTokenizer

WORDS = {"width": 3}


def run_of(
    folder: Path, encoding: Encoding, pretrained: PretrainedVectors | None, **words: Any
) -> torch.nn.Module:
    """Write a run folder of a new model, without its data files, and return the model."""
    model = {"words": {**WORDS, **words}, "encoder": {"hidden": 2}, "chars": {"width": 2, "hidden": 2}}
    recipe = check_recipe({"data": {"train": "gone.conll"}, "model": model}, source="test")
    assert isinstance(recipe, TagRecipe)
    assert recipe.model.words is not None
    table = WordTable.plan(recipe.model.words, encoding, pretrained)
    made = build_tagger(recipe.model, encoding, table)
    leave_run(folder, recipe, encoding, made, table)
    return made


def leave_run(
    folder: Path,
    recipe: Recipe,
    encoding: Encoding | TextEncoding,
    model: torch.nn.Module,
    table: WordTable | None = None,
) -> None:
    (folder / "recipe.toml").write_text(write_recipe(recipe), "utf-8")
    (folder / "encoding.json").write_text(json.dumps(encoding.to_json()), "utf-8")
    for name, content in network_files(table, {}).items():
        (folder / name).write_text(content, "utf-8")
    save_weights(folder / "best.safetensors", model)


@pytest.mark.parametrize("tuned", ["all", "none", "missing"])
@pytest.mark.parametrize("vectors", [False, True])
def test_a_run_is_loaded_without_its_data_files(
    tmp_path: Path,
    fitted: Callable[..., Encoding],
    batch_of: Callable[..., dict[str, np.ndarray]],
    tuned: str,
    vectors: bool,
) -> None:
    """A run of gonie 0.1 has no network.json; its weights give the shape of its word vectors."""
    encoding = fitted(["zebra"] if vectors else [])
    size = len(encoding.words)
    matrix = np.random.default_rng(0).normal(size=(size, 3)).astype(np.float32)
    pretrained = PretrainedVectors(matrix, np.arange(size) % 3 == 2, Coverage(types={}, tokens={}))
    made = run_of(tmp_path, encoding, pretrained if vectors else None, tuned=tuned).eval()
    batch = to_tensors(batch_of(encoding), torch.device("cpu"))
    for without in ((), ("network.json",)):
        for name in without:
            (tmp_path / name).unlink()
        found = load_trained(tmp_path)
        assert found.encoding.to_json() == encoding.to_json()
        assert not found.model.training
        assert torch.equal(found.model(batch), made(batch))


def test_the_loaded_model_matches_the_bundle_of_the_run(toy_run: Path) -> None:
    trained, tagger = load_trained(toy_run), load(toy_run)
    sentences = tagger.tokenizer("Anna Kim lives in Seoul .")
    (scores,) = tagger.emissions(sentences)
    batch = to_tensors(trained.encoding.encode(sentences).batch(np.array([0])), torch.device("cpu"))
    with torch.no_grad():
        np.testing.assert_allclose(trained.model(batch)[0].numpy(), scores, atol=1e-4)
    assert trained.recipe.task == "tag"


@pytest.mark.parametrize("upper", [False, True])
def test_a_classifier_is_loaded_without_its_data_files(tmp_path: Path, upper: bool) -> None:
    texts = [LabelledText("it rains . we go .", ("a",)), LabelledText("so what", ("b",))]
    model: dict[str, Any] = {"words": {"width": 3}, "encoder": {"hidden": 2}, "bag": {"min_count": 1}}
    if upper:
        model["sentences"] = {"encoder": {"hidden": 2}}
    recipe = check_recipe({"task": "classify", "data": {"train": "gone.tsv"}, "model": model}, source="test")
    assert isinstance(recipe, TextRecipe)
    words = fit_words(texts)
    encoding = TextEncoding(
        passages=Passages(tokenizer=EnglishTokenizer(), by=recipe.cut_by),
        words=words,
        labels=("a", "b"),
        multi_label=False,
        bag=NGramBag.fit([text.text for text in texts], ngrams=NGrams()),
    )
    assert recipe.model.words is not None
    table = WordTable.plan(recipe.model.words, words)
    made = build_classifier(recipe.model, encoding, table).eval()
    leave_run(tmp_path, recipe, encoding, made, table)
    found = load_trained(tmp_path)
    assert found.encoding.to_json() == encoding.to_json()
    batch = to_tensors(encoding.encode(texts).batch(np.arange(2)), torch.device("cpu"))
    assert torch.equal(found.model(batch), made(batch))


def fit_words(texts: list[LabelledText]) -> Encoding:
    """Return an encoding of the words of these texts."""
    normalization = Normalization(lowercase=True, digits=True)
    sentences = [sentence for text in texts for sentence in EnglishTokenizer()(text.text)]
    return Encoding.fit(
        count(sentences, normalization=normalization, jamo=False, extractors=()),
        scheme=PLAIN,
        normalization=normalization,
        jamo=False,
        extractors=(),
        min_count=1,
        min_feature_count=1,
    )


def test_a_folder_that_is_not_a_run_is_refused(tmp_path: Path, toy_run: Path) -> None:
    with pytest.raises(InputError, match=r"recipe\.toml, encoding\.json, best\.safetensors not found"):
        load_trained(tmp_path)
    with pytest.raises(InputError, match="that `gonie train` wrote"):
        load_trained(toy_run / "bundle")


@pytest.mark.parametrize("content", ["{", "{}", "[]"])
def test_a_damaged_encoding_is_refused(tmp_path: Path, toy_run: Path, content: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(toy_run, folder)
    (folder / "encoding.json").write_text(content, "utf-8")
    with pytest.raises(BundleError, match=r"encoding\.json: damaged file"):
        load_trained(folder)


@pytest.mark.parametrize("content", ["{", "{}", "[]", '{"words": null}', '{"words": {"size": 3}}'])
def test_a_damaged_network_file_is_refused(tmp_path: Path, toy_run: Path, content: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(toy_run, folder)
    (folder / "network.json").write_text(content, "utf-8")
    with pytest.raises(BundleError, match=r"network\.json: damaged file .*Train the model again"):
        load_trained(folder)


def test_a_network_without_word_vectors_needs_no_word_table(
    tmp_path: Path, encoding: Encoding, batch_of: Callable[..., dict[str, np.ndarray]]
) -> None:
    values = {"chars": {"width": 2, "hidden": 2}, "encoder": {"hidden": 2}}
    recipe = check_recipe({"data": {"train": "gone.conll"}, "model": values}, source="test")
    made = build_tagger(recipe.model, encoding).eval()
    leave_run(tmp_path, recipe, encoding, made)
    batch = to_tensors(batch_of(encoding), torch.device("cpu"))
    assert torch.equal(load_trained(tmp_path).model(batch), made(batch))
