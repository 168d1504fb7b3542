"""Compares exported word vectors from bytes with torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonie.export.graph import Graph, GraphOutput
from gonie.export.spelled_words import max_over_windows, spelled_words
from gonie.features.byte_spelling import spell_bytes

BYTES, WIDTH, FILTERS = 11, 3, 4


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.binary(min_size=1, max_size=12), min_size=1, max_size=9))
def test_exported_vectors_equal_those_of_torch(words: list[bytes], elmo: Any) -> None:
    """Rows may be full or cut. The maximum of each filter must be over the same positions."""
    torch.manual_seed(0)
    part = elmo().bilm.words.eval()
    graph = Graph(longest=9)
    value = spelled_words(graph, part, graph.input("bytes"))
    model = graph.serialize("words", {"vectors": GraphOutput(value, ("U", part.width))})
    chars = spell_bytes(words, longest=9).astype(np.int64)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (got,) = session.run(["vectors"], {"bytes": chars})
    with torch.no_grad():
        wanted = part(torch.from_numpy(chars)).numpy()
    np.testing.assert_allclose(got, wanted, atol=1e-5)


@settings(deadline=None, max_examples=25)
@given(
    words=st.integers(1, 5), places=st.integers(1, 6), kernel=st.integers(1, 4), seed=st.integers(0, 2**16)
)
def test_max_over_windows_is_the_maximum_of_a_convolution(
    words: int, places: int, kernel: int, seed: int
) -> None:
    torch.manual_seed(seed)
    vectors, weight, bias = (
        torch.randn(BYTES, WIDTH),
        torch.randn(FILTERS, WIDTH, kernel),
        torch.randn(FILTERS),
    )
    bytes = torch.randint(0, BYTES, (words, places + kernel - 1))
    graph = Graph()
    seen = graph.weight(np.arange(places)[:, None] + np.arange(kernel))
    windows = graph.add("Gather", graph.input("chars"), seen, axis=1)
    found = max_over_windows(graph, windows, graph.weight(vectors), weight, bias)
    model = graph.serialize("filters", {"found": GraphOutput(found, ("U", FILTERS))})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (got,) = session.run(["found"], {"chars": bytes.numpy()})
    wanted = torch.conv1d(vectors[bytes].transpose(1, 2), weight, bias).amax(2)
    np.testing.assert_allclose(got, wanted.numpy(), atol=1e-5)
