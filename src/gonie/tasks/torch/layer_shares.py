"""What a model has learned about the layers of its language model, for whoever exports it to tell."""

from __future__ import annotations

from typing import Any

from torch import nn

from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.tasks.sections import ElmoConfig
from gonie.tasks.torch.parts import find_elmo

PLACES = {"input": ("input",), "output": ("output",), "both": ("input", "output")}
"""Where each mix is used, in their order, by the recipe's ``at``."""


def layer_shares(model: nn.Module, config: ElmoConfig | None) -> list[dict[str, Any]]:
    """How each place mixes the layers, as ``gonie.runtime.about`` has it; nothing where there are none."""
    elmo = find_elmo(model)
    if elmo is None or config is None:
        return []
    mixes = [mix for mix in elmo.mixes if isinstance(mix, ScalarMix)]
    return [
        {
            "place": place,
            "shares": mix.shares().tolist(),
            "scale": mix.scale.item(),
            "normalized": mix.normalize,
        }
        for place, mix in zip(PLACES[config.at], mixes, strict=True)
    ]
