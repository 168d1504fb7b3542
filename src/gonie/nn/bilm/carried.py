"""What the two directions of a language model hand on from one stretch of text to the next."""

from __future__ import annotations

from typing import NamedTuple

from gonie.nn.bilm.projected_lstm import Carried


class CarriedBoth(NamedTuple):
    """What the two directions carry on, layer by layer."""

    ahead: list[Carried]
    back: list[Carried]

    def detached(self) -> CarriedBoth:
        """The same numbers, through which no gradient flows: back-propagation ends with the stretch."""
        return CarriedBoth(*([(h.detach(), c.detach()) for h, c in layers] for layers in self))
