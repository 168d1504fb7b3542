"""States that both directions of a language model carry from one stretch of text to the next."""

from __future__ import annotations

from typing import NamedTuple

from gonie.nn.bilm.projected_lstm import Carried


class CarriedBoth(NamedTuple):
    """The carried states of both directions, by layer."""

    ahead: list[Carried]
    back: list[Carried]

    def detached(self) -> CarriedBoth:
        """Return the same states without gradient, which truncates back-propagation."""
        return CarriedBoth(*([(h.detach(), c.detach()) for h, c in layers] for layers in self))
