"""Weights as bytes: nearly the model's scores, a fraction of its size, and never by a sentence's company."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gonie.export.byte_graph import ByteGraph, SentenceByteGraph
from gonie.export.graph import Graph
from gonie.export.onnx_graph import onnx_graph
from gonie.models.scorer import TorchScorer
from gonie.models.tagger import Tagger
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
from gonie.runtime.session import OnnxScorer

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


def tagger(encoder: str = "lstm", chars: str = "cnn") -> Tagger:
    torch.manual_seed(0)
    embedding = Stack([WordEmbedding(size=2000, width=32), CHARS[chars]()])
    part = ENCODERS[encoder](40)
    return Tagger(
        embedding=embedding,
        encoder=part,
        heads={"tags": SoftmaxHead(scores=Scores(width=part.width, num_tags=5, direct={}))},
        word_dropout=nn.Identity(),
        input_dropout=nn.Identity(),
        output_dropout=nn.Identity(),
    )


@pytest.mark.parametrize("chars", CHARS)
@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("kind", [ByteGraph, SentenceByteGraph])
def test_scores_are_nearly_the_models(kind: type[Graph], encoder: str, chars: str, batches: Any) -> None:
    model = tagger(encoder, chars)
    batch = batches([4, 1, 7, 3], seed=2)
    wanted = TorchScorer(model).scores(batch)[batch["mask"]]
    got = OnnxScorer(*onnx_graph(model, graph=kind())).scores(batch)[batch["mask"]]
    assert 0 < np.abs(got - wanted).max() < 0.1 * wanted.std()


@pytest.mark.parametrize("kind", [ByteGraph, SentenceByteGraph])
def test_company_never_changes_a_score(kind: type[Graph], batches: Any, alone: Any) -> None:
    """A scale of the whole batch would: the sentences of 64 of 64 changed by up to 0.04 when it was so."""
    scorer = OnnxScorer(*onnx_graph(tagger(), graph=kind()))
    batch = batches([4, 1, 7, 3], seed=3)
    together = scorer.scores(batch)
    assert together.shape == (4, 7, 5)
    for row, n in enumerate(batch["lengths"]):
        np.testing.assert_allclose(scorer.scores(alone(batch, row))[0], together[row, :n], atol=1e-6)


def test_it_is_a_quarter_of_the_size() -> None:
    model = tagger()
    floats, *bytes = (
        len(onnx_graph(model, graph=kind()).graph) for kind in (Graph, ByteGraph, SentenceByteGraph)
    )
    assert max(bytes) < 0.35 * floats


def test_forms_are_computed_together_and_so_in_floats() -> None:
    graphs = onnx_graph(tagger(chars="lstm"), graph=SentenceByteGraph())
    assert graphs.alone
    assert graphs.forms is not None
    assert b"DynamicQuantizeLSTM" in graphs.graph
    assert b"DynamicQuantizeLSTM" not in graphs.forms
