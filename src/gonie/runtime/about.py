"""The metadata of a bundle of any task: its model, scores and recipe."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gonie.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Metadata: ``model`` is a summary of the parts, and ``scores`` are the scores after training, by name.

    ``recipe`` is the resolved recipe of the training, and ``gonie`` the version that exported the bundle.
    ``layers``, for a model with contextual embeddings, describes how it mixes the layers of its language
    model at each place where it uses them: ``place``, ``shares``, ``scale`` and ``normalized``.
    """

    model: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    layers: Sequence[Mapping[str, Any]] = ()
    gonie: str = __version__

    @classmethod
    def read(cls, index: Mapping[str, Any]) -> About:
        """Read the metadata from the description of a bundle."""
        return cls(
            model=typed_value(index, "model", dict),
            scores=typed_value(index, "scores", dict),
            recipe=typed_value(index, "recipe", dict),
            layers=typed_value(index, "layers", list) if "layers" in index else (),
            gonie=typed_value(index, "gonie", str),
        )


def typed_value(index: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return the value under ``name``. Raise TypeError if it is not of the type ``kind``."""
    if not isinstance(index[name], kind):
        raise TypeError(f"{name} is {json.dumps(index[name])[:40]}, not {kind.__name__}")
    return index[name]
