"""Tests exported models with external vectors: the scores equal torch's and do not depend on the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from gonie.export.graph import Graph
from gonie.nn import (
    LSTM,
    Bidirectional,
    ExternalEmbedding,
    NoEncoder,
    Scores,
    SoftmaxHead,
    Stack,
    WordEmbedding,
)
from gonie.nn.encoders.bypass import Bypass
from gonie.runtime.session import OnnxScorer
from gonie.tasks.tagging.torch.graph import onnx_graph
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer

TAGS, WORDS, GIVEN = 4, 12, 6
KINDS: dict[str, dict[str, Any]] = {
    "as given": {},
    "normalised": {"normalize": True},
    "projected": {"projection": 3},
    "at both ends": {"places": ("input", "output"), "projection": 3, "normalize": True},
    "alone": {"words": False},
    "alone, projected": {"words": False, "projection": 3},
}

Pair = tuple[TorchScorer, OnnxScorer]


def tagger(*, words: bool = True, **changes: Any) -> TaggingNetwork:
    """Return a tagger over words and external vectors, or over the vectors alone, without an encoder."""
    plain = {"given": GIVEN, "places": ("input",), "projection": 0, "normalize": False, "dropout": 0.3}
    external = ExternalEmbedding(**{**plain, **changes})
    encoder: Any = NoEncoder(width=external.width)
    if words:
        width, passed = 5 + external.place_width, external.width - external.place_width
        encoder = Bidirectional(ahead=LSTM(width=width, hidden=4), back=LSTM(width=width, hidden=4))
        encoder = Bypass(encoder=encoder, passed=passed) if passed else encoder
    model = TaggingNetwork(
        embedding=Stack([WordEmbedding(size=WORDS, width=5), external]) if words else external,
        encoder=encoder,
        heads={"tags": SoftmaxHead(scores=Scores(width=encoder.width, num_tags=TAGS, direct={}))},
        word_dropout=nn.Dropout(0.3),
        input_dropout=nn.Dropout(0.5),
        output_dropout=nn.Dropout(0.5),
    )
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0.0, 0.6, generator=generator)
    return model


def scorers(kind: str) -> Pair:
    model = tagger(**KINDS[kind])
    return TorchScorer(model), OnnxScorer(*onnx_graph(model, graph=Graph()), threads=1)


PAIRS = {kind: scorers(kind) for kind in KINDS}


def with_vectors(batch: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return a batch with vectors, one of them zeros."""
    vectors = np.random.default_rng(seed).normal(size=(*batch["mask"].shape, GIVEN)).astype(np.float32)
    vectors[0, 0] = 0
    return {**batch, "external": vectors * batch["mask"][:, :, None]}


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5), seed=st.integers(0, 10_000))
def test_onnx_equals_torch_on_ragged_batches(kind: str, batches: Any, lengths: list[int], seed: int) -> None:
    model, exported = PAIRS[kind]
    batch = with_vectors(batches(lengths, seed=seed), seed)
    wanted, got = model.scores(batch), exported.scores(batch)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got[batch["mask"]], wanted[batch["mask"]], atol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_do_not_depend_on_the_batch_or_padding(kind: str, batches: Any, alone: Any) -> None:
    _, exported = PAIRS[kind]
    batch = with_vectors(batches([4, 1, 7, 3], seed=3), 3)
    together = exported.scores(batch)
    for row, n in enumerate(batch["lengths"]):
        single = {**alone(batch, row), "external": batch["external"][row : row + 1, :n]}
        np.testing.assert_allclose(exported.scores(single)[0], together[row, :n], atol=1e-5)


def test_the_vectors_are_an_input_of_the_graph() -> None:
    assert set(PAIRS["as given"][1].inputs) == {"words", "external", "lengths"}
    assert set(PAIRS["alone"][1].inputs) == {"external"}
