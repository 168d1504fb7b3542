"""Pair networks from recipes: the named parts are built, and their widths match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gonie.features.encoding import Encoding
from gonie.features.text_encoding import TextEncoding
from gonie.features.vectors import Coverage, PretrainedVectors
from gonie.nn import Joined, Max, Mean, TextSoftmaxHead, VariationalDropout
from gonie.nn.heads.text_value import TextValueHead
from gonie.nn.inference import to_tensors
from gonie.nn.matching import AlignedMatching, PairDropout, PooledMatching
from gonie.tasks.pairs.encoding import VALUE, PairEncoding, ValueScale
from gonie.tasks.pairs.recipe import PairConfig
from gonie.tasks.pairs.torch.build import build_pair_network, reads_both_ways
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.sections import EncoderConfig, WordsConfig
from gonie.tasks.torch.build import WordTable
from gonie.text.labelled_text import LabelledPair
from gonie.text.passages import Passages
from gonie.text.tokenizers import EnglishTokenizer

SMALL: dict[str, Any] = {
    "words": {"width": 4},
    "encoder": {"hidden": 3},
    "matching": {"projection": 5, "composition": {"hidden": 2}},
    "head": {"hidden": 7},
}
PAIRS = [
    LabelledPair("Anna lives. Far in Seoul.", "far", ("a",), 1.0),
    LabelledPair("is", "is Kim in Oslo", ("b",), 4.0),
]
Fit = Callable[..., PairEncoding]


@pytest.fixture
def pairs(fitted: Callable[..., Encoding]) -> Fit:
    """An encoding of pairs, for labels or for values."""

    def fit(*, values: bool = False) -> PairEncoding:
        texts = TextEncoding(
            passages=Passages(tokenizer=EnglishTokenizer(), max_tokens=9),
            words=fitted(),
            labels=[VALUE] if values else ("a", "b", "c"),
            multi_label=False,
            bag=None,
        )
        return PairEncoding(texts=texts, scale=ValueScale(0.0, 5.0) if values else None)

    return fit


def built(encoding: PairEncoding, **changes: Any) -> PairNetwork:
    torch.manual_seed(0)
    return build_pair_network(PairConfig.model_validate({**SMALL, **changes}), encoding)


def batch_of(encoding: PairEncoding) -> dict[str, torch.Tensor]:
    return to_tensors(encoding.encode(PAIRS).batch(np.arange(len(PAIRS))), torch.device("cpu"))


def test_esim_is_built_as_the_recipe_says(pairs: Fit) -> None:
    encoding = pairs()
    model = built(encoding)
    assert isinstance(model.matching, AlignedMatching)
    assert model.encoder.width == model.matching.input_width == 6
    assert (model.matching.projection.input_width, model.matching.projection.width) == (24, 5)
    assert model.matching.composition.width == 4
    assert isinstance(model.matching.pooling, Joined)
    assert model.matching.width == 4 * 2 * 4  # [u; v; |u - v|; u * v] of mean and maximum
    assert model.hidden is not None
    assert (model.hidden.input_width, model.hidden.width) == (32, 7)
    assert model(batch_of(encoding)).shape == (2, 3)
    assert model.loss(batch_of(encoding)).isfinite()


def test_siamese_pools_the_states_of_the_encoder(pairs: Fit) -> None:
    model = built(pairs(), matching={"kind": "siamese", "pooling": {"kinds": ["max"]}})
    assert isinstance(model.matching, PooledMatching)
    assert isinstance(model.matching.pooling, Max)
    assert model.matching.width == 24
    assert not any(name.startswith("matching.composition") for name, _ in model.named_parameters())


def test_without_a_hidden_layer_the_head_reads_the_matching(pairs: Fit) -> None:
    encoding = pairs()
    model = built(encoding, head={"hidden": 0})
    assert model.hidden is None
    assert model(batch_of(encoding)).shape == (2, 3)


def test_a_value_head_is_bounded_by_the_scale(pairs: Fit) -> None:
    encoding = pairs(values=True)
    model = built(encoding)
    head = model.head()
    assert isinstance(head, TextValueHead)
    assert (head.low, head.high) == (0.0, 5.0)
    found = model(batch_of(encoding))
    assert found.shape == (2, 1)
    assert ((found >= 0) & (found <= 5)).all()
    assert isinstance(built(pairs()).head(), TextSoftmaxHead)


def test_label_smoothing_changes_only_the_loss(pairs: Fit) -> None:
    encoding = pairs()
    plain, smooth = (
        built(encoding, head={"hidden": 7, "smoothing": smoothing}).eval() for smoothing in (0.0, 0.5)
    )
    batch = batch_of(encoding)
    assert torch.equal(plain(batch), smooth(batch))
    assert plain.loss(batch) != smooth.loss(batch)


def test_every_dropout_rate_reaches_its_part(pairs: Fit) -> None:
    rates = {"input": 0.1, "output": 0.2, "aligned": 0.3, "pooled": 0.4, "word": 0.05}
    model = built(pairs(), dropout=rates)
    assert isinstance(model.matching, AlignedMatching)
    for part, rate in (
        (model.input_dropout, 0.1),
        (model.output_dropout, 0.2),
        (model.matching.dropout, 0.3),
        (model.word_dropout, 0.05),
    ):
        assert part.rate == rate
    assert isinstance(model.dropout, nn.Dropout)
    assert model.dropout.p == 0.4
    assert isinstance(model.input_dropout, PairDropout)
    assert isinstance(model.matching.dropout, VariationalDropout)
    plain = built(pairs(), dropout={**rates, "kind": "plain"})
    assert isinstance(plain.input_dropout, nn.Dropout)


def test_dropout_is_active_only_in_training(pairs: Fit) -> None:
    encoding = pairs()
    model, batch = built(encoding), batch_of(encoding)
    assert torch.equal(model.eval()(batch), model(batch))
    model.train()
    assert not torch.equal(model(batch), model(batch))


@pytest.mark.parametrize(
    ("values", "both"),
    [
        ({}, True),
        ({"bidirectional": False}, False),
        ({"kind": "cnn"}, False),
        ({"kind": "window"}, False),
        ({"kind": "none"}, False),
    ],
)
def test_only_bidirectional_recurrent_encoders_read_both_ways(values: dict[str, Any], both: bool) -> None:
    assert reads_both_ways(EncoderConfig.model_validate(values)) is both


def test_last_pooling_works_with_mixed_directions(pairs: Fit) -> None:
    """A one-way encoder below a bidirectional composition, and the reverse."""
    for encoder, composition in ((False, True), (True, False)):
        encoding = pairs()
        model = built(
            encoding,
            encoder={"hidden": 3, "bidirectional": encoder},
            matching={
                "projection": 5,
                "composition": {"hidden": 2, "bidirectional": composition},
                "pooling": {"kinds": ["last"]},
            },
        )
        assert model(batch_of(encoding)).isfinite().all()


def test_word_vectors_come_from_the_table(pairs: Fit) -> None:
    encoding = pairs()
    size = len(encoding.texts.words.words)
    matrix = np.random.default_rng(0).normal(size=(size, 4)).astype(np.float32)
    pretrained = PretrainedVectors(matrix, np.zeros(size, dtype=bool), Coverage(types={}, tokens={}))
    table = WordTable.plan(WordsConfig(width=4), encoding.texts.words, pretrained)
    model = build_pair_network(PairConfig.model_validate(SMALL), encoding, table)
    word = encoding.texts.words.word_id("Seoul")
    batch = batch_of(encoding)
    (place,) = np.argwhere(batch["words"].numpy() == word)
    np.testing.assert_allclose(model.eval().embed(batch)[tuple(place)].detach().numpy(), matrix[word])


def test_both_texts_share_one_encoder(pairs: Fit) -> None:
    """Swapping the texts swaps only the first two blocks of the pair vector."""
    encoding = pairs()
    model = built(
        encoding, matching={"kind": "siamese", "pooling": {"kinds": ["mean"]}}, head={"hidden": 0}
    ).eval()
    assert isinstance(model.matching, PooledMatching)
    assert isinstance(model.matching.pooling, Mean)
    batch = batch_of(encoding)
    swapped = {**batch, "places": batch["places"].flip(1)}
    one, other = (model.pool(model.embed(each), each).vectors.chunk(4, dim=1) for each in (batch, swapped))
    for a, b in zip(one, (other[1], other[0], *other[2:]), strict=True):
        torch.testing.assert_close(a, b)
