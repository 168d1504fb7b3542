"""How large the numbers are that recurrent layers multiply, measured while a model reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from torch import Tensor, nn

from gonie.nn.bilm import ProjectedLSTM
from gonie.nn.encoders import LSTM, Bidirectional, PeepholeLSTM

MEASURED = (ProjectedLSTM, LSTM, PeepholeLSTM, Bidirectional)


class Range(NamedTuple):
    """The largest number, without its sign, that a layer was given and that it gave."""

    input: float = 0.0
    state: float = 0.0

    def with_largest(self, x: Tensor, y: Tensor) -> Range:
        """One that has these numbers in it too."""
        return Range(max(self.input, float(x.abs().max())), max(self.state, float(y.abs().max())))


Ranges = Mapping[nn.Module, Range]


def measure_ranges(model: nn.Module, score: Callable[[Any], object], batches: Iterable[Any]) -> Ranges:
    """Of every recurrent layer in ``model``, while ``score`` has it read the batches."""
    layers: list[nn.Module] = [part for part in model.modules() if isinstance(part, MEASURED)]
    found = dict.fromkeys(layers, Range())

    def watch(layer: nn.Module, given: tuple[Any, ...], result: Any) -> None:
        states = result[0] if isinstance(result, tuple) else result  # some give what they carry, too
        found[layer] = found[layer].with_largest(given[0], states)

    hooks = [layer.register_forward_hook(watch) for layer in layers]
    try:
        for batch in batches:
            score(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return found
