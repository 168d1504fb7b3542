"""From a recipe's words to parts: the named part is the one that is built, and trains what it should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from gonie.tasks.torch.parts import build, find_elmo
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.features.vectors import Vectors
from gonie.nn.dropout import VariationalDropout
from gonie.nn.embeddings import CharCNN, CharLSTM, FeatureEmbedding, NoEmbedding, Stack, WordEmbedding
from gonie.nn.encoders import LSTM, Bidirectional, Bypass, Deep, Elman, NoEncoder, PeepholeLSTM
from gonie.nn.heads import CRFHead, SoftmaxHead
from gonie.tasks.language_model.recipe import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.tagging.recipe import TaggerConfig as ModelConfig

Tensors = Callable[..., dict[str, Tensor]]
DIRECT = {"direct": ["spelling", "context"]}

SIX = {
    "rnn": {"words": {}, "encoder": {"kind": "rnn", "bidirectional": False}, "head": {"kind": "softmax"}},
    "lstm": {
        "words": {},
        "encoder": {"kind": "peephole", "bidirectional": False},
        "head": {"kind": "softmax", **DIRECT},
    },
    "bi-lstm": {"words": {}, "chars": {}, "encoder": {"kind": "lstm"}, "head": {"kind": "softmax", **DIRECT}},
    "crf": {"encoder": {"kind": "none"}, "head": {"kind": "crf", **DIRECT}},
    "lstm-crf": {
        "words": {},
        "chars": {"kind": "lstm"},
        "encoder": {"kind": "lstm", "bidirectional": False},
        "head": {"kind": "crf"},
    },
    "bi-lstm-crf": {
        "words": {},
        "features": {"groups": ["spelling"]},
        "encoder": {"kind": "peephole", "layers": 2},
        "head": {"kind": "crf", **DIRECT},
    },
}


def config(values: dict[str, Any]) -> ModelConfig:
    return ModelConfig.model_validate(values)


@pytest.mark.parametrize("name", SIX)
def test_the_six_models_score_and_learn(name: str, encoding: Encoding, tensors_of: Tensors) -> None:
    """Each gives a score for every tag of every token, and a loss that reaches every weight."""
    model = build(config(SIX[name]), encoding)
    batch = tensors_of(encoding)
    assert model(batch).shape == (*batch["mask"].shape, len(encoding.labels))
    model.loss(batch).backward()
    untouched = [name for name, p in model.named_parameters() if p.grad is None]
    assert not untouched


@pytest.mark.parametrize(
    ("values", "embedding"),
    [
        ({"words": {}}, WordEmbedding),
        ({"chars": {}}, CharCNN),
        ({"chars": {"kind": "lstm"}}, CharLSTM),
        ({"features": {"groups": ["spelling"]}}, FeatureEmbedding),
        ({"words": {}, "chars": {}}, Stack),
        ({"head": DIRECT, "encoder": {"kind": "none"}}, NoEmbedding),
    ],
)
def test_the_embedding_is_what_was_named(
    values: dict[str, Any], embedding: type[nn.Module], encoding: Encoding
) -> None:
    assert isinstance(build(config(values), encoding).embedding, embedding)


def test_widths_are_as_asked(encoding: Encoding) -> None:
    values = {
        "words": {"width": 11},
        "chars": {"kind": "lstm", "hidden": 3},
        "features": {"groups": ["spelling", "context"], "width": 5},
        "encoder": {"hidden": 7},
    }
    model = build(config(values), encoding)
    assert model.embedding.width == 11 + 2 * 3 + 2 * 5
    assert model.encoder.width == 2 * 7


@pytest.mark.parametrize(
    ("values", "layer"),
    [({"kind": "rnn"}, Elman), ({"kind": "lstm"}, LSTM), ({"kind": "peephole"}, PeepholeLSTM)],
)
def test_the_encoder_is_what_was_named(
    values: dict[str, Any], layer: type[nn.Module], encoding: Encoding
) -> None:
    one_way = build(config({"words": {}, "encoder": {**values, "bidirectional": False}}), encoding).encoder
    assert isinstance(one_way, layer)
    both = build(config({"words": {}, "encoder": values}), encoding).encoder
    assert isinstance(both, Bidirectional)
    assert isinstance(both.ahead, layer)
    assert isinstance(both.back, layer)
    deep = build(config({"words": {}, "encoder": {**values, "layers": 3}}), encoding).encoder
    assert isinstance(deep, Deep)
    assert len(deep.layers) == 3


def test_the_sigmoid_of_the_paper_reaches_the_cell(encoding: Encoding) -> None:
    values = {"words": {}, "encoder": {"kind": "rnn", "activation": "sigmoid", "bidirectional": False}}
    assert build(config(values), encoding).encoder.activation == "sigmoid"  # type: ignore[attr-defined]


def test_without_an_encoder_the_head_reads_the_embedding(encoding: Encoding) -> None:
    model = build(config({"words": {"width": 9}, "encoder": {"kind": "none"}}), encoding)
    assert isinstance(model.encoder, NoEncoder)
    assert model.encoder.width == 9


@pytest.mark.parametrize(("kind", "head"), [("crf", CRFHead), ("softmax", SoftmaxHead)])
def test_the_head_is_what_was_named(kind: str, head: type[nn.Module], encoding: Encoding) -> None:
    assert isinstance(build(config({"words": {}, "head": {"kind": kind}}), encoding).head(), head)


@pytest.mark.parametrize(("kind", "part"), [("plain", nn.Dropout), ("variational", VariationalDropout)])
def test_dropout_is_of_the_kind_named(kind: str, part: type[nn.Module], encoding: Encoding) -> None:
    values = {"words": {}, "encoder": {"layers": 2}, "dropout": {"kind": kind, "between": 0.25}}
    model = build(config(values), encoding)
    assert isinstance(model.input_dropout, part)
    assert isinstance(model.output_dropout, part)
    assert isinstance(model.encoder.dropout, part)  # type: ignore[attr-defined]


def test_the_same_seed_builds_the_same_model(encoding: Encoding) -> None:
    def weights(seed: int) -> dict[str, Tensor]:
        torch.manual_seed(seed)
        return build(config(SIX["bi-lstm-crf"]), encoding).state_dict()

    one, same, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


# --- pretrained vectors ----------------------------------------------------------------------------------

KNOWN = ("anna", "seoul", "zebra")  # zebra is not in the training text


@pytest.mark.parametrize(
    ("tuned", "trained"),
    [
        ("missing", {"<unknown>", "kim", "lives", "in", ".", "is", "far", "oslo"}),
        ("all", {"<unknown>", "kim", "lives", "in", ".", "is", "far", "oslo", "anna", "seoul"}),
        ("none", set()),
    ],
)
def test_exactly_the_vectors_meant_are_trained(
    tuned: str, trained: set[str], fitted: Callable[..., Encoding], tensors_of: Tensors
) -> None:
    """Tuning what should stay fixed would part the words of the training text from all others."""
    encoding = fitted(KNOWN)
    words = encoding.words
    table = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    vectors = Vectors(words=list(KNOWN), matrix=table, path="v.txt", format="glove", notes=())
    pretrained = vectors.table_for(words, np.random.default_rng(0))
    values = {"words": {"tuned": tuned, "singleton_rate": 0.5}, "encoder": {"hidden": 5}}
    model = build(config(values), encoding, pretrained)
    embedding = model.embedding
    assert isinstance(embedding, WordEmbedding)
    assert embedding.width == 4
    before = embedding.table().clone()
    np.testing.assert_array_equal(before.numpy(), pretrained.matrix)
    for row, word in enumerate(KNOWN):
        np.testing.assert_array_equal(before[words.id(word)], table[row])

    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=1.0)
    model.train()
    for _ in range(8):  # words seen once are trained as unknown half the time
        optimizer.zero_grad()
        model.loss(tensors_of(encoding)).backward()
        optimizer.step()
    changed = (embedding.table() != before).any(dim=1)
    names = {"<unknown>" if i == 1 else words.string(i) for i in changed.nonzero().flatten().tolist()}
    assert names == trained
    assert not embedding.table()[0].any(), "padding stays zero"


@pytest.mark.parametrize(("tuned", "trained"), [("missing", True), ("all", True), ("none", False)])
def test_random_vectors_are_kept_as_drawn_only_if_the_recipe_says_so(
    tuned: str, trained: bool, encoding: Encoding
) -> None:
    embedding = build(config({"words": {"tuned": tuned}}), encoding).embedding
    assert isinstance(embedding, WordEmbedding)
    assert embedding.weight.requires_grad is trained


@pytest.mark.parametrize("bound", [False, True])
def test_training_keeps_to_the_scheme_where_the_recipe_says_so(bound: bool, encoding: Encoding) -> None:
    """The chance of a sequence that the scheme forbids: none in a bound model, some in a free one."""
    head = build(config({"words": {}, "head": {"kind": "crf", "constrain_training": bound}}), encoding).head()
    assert isinstance(head, CRFHead)
    forbidden = (~head.crf.allowed().transitions).nonzero()
    assert len(forbidden)
    mask, emissions = torch.ones(1, 2, dtype=torch.bool), torch.zeros(1, 2, len(encoding.labels))
    p = head.crf.log_likelihood(emissions, forbidden[:1], mask).exp().item()
    assert (p == 0.0) is bound


# --- vectors in context ----------------------------------------------------------------------------------

BILM = BilmConfig(byte_width=2, filters=[(1, 3)], width=2, hidden=3)


@pytest.mark.parametrize(
    ("at", "read", "given"), [("input", 3 + 4, 4), ("output", 3, 4 + 4), ("both", 3 + 4, 4 + 4)]
)
def test_a_language_models_vectors_go_where_they_are_wanted(
    encoding: Encoding, at: str, read: int, given: int
) -> None:
    config = ModelConfig.model_validate(
        {"words": {"width": 3}, "elmo": {"bilm": "", "at": at}, "encoder": {"hidden": 2}}
    )
    model = build(config, encoding, bilm=build_bilm(BILM))
    encoder = model.encoder.encoder if isinstance(model.encoder, Bypass) else model.encoder
    assert (encoder.input_width, model.encoder.width) == (read, given)


def test_each_model_has_a_language_model_of_its_own(encoding: Encoding) -> None:
    """Else two cells of a comparison that train it would train the same one."""
    config = ModelConfig.model_validate({"elmo": {"bilm": "", "tuned": True}, "encoder": {"hidden": 2}})
    bilm = build_bilm(BILM)
    one, other = (find_elmo(build(config, encoding, bilm=bilm)) for _ in range(2))
    assert one is not None
    assert other is not None
    nn.init.zeros_(one.bilm.words.projection.weight)
    assert other.bilm.words.projection.weight.any()
    assert bilm.words.projection.weight.any()


def test_a_recipe_that_wants_a_language_model_must_get_one(encoding: Encoding) -> None:
    config = ModelConfig.model_validate({"elmo": {"bilm": ""}, "encoder": {"hidden": 2}})
    with pytest.raises(RecipeError, match=r"model\.elmo: expected a language model"):
        build(config, encoding)
