"""The graph of scores by distances equals torch, for tags with and without support."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from gonie.export.graph import Graph, GraphOutput
from gonie.export.int8_graph import Int8Graph
from gonie.export.support_scores import support_scores
from gonie.nn.heads import Cosine, Euclidean, Mahalanobis, NearestScores, PrototypeScores

WIDTH, TAGS = 5, 4


@pytest.mark.parametrize("graph", [Graph, Int8Graph])
@pytest.mark.parametrize("space", [Cosine, Euclidean, lambda: Mahalanobis(width=WIDTH)])
@pytest.mark.parametrize("kind", [PrototypeScores, NearestScores])
def test_onnx_equals_torch(kind: Any, space: Any, graph: type[Graph]) -> None:
    torch.manual_seed(1)
    part = kind(width=WIDTH, num_tags=TAGS, space=space())
    tags = torch.tensor([0, 2, 3])[torch.randint(0, 3, (30,))]  # the tag 1 has no support
    part.fit(torch.randn(30, WIDTH), tags, torch.arange(30) // 3)
    states = torch.randn(1, 6, WIDTH)
    states[0, 2] = 0.0  # padding, which has no direction
    made = graph()
    scores = support_scores(made, part, made.weight(states))
    model = made.serialize("test", {"scores": GraphOutput(scores, (1, 6, TAGS))})
    (got,) = onnxruntime.InferenceSession(model).run(None, {})
    np.testing.assert_allclose(got, part(states).numpy(), atol=1e-4, rtol=1e-5)
