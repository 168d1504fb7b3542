"""Synthetic models: only widths are reduced, and no weight except padding is zero."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.pairs.recipe import PairConfig
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import CorpusConfig
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.torch.synthetic import (
    small,
    synthetic_gazetteers,
    synthetic_vectors,
    with_noise,
    words_of,
)
from gonie.text.types import Sentence


def test_only_widths_are_reduced() -> None:
    before = load_recipe("ner", ["model.encoder.layers=3", "model.chars.kernel=5", "model.words.width=2"])
    assert isinstance(before, TagRecipe)
    model = small(before).model
    assert model.words is not None
    assert model.chars is not None
    assert (model.words.width, model.chars.width, model.encoder.hidden) == (2, 4, 3)
    assert (model.encoder.layers, model.chars.kernel) == (3, 5)
    assert small(before).train == before.train


def test_both_levels_and_the_bag_of_a_classifier_are_reduced() -> None:
    before = load_recipe("reviews-han", ["model.pooling.heads=2", "model.bag.min_count=7"])
    assert isinstance(before, TextRecipe)
    model = small(before).model
    assert model.sentences is not None
    assert model.bag is not None
    assert model.sentences.encoder.hidden == model.sentences.pooling.hidden == model.pooling.hidden == 3
    assert (model.pooling.heads, model.bag.words, model.bag.min_count) == (2, [1, 2], 1)
    assert small(before).data.min_count == 1


def test_every_layer_of_a_pair_model_is_reduced() -> None:
    model = small(load_recipe("pairs", ["model.matching.kind=esim"])).model
    assert isinstance(model, PairConfig)
    matching = model.matching
    assert (matching.projection, matching.composition.hidden) == (5, 3)
    assert model.encoder.hidden == model.head.hidden == 3


def test_words_are_those_of_the_language_and_the_unit() -> None:
    assert all(word.isascii() for word in words_of({"en": ("a", "bc")}, CorpusConfig(train="train.conll")))
    syllables = words_of(
        {"ko": ("가나", "나")}, CorpusConfig(train="train.conll", language="ko", unit="syllable")
    )
    assert syllables == ("가", "나")


def test_vectors_are_created_only_if_the_recipe_names_a_file() -> None:
    import numpy as np

    generator = np.random.default_rng(1)
    assert synthetic_vectors(load_recipe("ner"), generator) is None
    found = synthetic_vectors(load_recipe("ner", ["data.vectors=not-there.txt"]), generator)
    assert found is not None
    assert found.path == Path("not-there.txt")
    assert found.matrix.shape == (len(found), load_recipe("ner").model.words.width)  # type: ignore[union-attr]


def test_gazetteers_have_the_names_of_the_recipe() -> None:
    data = CorpusConfig(train="train.conll", gazetteers={"city": "no.txt", "river": "no.txt"})
    lists = synthetic_gazetteers(data, [Sentence(("a", "b", "c")), Sentence(("d",))])
    features = lists.extract(Sentence(("a", "b", "d")))
    assert "city=B" in features[0]
    assert any(feature.startswith("river") for feature in features[2])


class Part(nn.Module):
    """A table with a row of padding, and a bias that starts at zero."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Embedding(4, 3, padding_idx=0)
        self.bias = nn.Parameter(torch.zeros(3))


def test_no_weight_except_padding_is_zero() -> None:
    state = torch.get_rng_state()
    model = with_noise(3, Part)  # type: ignore[type-var]
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    assert (model.bias != 0).all()
    assert (model.rows.weight[0] == 0).all()
    assert (model.rows.weight[1:] != 0).all()
    assert model.bias.requires_grad
