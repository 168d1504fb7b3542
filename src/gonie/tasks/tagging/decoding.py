"""Decoding settings of a tagger: the most probable sequence or tags, and a bias for each type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.text.schemes import Scheme

By = Literal["viterbi", "posterior"]
EVERY = "*"
"""Stands for every type that has no bias of its own."""


@dataclass(frozen=True)
class Decoding:
    """How tags are chosen. What a tagger says of its certainty does not depend on it.

    ``by`` is ``viterbi`` for the most probable sequence, or ``posterior`` for that with the most tags
    expected to be right; both keep to what the tag scheme allows.

    ``bias`` trades precision for recall, by type or for ``*``, all others: it is added to the score of each
    entity of the type (of each token, if tags are plain). So at +1 an entity is worth e times its odds, and
    more are found; at -1 only surer ones are left. The outside tag has no bias.
    """

    by: By = "viterbi"
    bias: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.by not in get_args(By):
            raise InputError(f"expected to decode by {' or '.join(get_args(By))}, got {self.by!r}")
        for label, value in self.bias.items():
            if not isfinite(value):
                raise InputError(f"expected a finite bias for {label}, got {value!s}")

    def tilt(self, labels: Sequence[str], scheme: Scheme) -> NDArray[np.float32]:
        """What is added to the scores of each tag. Shape: (K,)."""
        types = [_type_begun(label, scheme) for label in labels]
        known = {label for label in types if label is not None}
        for label in self.bias:
            if label not in known | {EVERY}:
                raise InputError(
                    f"expected a bias for a type that the model knows: {', '.join(sorted(known))}, or *, "
                    f"got {label!r}"
                )
        every = self.bias.get(EVERY, 0.0)
        return np.array([0.0 if t is None else self.bias.get(t, every) for t in types], np.float32)


def _type_begun(tag: str, scheme: Scheme) -> str | None:
    """The type whose entity begins with ``tag``, or the plain tag itself; none for other tags."""
    if not scheme.has_spans:
        return tag
    marker, label = scheme.split(tag) or ("O", None)
    begins = marker in ("B", "S") or scheme.kind == "IO"  # there each token is weighed for itself
    return label if begins and marker != "O" else None


def parse_biases(given: Sequence[str]) -> dict[str, float]:
    """Biases by type from what is typed: ``NUMBER`` for every type, or ``TYPE=NUMBER``."""
    return dict(map(_parse_bias, given))


def _parse_bias(text: str) -> tuple[str, float]:
    label, equals, number = text.rpartition("=")
    try:
        return label if equals else EVERY, float(number)
    except ValueError as error:
        raise InputError(f"expected --bias NUMBER or --bias TYPE=NUMBER, got {text!r}") from error
