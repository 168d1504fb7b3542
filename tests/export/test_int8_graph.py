"""Tests int8 graphs: they are close to the model, smaller, and do not depend on the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gonie.export.int8_graph import Int8Graph
from gonie.export.ranges import measure_ranges
from gonie.nn import (
    LSTM,
    Bidirectional,
    CharCNN,
    CharLSTM,
    PeepholeLSTM,
    Scores,
    SoftmaxHead,
    Stack,
    WordEmbedding,
)
from gonie.nn.encoders import Elman
from gonie.runtime.bundle import Graphs
from gonie.runtime.session import OnnxScorer
from gonie.tasks.tagging.torch.graph import onnx_graph
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer

ENCODERS: dict[str, Any] = {
    "lstm": lambda width: Bidirectional(
        ahead=LSTM(width=width, hidden=24), back=LSTM(width=width, hidden=24)
    ),
    "one way": lambda width: LSTM(width=width, hidden=24),
    "peepholes": lambda width: PeepholeLSTM(width=width, hidden=24),
    "rnn": lambda width: Elman(width=width, hidden=24, activation="tanh"),
}
CHARS: dict[str, Any] = {
    "cnn": lambda: CharCNN(size=9, width=4, filters=8, kernel=3, dropout=0.0),
    "lstm": lambda: CharLSTM(size=9, width=4, hidden=4, dropout=0.0),
}


def tagger(encoder: str = "lstm", chars: str = "cnn") -> TaggingNetwork:
    torch.manual_seed(0)
    embedding = Stack([WordEmbedding(size=2000, width=32), CHARS[chars]()])
    part = ENCODERS[encoder](40)
    return TaggingNetwork(
        embedding=embedding,
        encoder=part,
        heads={"tags": SoftmaxHead(scores=Scores(width=part.width, num_tags=5, direct={}))},
        word_dropout=nn.Identity(),
        input_dropout=nn.Identity(),
        output_dropout=nn.Identity(),
    )


def in_bytes(model: TaggingNetwork, batch: Any) -> Graphs:
    """Return the int8 graphs of a model, with the ranges of one batch."""
    return onnx_graph(
        model, graph=Int8Graph(ranges=measure_ranges(model, TorchScorer(model).scores, [batch]))
    )


@pytest.mark.parametrize("chars", CHARS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_scores_are_close_to_those_of_the_model(encoder: str, chars: str, batches: Any) -> None:
    model = tagger(encoder, chars)
    batch = batches([4, 1, 7, 3], seed=2)
    wanted = TorchScorer(model).scores(batch)[batch["mask"]]
    got = OnnxScorer(*in_bytes(model, batch)).scores(batch)[batch["mask"]]
    assert 0 < np.abs(got - wanted).max() < 0.1 * wanted.std()


@pytest.mark.parametrize("encoder", ENCODERS)
def test_scores_do_not_depend_on_the_batch(encoder: str, batches: Any, alone: Any) -> None:
    """With a scale per batch, the scores of all 64 sentences of a batch changed by up to 0.04."""
    batch = batches([4, 1, 7, 3], seed=3)
    scorer = OnnxScorer(*in_bytes(tagger(encoder), batch))
    together = scorer.scores(batch)
    assert together.shape == (4, 7, 5)
    for row, n in enumerate(batch["lengths"]):
        np.testing.assert_allclose(scorer.scores(alone(batch, row))[0], together[row, :n], atol=1e-6)


def test_the_graph_is_about_a_quarter_of_the_size(batches: Any) -> None:
    model, batch = tagger(), batches([4, 1], seed=4)
    for bytes in (in_bytes(model, batch).graph, onnx_graph(model, graph=Int8Graph()).graph):
        assert len(bytes) < 0.35 * len(onnx_graph(model).graph)


def test_int8_products_are_used_where_ranges_were_measured(batches: Any) -> None:
    """Forms are computed once and cached, so int8 products would save nothing there."""
    model = tagger(chars="lstm")
    measured, plain = in_bytes(model, batches([4, 1], seed=5)), onnx_graph(model, graph=Int8Graph())
    found = [b"DynamicQuantizeLSTM" in (graph or b"") for graph in (*measured, *plain)]
    assert found == [True, False, False, False]
