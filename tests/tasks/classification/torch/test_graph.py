"""The ONNX graph of every classifier gives the scores and attention of torch, in any batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from gonie.errors import GonieError
from gonie.nn import (
    LSTM,
    AdditiveAttention,
    BatchNorm,
    Bidirectional,
    CharCNN,
    Convolution,
    Deep,
    DotAttention,
    Elman,
    Joined,
    Last,
    Max,
    Mean,
    MultiLabelHead,
    NoEmbedding,
    NoEncoder,
    Normalized,
    PeepholeLSTM,
    Stack,
    TextScores,
    TextSigmoidHead,
    TextSoftmaxHead,
    VariationalDropout,
    Window,
    WordDropout,
    WordEmbedding,
)
from gonie.runtime.scorer import ScoredTexts
from gonie.runtime.session import OnnxScorer
from gonie.tasks.classification.torch.graph import text_graph
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level
from gonie.tasks.torch.scorer import TorchTextScorer

LABELS, WORDS, CHARS, NGRAMS, WIDTH, HIDDEN = 5, 12, 9, 7, 6, 4
CLOSE = 1e-5


def both(kind: Any, width: int = WIDTH) -> Bidirectional:
    return Bidirectional(ahead=kind(width=width, hidden=HIDDEN), back=kind(width=width, hidden=HIDDEN))


ENCODERS: dict[str, Callable[[int], Any]] = {
    "none": lambda width: NoEncoder(width=width),
    "LSTM": lambda width: LSTM(width=width, hidden=HIDDEN),
    "RNN": lambda width: Elman(width=width, hidden=HIDDEN),
    "BiLSTM": lambda width: both(LSTM, width),
    "BiLSTM, peepholes": lambda width: both(PeepholeLSTM, width),
    "deep": lambda width: Deep(
        layers=[both(LSTM, width), both(LSTM, 2 * HIDDEN)], dropout=VariationalDropout(0.5)
    ),
    "window": lambda width: Window(width=width, hidden=HIDDEN, size=5),
    "convolution": lambda width: Convolution(width=width, hidden=2, kernels=(1, 2, 5), dropout=0.5),
}
POOLINGS: dict[str, Callable[[int], Any]] = {
    "additive": lambda width: AdditiveAttention(width=width, hidden=5),
    "additive, three heads": lambda width: AdditiveAttention(width=width, hidden=5, heads=3),
    "dot": lambda width: DotAttention(width=width),
    "dot, two heads": lambda width: DotAttention(width=width, heads=2),
    "mean": lambda width: Mean(width=width),
    "max": lambda width: Max(width=width),
    "last": lambda width: Last(width=width),
    "last, both ways": lambda width: Last(width=width, both_ways=True),
    "joined": lambda width: Joined([AdditiveAttention(width=width, hidden=5), Max(width=width)]),
    "layer norm": lambda width: Normalized(
        pooling=DotAttention(width=width, heads=2), norm=nn.LayerNorm(2 * width)
    ),
    "batch norm": lambda width: Normalized(pooling=Mean(width=width), norm=BatchNorm(width=width)),
}
HEADS: dict[str, Callable[[int], Any]] = {
    "softmax": lambda width: TextSoftmaxHead(
        scores=TextScores(width=width, num_labels=LABELS, direct={"bag": NGRAMS})
    ),
    "sigmoid": lambda width: TextSigmoidHead(scores=TextScores(width=width, num_labels=1, direct={})),
    "labels": lambda width: MultiLabelHead(
        scores=TextScores(width=width, num_labels=LABELS, direct={"bag": NGRAMS})
    ),
}


def level(encoder: str, pooling: str, width: int) -> Level:
    part = ENCODERS[encoder](width)
    return Level(encoder=part, pooling=POOLINGS[pooling](part.width), output_dropout=nn.Dropout(0.5))


def classifier(
    encoder: str = "BiLSTM",
    pooling: str = "additive",
    head: str = "softmax",
    *,
    upper: tuple[str, str] | None = None,
    embedding: Any = None,
) -> ClassifyingNetwork:
    """Return a model with random weights and with dropout in every place."""
    embedding = embedding or WordEmbedding(size=WORDS, width=WIDTH)
    words = level(encoder, pooling, embedding.width)
    sentences = level(*upper, words.width) if upper else None
    model = ClassifyingNetwork(
        embedding=embedding,
        words=words,
        sentences=sentences,
        heads={LABEL: HEADS[head]((sentences or words).width)},
        word_dropout=WordDropout(0.3),
        dropout=nn.Dropout(0.5),
    )
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, weight in (*model.named_parameters(), *model.named_buffers()):
            weight.normal_(0.0, 0.6, generator=generator)
            if name.endswith("variance"):
                weight.abs_()
        for part in model.modules():
            if isinstance(part, nn.Embedding | WordEmbedding):
                part.weight[0] = 0.0  # padding
    return model


def check(got: ScoredTexts, wanted: ScoredTexts, batch: dict[str, np.ndarray]) -> None:
    assert [array.dtype for array in got] == [np.float32] * 3
    assert [array.shape for array in got] == [array.shape for array in wanted]
    for name in ScoredTexts._fields:
        np.testing.assert_allclose(getattr(got, name), getattr(wanted, name), atol=CLOSE, err_msg=name)
    assert not got.words[~batch["mask"]].any()
    assert not got.sentences[~batch["places_mask"]].any()


def compare(model: ClassifyingNetwork, batch: dict[str, np.ndarray]) -> None:
    wanted = TorchTextScorer(model).score_texts(batch)
    check(OnnxScorer(*text_graph(model), threads=1).score_texts(batch), wanted, batch)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_every_pooling_and_encoder_is_exported(encoder: str, pooling: str, texts: Any) -> None:
    """Flat models: one sentence per text, some of one token."""
    compare(classifier(encoder, pooling), texts([[4], [1], [9], [3]], seed=4))


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_every_pooling_and_encoder_is_exported_at_the_upper_level(
    encoder: str, pooling: str, texts: Any
) -> None:
    """Hierarchical models: texts of one sentence and of several."""
    model = classifier("BiLSTM", "additive", upper=(encoder, pooling))
    compare(model, texts([[4, 1, 7], [2], [3, 3, 1, 5, 2]], seed=5))


@pytest.mark.parametrize("upper", [None, ("LSTM", "dot")], ids=["flat", "hierarchical"])
@pytest.mark.parametrize("head", HEADS)
def test_every_head_is_exported(head: str, upper: tuple[str, str] | None, texts: Any) -> None:
    lengths = [[4], [1], [9]] if upper is None else [[4, 2], [1], [9, 1, 1]]
    compare(classifier(head=head, upper=upper), texts(lengths, seed=6))


@pytest.mark.parametrize("upper", [None, ("none", "mean")], ids=["flat", "hierarchical"])
@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_a_model_of_n_grams_alone_is_exported(
    pooling: str, upper: tuple[str, str] | None, texts: Any
) -> None:
    model = classifier("none", pooling, upper=upper, embedding=NoEmbedding())
    assert model.head().scores.weight is None  # type: ignore[attr-defined]
    compare(model, texts([[4], [1], [2]], seed=7))


def test_character_embeddings_are_exported(texts: Any) -> None:
    spelled = CharCNN(size=CHARS, width=4, filters=5, kernel=3, dropout=0.5)
    stacked = Stack([WordEmbedding(size=WORDS, width=WIDTH), spelled])
    compare(classifier(embedding=stacked, upper=("BiLSTM", "additive")), texts([[4, 2], [1]], seed=8))


@pytest.fixture(
    scope="module",
    params=[("BiLSTM", "additive", ("BiLSTM", "additive")), ("convolution", "joined", ("LSTM", "last"))],
    ids=["attention", "convolution"],
)
def pair(request: pytest.FixtureRequest) -> tuple[TorchTextScorer, OnnxScorer]:
    encoder, pooling, upper = request.param
    model = classifier(encoder, pooling, upper=upper)
    return TorchTextScorer(model), OnnxScorer(*text_graph(model), threads=1)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.lists(st.integers(1, 8), min_size=1, max_size=4), min_size=1, max_size=4),
    seed=st.integers(0, 10_000),
    most=st.integers(0, 4),
)
def test_onnx_equals_torch_on_ragged_texts(
    pair: tuple[TorchTextScorer, OnnxScorer], texts: Any, lengths: list[list[int]], seed: int, most: int
) -> None:
    """The exported model must score as in training, for texts of any length and any padding."""
    model, exported = pair
    batch = texts(lengths, seed=seed, most=most)
    check(exported.score_texts(batch), model.score_texts(batch), batch)


def test_scores_of_a_text_do_not_depend_on_its_batch(
    pair: tuple[TorchTextScorer, OnnxScorer], texts: Any, text_alone: Any
) -> None:
    """A text must not be labelled differently because a longer one was in its batch."""
    _, exported = pair
    batch = texts([[4, 1, 7], [2], [3, 3, 1, 5, 2]], seed=3)
    together = exported.score_texts(batch)
    for row in range(3):
        alone = text_alone(batch, row)
        own = exported.score_texts(alone)
        S, T = alone["places"].shape[1], alone["mask"].shape[1]
        rows = batch["places"][row, :S]
        np.testing.assert_allclose(own.scores[0], together.scores[row], atol=CLOSE)
        np.testing.assert_allclose(own.words, together.words[rows, :T], atol=CLOSE)
        np.testing.assert_allclose(own.sentences[0], together.sentences[row, :S], atol=CLOSE)


def test_onnx_equals_torch_for_wide_layers_and_long_texts(texts: Any) -> None:
    """Kernels depend on width and batch size, so realistic sizes are compared too."""
    torch.manual_seed(0)
    model = classifier()
    encoder = Bidirectional(ahead=LSTM(width=WIDTH, hidden=100), back=LSTM(width=WIDTH, hidden=100))
    model.words = Level(encoder=encoder, pooling=AdditiveAttention(width=200, hidden=100))
    model.heads[LABEL] = TextSoftmaxHead(scores=TextScores(width=200, num_labels=LABELS, direct={}))
    compare(model, texts([[300], [1], *[[17]] * 40], seed=5))


def test_sums_of_many_n_grams_are_deterministic(texts: Any) -> None:
    scorer = OnnxScorer(*text_graph(classifier("none", "mean", embedding=NoEmbedding())), threads=2)
    batch = texts([[2], [3]], seed=1, most=4000)
    first = scorer.score_texts(batch).scores
    assert all(np.array_equal(scorer.score_texts(batch).scores, first) for _ in range(5))


def test_the_graph_has_only_the_inputs_the_model_reads() -> None:
    flat = classifier(head="sigmoid", pooling="mean")
    assert set(OnnxScorer(*text_graph(flat)).inputs) == {"words", "mask", "lengths", "places", "places_mask"}
    bag = classifier("none", "mean", embedding=NoEmbedding())
    assert set(OnnxScorer(*text_graph(bag)).inputs) == {
        *("mask", "places", "places_mask"),
        *("bag.ids", "bag.rows", "bag.offsets"),
    }


class Strange(nn.Linear):
    input_width = width = 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: setattr(m.words, "pooling", Strange(1, 1)),
            "cannot export the pooling Strange",
        ),
        (
            lambda m: setattr(m.words, "pooling", Normalized(pooling=Mean(width=8), norm=nn.Softmax(dim=1))),
            "cannot export the norm Softmax",
        ),
        (
            lambda m: m.heads.update({LABEL: Strange(1, 1)}),
            "cannot export the head Strange",
        ),
        (lambda m: setattr(m, "embedding", NoEmbedding()), "Bidirectional has no embedding to read"),
    ],
)
def test_a_part_that_cannot_be_exported_is_named(
    change: Callable[[ClassifyingNetwork], None], message: str
) -> None:
    model = classifier()
    change(model)
    with pytest.raises(GonieError, match=message):
        text_graph(model)
