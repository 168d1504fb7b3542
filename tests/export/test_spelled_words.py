"""Words from their bytes: the graph gives torch's vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonie.export.graph import Graph, GraphOutput
from gonie.export.spelled_words import spelled_words
from gonie.features.byte_spelling import spell_bytes


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.binary(min_size=1, max_size=12), min_size=1, max_size=9))
def test_onnx_spells_as_torch_does(words: list[bytes], elmo: Any) -> None:
    """Empty windows, whole rows and rows cut short: each filter's maximum is over the same places."""
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
