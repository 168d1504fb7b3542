"""If these break, word vectors are shown under the wrong words, or change while one looks at them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from gonie.errors import InputError
from gonie.experiments.word_table import word_table
from gonie.features.encoding import Encoding
from gonie.features.vectors import Coverage, PretrainedVectors
from gonie.tasks.tagging.recipe import TaggerConfig as ModelConfig
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.torch.build import WordTable

WORDS = {"words": {"width": 3}, "encoder": {"hidden": 2}}


@pytest.mark.parametrize("more", [{}, {"chars": {"width": 2, "hidden": 2}}], ids=["alone", "in a stack"])
def test_rows_are_word_ids(encoding: Encoding, more: dict) -> None:
    model = build_tagger(ModelConfig.model_validate({**WORDS, **more}), encoding)
    (weight,) = [value for name, value in model.named_parameters() if value.shape == (len(encoding.words), 3)]
    with torch.no_grad():
        weight[encoding.words.id("seoul")] = torch.tensor([1.0, 2.0, 3.0])
    table = word_table(model)
    assert table.shape == (len(encoding.words), 3)
    assert table[encoding.words.id("seoul")].tolist() == [1.0, 2.0, 3.0]


def test_fixed_and_learned_vectors_are_in_one_table(fitted: Callable[..., Encoding]) -> None:
    encoding = fitted(["zebra"])
    matrix = np.arange(3.0 * len(encoding.words), dtype=np.float32).reshape(-1, 3)
    matrix[0] = 0
    found = np.arange(len(encoding.words)) % 2 == 1
    pretrained = PretrainedVectors(matrix, found, Coverage(types={}, tokens={}))
    config = ModelConfig.model_validate(WORDS)
    assert config.words is not None
    table = WordTable.plan(config.words, encoding, pretrained)
    assert np.array_equal(word_table(build_tagger(config, encoding, table)), matrix)


def test_the_table_is_a_copy(encoding: Encoding) -> None:
    """Otherwise the vectors before training would become those after it."""
    model = build_tagger(ModelConfig.model_validate(WORDS), encoding)
    before = word_table(model)
    kept = before.copy()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    assert np.array_equal(before, kept)
    assert not np.array_equal(word_table(model), kept)


def test_a_model_that_sees_no_words_is_refused(encoding: Encoding) -> None:
    model = build_tagger(
        ModelConfig.model_validate({"chars": {"width": 2}, "encoder": {"hidden": 2}}), encoding
    )
    with pytest.raises(InputError, match=r"model\.words"):
        word_table(model)
