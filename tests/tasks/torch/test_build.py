"""Building the parts that all tasks share: word tables, embeddings, encoders, contextual vectors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.features.vectors import Coverage, PretrainedVectors
from gonie.nn.embeddings import CharCNN, CharLSTM, FeatureEmbedding, NoEmbedding, Stack, WordEmbedding
from gonie.nn.encoders import (
    LSTM,
    Bidirectional,
    Bypass,
    Convolution,
    Deep,
    Elman,
    NoEncoder,
    PeepholeLSTM,
    Window,
)
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.protocols import Embedding, Encoder
from gonie.tasks.contextual import ContextualConfig, LoadedSource
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.recipe import check_recipe
from gonie.tasks.sections import (
    AdapterConfig,
    CorpusConfig,
    DropoutConfig,
    EmbeddingConfig,
    EncoderConfig,
    WordsConfig,
)
from gonie.tasks.torch.build import (
    WordTable,
    build_contextual,
    build_embedding,
    build_encoder,
    build_reader,
    build_words,
    contextual_parts,
    plan_words,
    words_rank,
)
from gonie.tasks.torch.layers import part_rates

DIRECT = {"direct": ["spelling", "context"]}
DATA = CorpusConfig(train="x")


def config(values: dict[str, Any]) -> Any:
    """Return the model section of a tagger, with a key for every contextual source."""
    return check_recipe({"data": {"train": "x"}, "model": values}, source="test").model


def embedding_of(values: dict[str, Any], encoding: Encoding) -> Embedding:
    return build_embedding(config(values), encoding, None, {})


def encoder_of(values: dict[str, Any], width: int = 4) -> Encoder:
    return build_encoder(EncoderConfig.model_validate(values), width, DropoutConfig())


# --- embeddings ------------------------------------------------------------------------------------------


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
def test_the_embedding_is_that_of_the_recipe(
    values: dict[str, Any], embedding: type[nn.Module], encoding: Encoding
) -> None:
    assert isinstance(embedding_of(values, encoding), embedding)


def test_the_parts_of_an_embedding_are_in_a_fixed_order(encoding: Encoding) -> None:
    """Parameters are drawn in this order; another order would give other models for the same seed."""
    values = {"features": {"groups": ["spelling", "context"]}, "chars": {}, "words": {}}
    stack = embedding_of(values, encoding)
    assert isinstance(stack, Stack)
    kinds = [type(part) for part in stack.parts]
    assert kinds == [WordEmbedding, CharCNN, FeatureEmbedding, FeatureEmbedding]


@pytest.mark.parametrize(("tuned", "trained"), [("missing", True), ("all", True), ("none", False)])
def test_random_vectors_are_trained_unless_tuned_is_none(
    tuned: str, trained: bool, encoding: Encoding
) -> None:
    embedding = embedding_of({"words": {"tuned": tuned}}, encoding)
    assert isinstance(embedding, WordEmbedding)
    assert embedding.weight.requires_grad is trained


# --- word tables -----------------------------------------------------------------------------------------


def pretrained_for(encoding: Encoding, width: int = 3) -> PretrainedVectors:
    """Return vectors for every third word."""
    size = len(encoding.words)
    matrix = np.random.default_rng(0).normal(size=(size, width)).astype(np.float32)
    matrix[0] = 0.0
    return PretrainedVectors(matrix, np.arange(size) % 3 == 2, Coverage(types={}, tokens={}))


def test_without_pretrained_vectors_every_row_is_trained(encoding: Encoding) -> None:
    table = WordTable.plan(WordsConfig(width=7), encoding)
    assert (table.size, table.fixed, table.width) == (len(encoding.words), 0, 7)
    assert table.rows is None
    assert table.vectors is None


@pytest.mark.parametrize("tuned", ["missing", "all", "none"])
def test_every_word_starts_with_its_pretrained_vector(tuned: Any, fitted: Callable[..., Encoding]) -> None:
    """The lookup gives each word its own vector, whichever rows are trained."""
    encoding = fitted(["zebra", "quagga"])
    pretrained = pretrained_for(encoding)
    words = WordsConfig(width=99, tuned=tuned)
    table = WordTable.plan(words, encoding, pretrained)
    vocabulary = encoding.words
    learned = (
        [not found for found in pretrained.found]
        if tuned == "missing"
        else [number < vocabulary.trained for number in range(len(vocabulary))]
    )
    assert (table.size, table.fixed, table.width) == (sum(learned), len(learned) - sum(learned), 3)
    assert table.rows is not None
    assert sorted(table.rows) == list(range(len(vocabulary)))
    assert [row < table.size for row in table.rows] == learned
    assert list(table.rows[:2]) == [0, 1], "padding and unknown words are first"
    built = build_words(words, encoding, table)
    np.testing.assert_array_equal(built.table().detach().numpy(), pretrained.matrix)


def test_a_model_without_word_vectors_has_no_table(encoding: Encoding) -> None:
    assert plan_words(config({"chars": {}}), encoding, None) is None
    table = plan_words(config({"words": {"width": 7}}), encoding, pretrained_for(encoding))
    assert table is not None
    assert table.width == 3, "that of the vectors"


@pytest.mark.parametrize("vectors", [False, True])
def test_a_word_table_is_restored_from_its_json(vectors: bool, encoding: Encoding) -> None:
    words = WordsConfig(width=5)
    table = WordTable.plan(words, encoding, pretrained_for(encoding) if vectors else None)
    again = WordTable.from_json(json.loads(json.dumps(table.to_json())))
    assert again.to_json() == table.to_json()
    made, found = build_words(words, encoding, table), build_words(words, encoding, again)
    found.load_state_dict(made.state_dict())
    assert torch.equal(found.table(), made.table())


# --- encoders --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "layer"),
    [({"kind": "rnn"}, Elman), ({"kind": "lstm"}, LSTM), ({"kind": "peephole"}, PeepholeLSTM)],
)
def test_recurrent_encoders_can_be_bidirectional_and_deep(
    values: dict[str, Any], layer: type[nn.Module]
) -> None:
    assert isinstance(encoder_of({**values, "bidirectional": False}), layer)
    both = encoder_of(values)
    assert isinstance(both, Bidirectional)
    assert isinstance(both.ahead, layer)
    assert isinstance(both.back, layer)
    deep = encoder_of({**values, "layers": 3})
    assert isinstance(deep, Deep)
    assert len(deep.layers) == 3


@pytest.mark.parametrize(("kind", "part"), [("cnn", Convolution), ("window", Window), ("none", NoEncoder)])
def test_other_encoders_are_a_single_part(kind: str, part: type[nn.Module]) -> None:
    assert isinstance(encoder_of({"kind": kind, "hidden": 6, "layers": 2}), part)


def test_the_activation_reaches_the_recurrent_cell() -> None:
    values = {"kind": "rnn", "activation": "sigmoid", "bidirectional": False}
    assert encoder_of(values).activation == "sigmoid"  # type: ignore[attr-defined]


# --- contextual vectors ----------------------------------------------------------------------------------


def synthetic_elmo(seed: int = 1) -> dict[str, LoadedSource]:
    return {"elmo": CONTEXTUAL["elmo"].synthetic(DATA, seed)}


@pytest.mark.parametrize(
    ("at", "read", "given"), [("input", 3 + 4, 4), ("output", 3, 4 + 4), ("both", 3 + 4, 4 + 4)]
)
def test_contextual_vectors_are_added_at_the_chosen_place(
    encoding: Encoding, at: str, read: int, given: int
) -> None:
    made = config({"words": {"width": 3}, "elmo": {"bilm": "en", "at": at}, "encoder": {"hidden": 2}})
    embedding = build_embedding(made, encoding, None, synthetic_elmo())
    reader = build_reader(embedding, made.encoder, made.dropout)
    inner = reader.encoder if isinstance(reader, Bypass) else reader
    assert (inner.input_width, reader.width) == (read, given)


class Vectors(nn.Module):
    """A contextual embedding with a fixed width and the given places."""

    def __init__(self, name: str, at: str) -> None:
        super().__init__()
        self.name = name
        self.places = {"both": ("input", "output")}.get(at, (at,))
        self.place_width, self.tuned = 2, False
        self.width = 2 * len(self.places)

    def penalty(self) -> torch.Tensor:
        return torch.zeros(())

    def report(self) -> list[dict[str, Any]]:
        return []


class Source:
    """A contextual source of such vectors."""

    def __init__(self, name: str) -> None:
        self._name = name

    def build(self, config: Any) -> Vectors:
        return Vectors(self._name, config.at)


class TwoSources(EmbeddingConfig):
    """A model with two contextual sources."""

    one: ContextualConfig | None = None
    two: ContextualConfig | None = None


def two_sources(*places: str) -> list[Any]:
    values = {name: {"at": at} for name, at in zip(("one", "two"), places, strict=True)}
    sources: Any = {name: Source(name) for name in ("one", "two")}
    return build_contextual(TwoSources.model_validate(values), sources)


def test_a_source_that_bypasses_the_encoder_is_last() -> None:
    """The bypass takes the last columns of the embedding."""
    assert [part.name for part in two_sources("input", "input")] == ["one", "two"]
    for at in ("output", "both"):
        assert [part.name for part in two_sources(at, "input")] == ["two", "one"]
        assert [part.name for part in two_sources("input", at)] == ["one", "two"]


@pytest.mark.parametrize("places", [("output", "output"), ("both", "output"), ("both", "both")])
def test_two_sources_cannot_both_bypass_the_encoder(places: tuple[str, str]) -> None:
    with pytest.raises(RecipeError, match=r"model\.one\.at and model\.two\.at: only one contextual source"):
        two_sources(*places)


def test_contextual_parts_are_found_at_any_depth(encoding: Encoding) -> None:
    made = config({"words": {}, "elmo": {"bilm": "en"}, "encoder": {"hidden": 2}})
    embedding = build_embedding(made, encoding, None, synthetic_elmo())
    assert isinstance(embedding, Stack)
    assert contextual_parts(nn.Sequential(nn.Sequential(embedding))) == [embedding.parts[-1]]
    assert contextual_parts(build_embedding(config({"words": {}}), encoding, None, {})) == []
    assert contextual_parts(object()) == []


# --- learning rates --------------------------------------------------------------------------------------


def test_parts_can_scale_the_learning_rate(encoding: Encoding) -> None:
    values = {"bilm": "en", "tuned": True, "rate": 0.25}
    tuned = config({"words": {}, "elmo": values, "encoder": {"hidden": 2}})
    model = nn.ModuleDict(
        {
            "embedding": build_embedding(tuned, encoding, None, synthetic_elmo()),  # type: ignore[dict-item]
            "scores": TextScores(width=3, num_labels=2, direct={"bag": 4}, direct_rate=5.0),
        }
    )
    rates = part_rates(model)
    assert rates == {"embedding.parts.1.bilm.": 0.25, "scores.direct.": 5.0}
    names = [name for name, _ in model.named_parameters()]
    assert all(any(name.startswith(start) for name in names) for start in rates)


def test_frozen_and_plain_parts_do_not_scale_the_rate(encoding: Encoding) -> None:
    fixed = config({"words": {}, "elmo": {"bilm": "en", "rate": 0.25}, "encoder": {"hidden": 2}})
    embedding = build_embedding(fixed, encoding, None, synthetic_elmo())
    assert part_rates(embedding) == {}  # type: ignore[arg-type]
    assert part_rates(TextScores(width=3, num_labels=2, direct={})) == {}


@pytest.mark.parametrize(
    ("setting", "size", "rank"),
    [("auto", 100, 24), ("auto", 9000, 4), ("auto", 14000, 2), (5, 9000, 5), (0, 9, 0)],
)
def test_the_change_of_word_vectors_is_small_unless_its_rank_is_given(
    setting: Any, size: int, rank: int
) -> None:
    table = WordTable(size=size, fixed=14000 - size, width=100)
    assert words_rank(AdapterConfig(embedding=setting), table) == rank
