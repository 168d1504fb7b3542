"""How uncertain an ensemble is of an answer, as a value."""

from __future__ import annotations

from typing import NamedTuple


class Entropies(NamedTuple):
    """The total uncertainty, and that of the data, in nats (``gonie.metrics.entropies``)."""

    total: float
    data: float

    @property
    def mutual_information(self) -> float:
        """The uncertainty about the model."""
        return max(0.0, self.total - self.data)

    def to_json(self) -> dict[str, float]:
        """Return all three in nats."""
        return {
            "total_entropy": self.total,
            "data_entropy": self.data,
            "mutual_information": self.mutual_information,
        }
