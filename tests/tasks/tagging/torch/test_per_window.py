"""Updates per window: taggers that do not support them are refused before training."""

from __future__ import annotations

from typing import Any

import pytest

from gonie.errors import GonieError
from gonie.features.encoding import Encoding
from gonie.tasks.tagging.recipe import TaggerConfig as ModelConfig
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.tagging.torch.per_window import per_window

WINDOW = {
    "words": {"width": 4},
    "encoder": {"kind": "window", "hidden": 3, "window": 3},
    "head": {"kind": "softmax"},
    "dropout": {"input": 0.0, "output": 0.0},
}


def test_a_window_network_is_supported(encoding: Encoding) -> None:
    per_window(build_tagger(ModelConfig.model_validate(WINDOW), encoding))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dropout": {"input": 0.5, "output": 0.0}}, "does not support dropout"),
        ({"dropout": {"kind": "plain", "input": 0.0, "output": 0.2}}, "does not support dropout"),
        ({"dropout": {"input": 0.0, "output": 0.0, "word": 0.1}}, "does not support dropout"),
        ({"encoder": {"kind": "lstm", "hidden": 3}}, "the encoder must be Window"),
        ({"head": {"kind": "crf"}}, "the head must be SigmoidHead"),
        ({"chars": {"width": 3, "hidden": 3}}, "embeddings must be WordEmbedding"),
    ],
)
def test_other_networks_are_refused(change: dict[str, Any], message: str, encoding: Encoding) -> None:
    model = build_tagger(ModelConfig.model_validate({**WINDOW, **change}), encoding)
    with pytest.raises(GonieError, match=message):
        per_window(model)
