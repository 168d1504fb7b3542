"""Measuring the ranges of inputs and states of recurrent layers, for quantisation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from torch import Tensor, nn

from gonie.nn.bilm import ProjectedLSTM
from gonie.nn.encoders import LSTM, Bidirectional, PeepholeLSTM

MEASURED = (ProjectedLSTM, LSTM, PeepholeLSTM, Bidirectional)


class Range(NamedTuple):
    """The largest absolute input and output value of a layer."""

    input: float = 0.0
    state: float = 0.0

    def with_largest(self, x: Tensor, y: Tensor) -> Range:
        """Return a range that also covers these values."""
        return Range(max(self.input, float(x.abs().max())), max(self.state, float(y.abs().max())))


Ranges = Mapping[nn.Module, Range]


def measure_ranges(model: nn.Module, score: Callable[[Any], object], batches: Iterable[Any]) -> Ranges:
    """Measure every recurrent layer in ``model`` while ``score`` runs it on the batches."""
    layers: list[nn.Module] = [part for part in model.modules() if isinstance(part, MEASURED)]
    found = dict.fromkeys(layers, Range())

    def watch(layer: nn.Module, given: tuple[Any, ...], result: Any) -> None:
        states = result[0] if isinstance(result, tuple) else result  # some also return the state they carry
        found[layer] = found[layer].with_largest(given[0], states)

    hooks = [layer.register_forward_hook(watch) for layer in layers]
    try:
        for batch in batches:
            score(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return found
