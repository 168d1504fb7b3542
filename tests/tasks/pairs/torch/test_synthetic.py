"""Synthetic pair models: small, without data files, but with all parts of the recipe."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from gonie.nn import CharCNN, ElmoEmbedding, FeatureEmbedding, Max, Mean, TextSoftmaxHead, WordEmbedding
from gonie.nn.heads.text_value import TextValueHead
from gonie.nn.matching import AlignedMatching, PairDropout, PooledMatching
from gonie.tasks.pairs.encoding import PairEncoding
from gonie.tasks.pairs.recipe import PairRecipe
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.pairs.torch.synthetic import synthetic_pair_model
from gonie.tasks.recipe import load_recipe, recipe_names
from gonie.tasks.torch.synthetic import SyntheticModel

RECIPE = """
task = "pair"
[data]
train = "not-there/train.tsv"
vectors = "not-there/vectors.txt"
gazetteers = { city = "not-there/cities.txt" }
value_column = "v"
[model.words]
[model.features]
groups = ["gazetteer", "spelling"]
[model.matching.pooling]
kinds = ["attention", "dot", "mean", "max", "last"]
heads = 2
"""


def loaded(*changes: str, recipe: str | Path = "pairs") -> PairRecipe:
    found = load_recipe(recipe, changes)
    assert isinstance(found, PairRecipe)
    return found


def made(*changes: str, recipe: str | Path = "pairs") -> SyntheticModel[PairNetwork, PairEncoding]:
    return synthetic_pair_model(loaded(*changes, recipe=recipe))


def parts(specimen: SyntheticModel[Any, Any], kind: type) -> list[torch.nn.Module]:
    return [part for part in specimen.model.modules() if isinstance(part, kind)]


def test_the_files_of_a_recipe_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "all.toml"
    path.write_text(RECIPE, "utf-8")
    specimen = made(recipe=path)
    for kind in (AlignedMatching, TextValueHead, FeatureEmbedding, Max, Mean):
        assert parts(specimen, kind), kind
    assert specimen.encoding.texts.words.groups == ("gazetteer", "spelling")
    assert specimen.model.loss(specimen.batch).isfinite()


@pytest.mark.parametrize("name", recipe_names("pair"))
def test_a_synthetic_model_is_small_and_has_all_parts(name: str) -> None:
    recipe, specimen = loaded(recipe=name), made(recipe=name)
    assert sum(p.numel() for p in specimen.model.parameters()) < 10_000
    assert bool(parts(specimen, CharCNN)) == (recipe.model.chars is not None)
    assert bool(parts(specimen, WordEmbedding)) == (recipe.model.words is not None)
    matching = {"esim": AlignedMatching, "siamese": PooledMatching}[recipe.model.matching.kind]
    assert parts(specimen, matching)
    assert bool(parts(specimen, Max)) == ("max" in recipe.model.matching.pooling.kinds)
    assert (specimen.model.hidden is not None) == bool(recipe.model.head.hidden)


def test_the_synthetic_pairs_include_edge_cases() -> None:
    """Texts of different and equal lengths, a text of one token, and unknown words."""
    batch = made().batch
    lengths = batch["mask"].sum(1)[batch["places"]]  # (N, 2)
    assert (lengths[:, 0] > lengths[:, 1]).any()
    assert (lengths[:, 0] < lengths[:, 1]).any()
    assert (lengths[:, 0] == lengths[:, 1]).any()
    assert lengths.min() == 1
    assert 1 in batch["words"][batch["mask"]].tolist(), "the unknown word"


def test_the_recipe_decides_between_labels_and_values() -> None:
    labels = made()
    assert parts(labels, TextSoftmaxHead)
    assert set(labels.batch["labels"].tolist()) == {0, 1, 2}
    assert labels.encoding.scale is None
    for change in ("data.value_column=v", "data.scale=[0, 1]"):
        values = made(change)
        assert parts(values, TextValueHead)
        assert values.encoding.scale is not None
        assert values.batch["labels"].dtype == torch.float32
        assert values.model(values.batch).shape == (4, 1)


def test_both_texts_share_dropout_masks_unless_dropout_is_plain() -> None:
    assert parts(made(), PairDropout)
    assert not parts(made("model.dropout.kind=plain"), PairDropout)


def test_morphemes_do_not_require_kiwi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kiwipiepy", None)
    specimen = made(recipe="similarity-ko")
    assert any("가" <= word[0] <= "힣" for word in specimen.encoding.texts.words.words.strings)


def test_the_synthetic_model_depends_only_on_the_seed() -> None:
    state = torch.get_rng_state()
    one, same, other = made(), made(), made("train.seed=2")
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    assert all(map(torch.equal, one.model.parameters(), same.model.parameters()))
    assert torch.equal(one.batch["words"], same.batch["words"])
    assert not torch.equal(one.batch["words"], other.batch["words"])


def test_a_synthetic_language_model_replaces_the_one_of_the_recipe() -> None:
    specimen = made("model.elmo.bilm=not-there", "model.elmo.at=both")
    (elmo,) = parts(specimen, ElmoEmbedding)
    assert len(elmo.mixes) == 2  # type: ignore[arg-type]
    assert specimen.batch["bytes"].shape[1] == specimen.encoding.texts.words.longest
    assert specimen.model.loss(specimen.batch).isfinite()
