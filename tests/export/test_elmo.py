"""Tests exported models with ELMo: the scores equal torch's and do not depend on the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from gonie.errors import GonieError
from gonie.export.graph import Graph
from gonie.features.byte_spelling import begin_row, end_row, spell_bytes
from gonie.nn import (
    LSTM,
    AdditiveAttention,
    Bidirectional,
    Scores,
    SoftmaxHead,
    Stack,
    TextScores,
    TextSoftmaxHead,
    WordEmbedding,
)
from gonie.nn.encoders.bypass import Bypass
from gonie.runtime.session import OnnxScorer
from gonie.tasks.classification.torch.graph import text_graph
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level
from gonie.tasks.tagging.torch.graph import onnx_graph
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer, TorchTextScorer

TAGS, WORDS, LONGEST, WIDTH = 5, 12, 9, 12
KINDS: dict[str, dict[str, Any]] = {
    "as in the paper": {},
    "three layers, no skip": {"layers": 3, "skip": False},
    "one layer": {"layers": 1},
    "bounded, as imported": {"clip": 0.3},
    "normalised": {"mixes": (True,)},
    "at both ends": {"mixes": (False, True)},
}


def drawn(model: nn.Module) -> Any:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0.0, 0.6, generator=generator)
    return model


def tagger(elmo: Any) -> TaggingNetwork:
    """Return a tagger over words and the first mix. A second mix bypasses the encoder."""
    passed = elmo.width - WIDTH
    encoder: Any = Bidirectional(ahead=LSTM(width=6 + WIDTH, hidden=4), back=LSTM(width=6 + WIDTH, hidden=4))
    encoder = Bypass(encoder=encoder, passed=passed) if passed else encoder
    model = TaggingNetwork(
        embedding=Stack([WordEmbedding(size=WORDS, width=6), elmo]),
        encoder=encoder,
        heads={"tags": SoftmaxHead(scores=Scores(width=encoder.width, num_tags=TAGS, direct={}))},
        word_dropout=nn.Dropout(0.3),
        input_dropout=nn.Dropout(0.5),
        output_dropout=nn.Dropout(0.5),
    )
    return drawn(model)  # type: ignore[no-any-return]


Pair = tuple[TorchScorer, OnnxScorer]


@pytest.fixture(params=KINDS)
def pair(request: pytest.FixtureRequest, elmo: Callable[..., Any]) -> Pair:
    model = tagger(elmo(**KINDS[request.param]))
    return TorchScorer(model), OnnxScorer(*onnx_graph(model, graph=Graph(longest=LONGEST)), threads=1)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5), seed=st.integers(0, 10_000))
def test_onnx_equals_torch_on_ragged_batches(pair: Pair, batches: Any, lengths: list[int], seed: int) -> None:
    model, exported = pair
    batch = batches(lengths, seed=seed)
    wanted, got = model.scores(batch), exported.scores(batch)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got[batch["mask"]], wanted[batch["mask"]], atol=5e-5)


def test_scores_do_not_depend_on_the_batch_or_padding(pair: Pair, batches: Any, alone: Any) -> None:
    """The backward direction of a short sentence must start at its own end, not in the padding."""
    _, exported = pair
    batch = batches([4, 1, 7, 3], seed=3)
    together = exported.scores(batch)
    for row, n in enumerate(batch["lengths"]):
        np.testing.assert_allclose(exported.scores(alone(batch, row))[0], together[row, :n], atol=1e-5)


@pytest.fixture
def plain(elmo: Any) -> Pair:
    model = tagger(elmo())
    return TorchScorer(model), OnnxScorer(*onnx_graph(model, graph=Graph(longest=LONGEST)), threads=1)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=8))
def test_onnx_equals_torch_on_any_unicode(words: Sequence[str], plain: Pair) -> None:
    """This includes words of one byte, and long words that are cut within a character."""
    torch_scorer, exported = plain
    marks = [begin_row(LONGEST), end_row(LONGEST)]
    T = len(words)
    batch = {
        "lengths": np.array([T]),
        "mask": np.ones((1, T), dtype=bool),
        "words": np.ones((1, T), dtype=np.int64),
        "forms": np.arange(T)[None],
        "bytes": np.concatenate([marks, spell_bytes(words, longest=LONGEST)]).astype(np.int64),
    }
    np.testing.assert_allclose(exported.scores(batch), torch_scorer.scores(batch), atol=5e-5)


def test_the_graph_has_only_the_inputs_that_the_model_reads(elmo: Any) -> None:
    inputs = OnnxScorer(*onnx_graph(tagger(elmo()), graph=Graph(longest=LONGEST))).inputs
    assert set(inputs) == {"words", "bytes", "forms", "lengths"}


def test_a_classifier_with_elmo_equals_torch(elmo: Any, texts: Any) -> None:
    def level(width: int) -> Level:
        return Level(encoder=LSTM(width=width, hidden=4), pooling=AdditiveAttention(width=4, hidden=3))

    model = ClassifyingNetwork(
        embedding=Stack([WordEmbedding(size=WORDS, width=6), elmo()]),
        words=level(6 + WIDTH),
        sentences=level(4),
        heads={LABEL: TextSoftmaxHead(scores=TextScores(width=4, num_labels=3, direct={}))},
        word_dropout=nn.Identity(),
        dropout=nn.Dropout(0.5),
    )
    drawn(model)
    batch = texts([[4, 1, 7], [2], [3, 3, 1, 5, 2]], seed=5)
    exported = OnnxScorer(*text_graph(model, graph=Graph(longest=LONGEST)), threads=1)
    for got, wanted in zip(
        exported.score_texts(batch), TorchTextScorer(model).score_texts(batch), strict=True
    ):
        np.testing.assert_allclose(got, wanted, atol=2e-5)


def test_an_encoding_without_bytes_is_refused(elmo: Any) -> None:
    with pytest.raises(GonieError, match="the encoding does not spell words"):
        onnx_graph(tagger(elmo()))
