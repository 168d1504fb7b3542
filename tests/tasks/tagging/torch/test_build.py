"""Taggers from recipes: the named parts are built, and the heads have the right objectives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.features.vectors import Vectors
from gonie.nn.dropout import VariationalDropout
from gonie.nn.embeddings import WordEmbedding
from gonie.nn.encoders import NoEncoder
from gonie.nn.heads import CRFHead, SoftmaxHead
from gonie.nn.heads.objectives import AnyOf, Exact, Weighted
from gonie.tasks.tagging.recipe import HeadConfig, TaggerConfig
from gonie.tasks.tagging.torch.build import build_objective, build_tagger, find_outside, tag_parts, weights_of
from gonie.tasks.torch.build import WordTable
from gonie.text.schemes import PLAIN, Scheme

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


def config(values: dict[str, Any]) -> TaggerConfig:
    return TaggerConfig.model_validate(values)


@pytest.mark.parametrize("name", SIX)
def test_the_six_models_score_and_learn(name: str, encoding: Encoding, tensors_of: Tensors) -> None:
    """Each gives a score for every tag of every token, and a loss that reaches every weight."""
    model = build_tagger(config(SIX[name]), encoding)
    batch = tensors_of(encoding)
    assert model(batch).shape == (*batch["mask"].shape, len(encoding.labels))
    model.loss(batch).backward()
    untouched = [name for name, p in model.named_parameters() if p.grad is None]
    assert not untouched


def test_widths_are_those_of_the_recipe(encoding: Encoding) -> None:
    values = {
        "words": {"width": 11},
        "chars": {"kind": "lstm", "hidden": 3},
        "features": {"groups": ["spelling", "context"], "width": 5},
        "encoder": {"hidden": 7},
    }
    model = build_tagger(config(values), encoding)
    assert model.embedding.width == 11 + 2 * 3 + 2 * 5
    assert model.encoder.width == 2 * 7


def test_without_an_encoder_the_head_reads_the_embedding(encoding: Encoding) -> None:
    model = build_tagger(config({"words": {"width": 9}, "encoder": {"kind": "none"}}), encoding)
    assert isinstance(model.encoder, NoEncoder)
    assert model.encoder.width == 9


@pytest.mark.parametrize(
    ("kind", "head"), [("crf", CRFHead), ("softmax", SoftmaxHead), ("parts", SoftmaxHead)]
)
def test_the_head_is_that_of_the_recipe(kind: str, head: type[nn.Module], encoding: Encoding) -> None:
    assert isinstance(build_tagger(config({"words": {}, "head": {"kind": kind}}), encoding).head(), head)


def test_a_tag_has_its_parts_and_the_first_and_last_of_them() -> None:
    found = tag_parts(["NNG", "NNG+JKB", "VV+EP+EF", "NNG+JKB+JX"])
    assert all(len(set(own)) == len(own) for own in found)
    noun, with_particle, verb, with_both = map(set, found)
    assert len(noun) == 3, "NNG, NNG first, NNG last"
    assert len(noun & with_particle) == 2, "NNG and NNG first"
    assert len(with_particle & with_both) == 3, "NNG, NNG first and JKB"
    assert not verb & (noun | with_particle | with_both)
    assert set.union(*map(set, found)) == set(range(max(map(max, found)) + 1)), "numbers have no gaps"


def test_a_plus_sign_as_a_tag_is_a_part_like_any_other() -> None:
    """Labels of a file may be anything."""
    assert len(tag_parts(["+", "", "a+", "O"])) == 4


@pytest.mark.parametrize(("kind", "part"), [("plain", nn.Dropout), ("variational", VariationalDropout)])
def test_the_kind_of_dropout_is_that_of_the_recipe(
    kind: str, part: type[nn.Module], encoding: Encoding
) -> None:
    values = {"words": {}, "encoder": {"layers": 2}, "dropout": {"kind": kind, "between": 0.25}}
    model = build_tagger(config(values), encoding)
    assert isinstance(model.input_dropout, part)
    assert isinstance(model.output_dropout, part)
    assert isinstance(model.encoder.dropout, part)  # type: ignore[attr-defined]


def test_the_same_seed_builds_the_same_model(encoding: Encoding) -> None:
    def weights(seed: int) -> dict[str, Tensor]:
        torch.manual_seed(seed)
        return build_tagger(config(SIX["bi-lstm-crf"]), encoding).state_dict()

    one, same, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


# --- heads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [False, True])
def test_constrained_training_gives_invalid_sequences_probability_zero(
    bound: bool, encoding: Encoding
) -> None:
    """Without constraints, a sequence that the scheme forbids has a probability above zero."""
    head = build_tagger(
        config({"words": {}, "head": {"kind": "crf", "constrain_training": bound}}), encoding
    ).head()
    assert isinstance(head, CRFHead)
    forbidden = (~head.crf.allowed().transitions).nonzero()
    assert len(forbidden)
    mask, emissions = torch.ones(1, 2, dtype=torch.bool), torch.zeros(1, 2, len(encoding.labels))
    p = head.crf.log_likelihood(emissions, forbidden[:1], mask).exp().item()
    assert (p == 0.0) is bound


def test_a_sigmoid_head_requires_one_type_and_o() -> None:
    assert [find_outside(labels) for labels in (("O", "PER"), ("PER", "O"))] == [0, 1]
    for labels in (("PER",), ("O", "LOC", "PER"), ("LOC", "PER")):
        with pytest.raises(RecipeError, match=r"model\.head\.kind: sigmoid supports only one type and O"):
            find_outside(labels)


def test_the_weight_of_a_type_applies_to_all_its_tags() -> None:
    labels = ("O", "B-PER", "E-PER", "S-LOC")
    assert weights_of({"PER": 3.0, "O": 0.5}, labels, Scheme(kind="BIOES")) == [0.5, 3.0, 3.0, 1.0]
    assert weights_of({"B-PER": 2.0}, labels, PLAIN) == [1.0, 2.0, 1.0, 1.0]
    with pytest.raises(RecipeError) as refused:
        weights_of({"PER": 2.0, "GPE": 2.0, "ORG": 2.0}, labels, Scheme(kind="BIOES"))
    assert refused.value.problems == [
        "model.head.weights.GPE: unknown type; use one of O, PER, LOC",
        "model.head.weights.ORG: unknown type; use one of O, PER, LOC",
    ]


def test_the_objective_depends_on_weights_and_partial_labels(encoding: Encoding) -> None:
    options = np.ones((2, len(encoding.labels)), dtype=bool)
    weighted = HeadConfig(weights={"PER": 2.0})
    assert isinstance(build_objective(HeadConfig(), encoding, None), Exact)
    assert isinstance(build_objective(HeadConfig(), encoding, options), AnyOf)
    assert isinstance(build_objective(weighted, encoding, None), Weighted)
    with pytest.raises(RecipeError, match=r"model\.head\.weights: cannot be combined with data\.partial"):
        build_objective(weighted, encoding, options)


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
def test_only_the_selected_vectors_are_trained(
    tuned: str, trained: set[str], fitted: Callable[..., Encoding], tensors_of: Tensors
) -> None:
    """Tuning frozen vectors would move the words of the training text away from all others."""
    encoding = fitted(KNOWN)
    words = encoding.words
    table = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    vectors = Vectors(words=list(KNOWN), matrix=table, path="v.txt", format="glove", notes=())
    pretrained = vectors.table_for(words, np.random.default_rng(0))
    values = {"words": {"tuned": tuned, "singleton_rate": 0.5}, "encoder": {"hidden": 5}}
    made = config(values)
    assert made.words is not None
    model = build_tagger(made, encoding, WordTable.plan(made.words, encoding, pretrained))
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
