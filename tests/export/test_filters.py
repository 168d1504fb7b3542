"""Filters over letters as one product: what a convolution finds, at the place where it finds most."""

from __future__ import annotations

import numpy as np
import onnxruntime
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.export.filters import largest
from gonie.export.graph import Graph, GraphOutput

LETTERS, WIDTH, FILTERS = 11, 3, 4


@settings(deadline=None, max_examples=25)
@given(
    words=st.integers(1, 5), places=st.integers(1, 6), kernel=st.integers(1, 4), seed=st.integers(0, 2**16)
)
def test_it_is_the_maximum_of_a_convolution(words: int, places: int, kernel: int, seed: int) -> None:
    torch.manual_seed(seed)
    vectors, weight, bias = (
        torch.randn(LETTERS, WIDTH),
        torch.randn(FILTERS, WIDTH, kernel),
        torch.randn(FILTERS),
    )
    letters = torch.randint(0, LETTERS, (words, places + kernel - 1))
    graph = Graph()
    seen = graph.weight(np.arange(places)[:, None] + np.arange(kernel))
    windows = graph.add("Gather", graph.input("chars"), seen, axis=1)
    found = largest(graph, windows, graph.weight(vectors), weight, bias, constant=Graph.weight)
    model = graph.serialize("filters", {"found": GraphOutput(found, ("U", FILTERS))})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (got,) = session.run(["found"], {"chars": letters.numpy()})
    wanted = torch.conv1d(vectors[letters].transpose(1, 2), weight, bias).amax(2)
    np.testing.assert_allclose(got, wanted.numpy(), atol=1e-5)
