"""Which words of a sentence may change: all, those inside of entities, or those outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gonie.text.schemes import OUTSIDE, Scheme

Where = Literal["all", "inside", "outside"]


def changeable(tags: Sequence[str], where: Where, scheme: Scheme) -> NDArray[np.bool_]:
    """Return whether each word may change (T,). Plain tags have no entities, so all of their words may."""
    if where == "all" or not scheme.has_spans:
        return np.ones(len(tags), bool)
    outside = np.array([tag == OUTSIDE for tag in tags], bool)
    return outside if where == "outside" else ~outside
