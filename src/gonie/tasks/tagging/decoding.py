"""Decoding settings of a tagger: Viterbi or posterior decoding, and a bias for each type."""

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
"""The key of the bias for all types without their own."""


@dataclass(frozen=True)
class Decoding:
    """Decoding settings. Probabilities do not depend on them, and they do not depend on the temperature.

    ``by`` is ``viterbi`` for the most probable sequence, or ``posterior`` for the sequence with the largest
    expected number of correct tags. Both allow only valid sequences of the tag scheme.

    ``bias`` trades precision for recall, by type, or with ``*`` for all other types. It is added to the score
    of each entity of the type (of each token, if tags are plain). At +1 the odds of an entity are multiplied
    by e, so more are found. At -1 only more certain ones remain. The outside tag has no bias.
    """

    by: By = "viterbi"
    bias: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.by not in get_args(By):
            raise InputError(f"unknown decoding: {self.by!r}", fix=f"Use {' or '.join(get_args(By))}")
        for label, value in self.bias.items():
            if not isfinite(value):
                raise InputError(f"bias of {label} must be finite: {value!s}")

    def tag_biases(self, labels: Sequence[str], scheme: Scheme) -> NDArray[np.float32]:
        """Return the bias of each tag, to add to its scores. Shape: (K,)."""
        types = [_starting_type(label, scheme) for label in labels]
        known = {label for label in types if label is not None}
        for label in self.bias:
            if label not in known | {EVERY}:
                raise InputError(
                    f"bias for an unknown type: {label!r}", fix=f"Use one of {', '.join(sorted(known))}, or *"
                )
        every = self.bias.get(EVERY, 0.0)
        return np.array([0.0 if t is None else self.bias.get(t, every) for t in types], np.float32)


def _starting_type(tag: str, scheme: Scheme) -> str | None:
    """Return the type of an entity that starts with ``tag``, or the plain tag itself. None for other tags."""
    if not scheme.has_spans:
        return tag
    marker, label = scheme.split(tag) or ("O", None)
    begins = marker in ("B", "S") or scheme.kind == "IO"  # in IO, each token has the bias
    return label if begins and marker != "O" else None


def parse_biases(given: Sequence[str]) -> dict[str, float]:
    """Parse biases of the command line: ``NUMBER`` for every type, or ``TYPE=NUMBER``."""
    return dict(map(_parse_bias, given))


def _parse_bias(text: str) -> tuple[str, float]:
    label, equals, number = text.rpartition("=")
    try:
        return label if equals else EVERY, float(number)
    except ValueError as error:
        raise InputError(f"invalid --bias: {text}", fix="Use NUMBER or TYPE=NUMBER") from error
