"""Compares Viterbi in a graph with the numpy decoder, which is tested against enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto

from gonie.export.graph import Graph, GraphOutput
from gonie.export.viterbi import viterbi
from gonie.runtime.decoder import Decoder


def decoded(decoder: Decoder, scores: NDArray[np.float32], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Return the tags from a graph that has only Viterbi."""
    chain = decoder.chain
    graph = Graph()
    tags = viterbi(graph, graph.weight(scores), (chain.transitions, chain.start, chain.end))
    model = graph.serialize("viterbi", {"tags": GraphOutput(tags, ("B", "T"), TensorProto.INT64)})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (found,) = session.run(["tags"], {"lengths": lengths})
    return np.asarray(found)


@settings(deadline=None, max_examples=40)
@given(
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 7), st.integers(1, 5)),
    seed=st.integers(0, 10_000),
    bound=st.booleans(),
)
def test_tags_equal_those_of_the_decoder(sizes: tuple[int, int, int], seed: int, bound: bool) -> None:
    B, T, K = sizes
    random = np.random.default_rng(seed)
    allowed = None
    if bound:  # tag 0 is always allowed, so that there is a path
        allowed = tuple(random.random(shape) < 0.6 for shape in ((K, K), (K,), (K,)))
        allowed[0][:, 0], allowed[0][0, :], allowed[1][0], allowed[2][0] = True, True, True, True
    parts = [random.normal(0, 2, shape).astype(np.float32) for shape in ((K, K), (K,), (K,))]
    decoder = Decoder(transitions=parts[0], start=parts[1], end=parts[2], allowed=allowed)
    scores = random.normal(0, 3, (B, T, K)).astype(np.float32)
    lengths = random.integers(1, T + 1, B)
    np.testing.assert_array_equal(decoded(decoder, scores, lengths), decoder.viterbi(scores, lengths)[0])


def test_long_sentences_are_decoded_exactly() -> None:
    """Over 3,000 tokens, sums of scores near 50 are too large for float32 to keep small differences."""
    random = np.random.default_rng(0)
    decoder = Decoder(transitions=random.normal(0, 1, (3, 3)), start=np.zeros(3), end=np.zeros(3))
    scores = (50 + random.normal(0, 1, (1, 3000, 3))).astype(np.float32)
    lengths = np.array([3000])
    np.testing.assert_array_equal(decoded(decoder, scores, lengths), decoder.viterbi(scores, lengths)[0])


@pytest.mark.parametrize("length", [1, 2])
def test_a_sentence_ends_with_an_allowed_tag(length: int) -> None:
    """The best tag of the last token is not allowed at the end, whatever the padding contains."""
    allowed = (np.ones((2, 2), bool), np.ones(2, bool), np.array([True, False]))
    decoder = Decoder(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2), allowed=allowed)
    scores = np.array([[[0.0, 5.0], [0.0, 5.0], [0.0, 99.0]]], dtype=np.float32)
    found = decoded(decoder, scores, np.array([length]))
    assert found.tolist() == [[1] * (length - 1) + [0] + [-1] * (3 - length)]
