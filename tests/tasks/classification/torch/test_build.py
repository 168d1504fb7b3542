"""Classifiers from recipes: the named parts are built, and unsupported combinations are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.features.ngrams import NGramBag, NGrams
from gonie.features.text_encoding import TextEncoding
from gonie.features.vectors import Coverage, PretrainedVectors
from gonie.nn import (
    AdditiveAttention,
    Bag,
    BatchNorm,
    Convolution,
    DotAttention,
    Joined,
    Last,
    Max,
    Mean,
    MultiLabelHead,
    Normalized,
    TextSigmoidHead,
    TextSoftmaxHead,
)
from gonie.nn.inference import to_tensors
from gonie.tasks.classification.recipe import ClassifierConfig
from gonie.tasks.classification.torch.build import build_classifier
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.sections import WordsConfig
from gonie.tasks.torch.build import WordTable
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import Passages
from gonie.text.tokenizers import EnglishTokenizer

WORDS: dict[str, Any] = {"words": {"width": 4}, "encoder": {"hidden": 3}}
TEXTS = (
    LabelledText("Anna lives. Far in Seoul.", ("a",)),
    LabelledText("far", ("b",)),
    LabelledText("is Kim in Oslo", ("c",)),
)
KINDS = {
    "attention": AdditiveAttention,
    "dot": DotAttention,
    "mean": Mean,
    "max": Max,
    "last": Last,
}

Fit = Callable[..., TextEncoding]


@pytest.fixture
def texts(fitted: Callable[..., Encoding]) -> Fit:
    """Builds an encoding of texts with these labels."""

    def fit(*labels: str, multi_label: bool = False, by: Any = "text", bag: bool = False) -> TextEncoding:
        ngrams = NGrams(chars=(1, 2), words=(0, 0), lowercase=True)
        return TextEncoding(
            passages=Passages(tokenizer=EnglishTokenizer(), by=by),
            words=fitted(),
            labels=labels or ("a", "b", "c"),
            multi_label=multi_label,
            bag=NGramBag.fit([t.text for t in TEXTS], ngrams=ngrams, min_count=1, max_size=99)
            if bag
            else None,
        )

    return fit


def built(values: dict[str, Any], encoding: TextEncoding, **further: Any) -> ClassifyingNetwork:
    return build_classifier(ClassifierConfig.model_validate(values), encoding, **further)


def learns(model: ClassifyingNetwork, encoding: TextEncoding) -> None:
    """Check that the loss of a batch is finite and reaches every parameter."""
    batch = to_tensors(encoding.encode(TEXTS).batch(np.arange(len(TEXTS))), torch.device("cpu"))
    loss = model.loss(batch)
    loss.backward()
    assert loss.isfinite()
    assert [name for name, p in model.named_parameters() if p.grad is None] == []


@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
@pytest.mark.parametrize("kind", KINDS)
def test_both_levels_have_the_pooling_of_the_recipe(kind: str, norm: str, texts: Fit) -> None:
    pooling = {"kinds": [kind], "norm": norm, "hidden": 2}
    encoding = texts(by="sentence")
    upper = {"encoder": {"hidden": 2}, "pooling": pooling}
    model = built({**WORDS, "pooling": pooling, "sentences": upper}, encoding)
    assert model.sentences is not None
    for level in (model.words, model.sentences):
        inner = level.pooling
        if norm != "none":
            assert isinstance(inner, Normalized)
            assert isinstance(inner.norm, {"batch": BatchNorm, "layer": nn.LayerNorm}[norm])
            inner = inner.pooling
        assert isinstance(inner, KINDS[kind])
    learns(model, encoding)


def test_each_level_has_its_own_pooling(texts: Fit) -> None:
    upper = {"encoder": {"hidden": 2}, "pooling": {"kinds": ["attention"], "hidden": 5}}
    model = built({**WORDS, "pooling": {"kinds": ["max"]}, "sentences": upper}, texts(by="sentence"))
    assert model.sentences is not None
    assert isinstance(model.words.pooling, Max)
    assert isinstance(model.sentences.pooling, AdditiveAttention)
    assert model.sentences.pooling.layer.out_features == 5


def test_several_poolings_are_joined_under_one_norm(texts: Fit) -> None:
    encoding = texts()
    model = built({**WORDS, "pooling": {"kinds": list(KINDS), "heads": 2, "norm": "layer"}}, encoding)
    assert isinstance(model.words.pooling, Normalized)
    assert isinstance(model.words.pooling.pooling, Joined)
    assert model.words.width == 6 * (2 + 2 + 1 + 1 + 1)
    learns(model, encoding)


@pytest.mark.parametrize(
    ("encoder", "both_ways"),
    [
        ({"kind": "lstm"}, True),
        ({"kind": "lstm", "bidirectional": False}, False),
        ({"kind": "none"}, False),
        ({"kind": "cnn"}, False),
    ],
)
def test_last_pooling_depends_on_the_directions_of_the_encoder(
    encoder: dict[str, Any], both_ways: bool, texts: Fit
) -> None:
    """In a network with one direction, the state of the first token has no context."""
    values = {**WORDS, "encoder": {"hidden": 3, **encoder}, "pooling": {"kinds": ["last"]}}
    last = built(values, texts()).words.pooling
    assert isinstance(last, Last)
    assert last.both_ways is both_ways


def test_a_convolution_can_encode_texts(texts: Fit) -> None:
    model = built({**WORDS, "encoder": {"kind": "cnn", "hidden": 3}, "pooling": {"kinds": ["max"]}}, texts())
    assert any(isinstance(part, Convolution) for part in model.modules())


def test_n_grams_are_used_with_a_network_or_alone(texts: Fit) -> None:
    encoding = texts(bag=True)
    beside = built({**WORDS, "bag": {}}, encoding)
    assert any(isinstance(part, Bag) for part in beside.modules())
    learns(beside, encoding)
    alone = built({"bag": {}, "encoder": {"kind": "none"}}, encoding)
    assert {name for name, _ in alone.named_parameters()} == {
        "heads.label.scores.bias",
        "heads.label.scores.direct.bag.weight",
    }
    learns(alone, encoding)


# --- heads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "multi_label", "kind", "head"),
    [
        (("a", "b"), False, "auto", TextSigmoidHead),
        (("a", "b", "c"), False, "auto", TextSoftmaxHead),
        (("a", "b"), True, "auto", MultiLabelHead),
        (("a", "b"), False, "softmax", TextSoftmaxHead),
        (("a", "b"), False, "sigmoid", TextSigmoidHead),
        (("a", "b", "c"), True, "labels", MultiLabelHead),
    ],
)
def test_the_head_comes_from_the_recipe_or_the_labels(
    labels: tuple[str, ...], multi_label: bool, kind: str, head: type, texts: Fit
) -> None:
    made = built({**WORDS, "head": {"kind": kind}}, texts(*labels, multi_label=multi_label)).head()
    assert isinstance(made, head)
    outputs = 1 if head is TextSigmoidHead else len(labels)
    assert made.scores.num_labels == outputs  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("labels", "multi_label", "kind", "message"),
    [
        (("a", "b", "c"), False, "sigmoid", "3 labels (it needs two)"),
        (("a", "b"), False, "labels", "one label per text (data.label_separator is empty)"),
        (("a", "b"), True, "softmax", "texts with several labels"),
        (("a", "b"), True, "sigmoid", "texts with several labels"),
    ],
)
def test_a_head_that_does_not_fit_is_refused(
    labels: tuple[str, ...], multi_label: bool, kind: str, message: str, texts: Fit
) -> None:
    with pytest.raises(RecipeError) as refused:
        built({**WORDS, "head": {"kind": kind}}, texts(*labels, multi_label=multi_label))
    assert f"model.head.kind: {kind} does not support {message}; use auto" in str(refused.value)


def weights(values: Any, encoding: TextEncoding, counts: Counter[str] | None = None) -> list[float] | None:
    head = built({**WORDS, "head": {"weights": values}}, encoding, counts=counts).head()
    found = head.objective.weights  # type: ignore[attr-defined]
    return None if found is None else found.tolist()


def test_label_weights_are_those_of_the_recipe(texts: Fit) -> None:
    assert weights({}, texts()) is None
    assert weights({"c": 3.0, "a": 0.5}, texts()) == [0.5, 1.0, 3.0]
    assert weights({"b": 2.0}, texts("a", "b")) == [1.0, 2.0]
    assert weights({"b": 2.0}, texts(multi_label=True)) == [1.0, 2.0, 1.0]


def test_balanced_weights_give_every_label_the_same_total(texts: Fit) -> None:
    counts = Counter({"a": 60, "b": 30, "c": 10})
    found = weights("balanced", texts(), counts)
    assert found is not None
    assert [weight * counts[label] for weight, label in zip(found, "abc", strict=True)] == pytest.approx(
        [100 / 3] * 3
    )
    assert weights("balanced", texts(), Counter({"a": 3})) == pytest.approx([1 / 3, 1.0, 1.0])


def test_a_weight_for_an_unknown_label_is_refused(texts: Fit) -> None:
    with pytest.raises(RecipeError, match=r"model\.head\.weights\.x: unknown label; use one of a, b, c"):
        weights({"x": 2.0, "a": 1.0}, texts())


def test_words_have_their_pretrained_vectors(texts: Fit) -> None:
    encoding = texts()
    size = len(encoding.words.words)
    matrix = np.arange(size * 4, dtype=np.float32).reshape(size, 4)
    vectors = PretrainedVectors(matrix, np.ones(size, dtype=bool), Coverage(types={}, tokens={}))
    table = WordTable.plan(WordsConfig(tuned="all"), encoding.words, vectors)
    model = built({"words": {"tuned": "all"}, "encoder": {"hidden": 3}}, encoding, words=table)
    batch = to_tensors(encoding.encode([LabelledText("Seoul")]).batch(np.arange(1)), torch.device("cpu"))
    row = encoding.words.word_id("Seoul")
    assert model.eval().embed(batch)[0, 0].tolist() == matrix[row].tolist()
