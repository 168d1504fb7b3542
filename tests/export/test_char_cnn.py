"""Compares the table lookups of exported character filters with the convolution of the model."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.export import char_cnn as module
from gonie.export.char_cnn import char_filters
from gonie.export.graph import Graph, GraphOutput
from gonie.export.int8_graph import Int8Graph
from gonie.nn import CharCNN

CHARACTERS, FILTERS = 11, 4


def computed(graph: Graph, part: CharCNN, chars: np.ndarray) -> np.ndarray:
    weight, bias = part.convolution.parameters()
    found = char_filters(graph, part.characters.weight, weight, bias, part.margins)
    model = graph.serialize("filters", {"found": GraphOutput(found, ("U", FILTERS))})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(["found"], {"chars": chars})[0])


@settings(deadline=None, max_examples=40)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    room=st.integers(0, 3),
    kernel=st.integers(1, 5),
    seed=st.integers(0, 2**16),
)
def test_exported_filters_equal_the_model(lengths: list[int], room: int, kernel: int, seed: int) -> None:
    """This holds for words of any length, with any padding, and if all values of a filter are negative."""
    torch.manual_seed(seed)
    part = CharCNN(size=CHARACTERS, width=3, filters=FILTERS, kernel=kernel, dropout=0.0).eval()
    with torch.no_grad():
        part.convolution.bias.normal_()  # type: ignore[union-attr]
    sizes = torch.tensor(lengths)
    real = torch.arange(max(lengths) + room) < sizes[:, None]
    chars = torch.randint(1, CHARACTERS, real.shape).where(real, torch.tensor(0))
    with torch.no_grad():
        wanted = part.spell(chars, sizes).numpy()
    np.testing.assert_allclose(computed(Graph(), part, chars.numpy()), wanted, atol=1e-5)


def test_large_alphabets_are_stored_like_other_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """In float32, thousands of syllables would take most of an int8 bundle. Padding must stay excluded."""
    torch.manual_seed(0)
    part = CharCNN(size=5000, width=3, filters=FILTERS, kernel=3, dropout=0.0).eval()
    chars = np.array([[3, 4, 4000, 0, 0], [7, 0, 0, 0, 0], [5, 6, 4999, 4998, 2]])
    exact = computed(Graph(), part, chars)
    monkeypatch.setattr(module, "SMALL", 100)
    found = computed(Int8Graph(), part, chars)
    assert 0 < np.abs(found - exact).max() < 0.05
