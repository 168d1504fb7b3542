"""What a bundle of any task says of itself: for people, and for whoever wants to know how it was trained."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gonie.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """``model`` sums up the parts, ``scores`` is what it reached when it was trained, by name.

    ``recipe`` is the resolved recipe it was trained with, ``gonie`` the version that exported it. ``layers``,
    of a model with vectors in context, says how it mixes the layers of its language model at each place
    where it uses them: ``place``, ``shares``, ``scale`` and ``normalized``.
    """

    model: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    layers: Sequence[Mapping[str, Any]] = ()
    gonie: str = __version__

    @classmethod
    def read(cls, index: Mapping[str, Any]) -> About:
        """From a bundle's description."""
        return cls(
            model=of_kind(index, "model", dict),
            scores=of_kind(index, "scores", dict),
            recipe=of_kind(index, "recipe", dict),
            layers=of_kind(index, "layers", list) if "layers" in index else (),
            gonie=of_kind(index, "gonie", str),
        )


def of_kind(index: Mapping[str, Any], name: str, kind: type) -> Any:
    """The value under ``name``; one of a kind that nobody downstream would expect is refused."""
    if not isinstance(index[name], kind):
        raise TypeError(f"{name} is {json.dumps(index[name])[:40]}")
    return index[name]
