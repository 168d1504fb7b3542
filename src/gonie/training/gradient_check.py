"""Whether the gradients that a model is trained by are those of its loss, one block of parameters at a time.

Two comparisons. In float64, what autograd and the hand-written backward passes give against central
differences, which ask the loss alone. And in float32, in which models are trained and for which some parts
have faster code of their own, against float64.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gonie.training.finite_differences import central_differences, relative_error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Batch = Mapping[str, Tensor]
Model = TypeVar("Model", bound=nn.Module)

SMOOTH_STEP, KINKED_STEP = 1e-4, 1e-6
TOLERANCE = 1e-7
"""The largest norm of a difference between gradients, in float64; of large gradients the relative error."""
SINGLE_TOLERANCE = 1e-4
"""The largest relative error of gradients in float32."""
SINGLE_LEAST = 1e-3
"""Gradients in float32 smaller than this are taken to be so large: what cancels out leaves rounding alone."""
MOST_ENTRIES = 100
"""Entries of a block that are compared: each costs two runs of the model."""
KINKED = (nn.ReLU, nn.Hardtanh, nn.MaxPool1d, nn.AdaptiveMaxPool1d)
"""torch's own parts whose slope jumps; gonie's say so themselves (``nn.protocols``)."""


@dataclass(frozen=True)
class BlockCheck:
    """What came out for one block of parameters."""

    name: str
    shape: tuple[int, ...]
    compared: int
    """Entries whose numerical gradient was taken."""
    difference: float
    """‖a - n‖ over them: a by autograd, n by central differences."""
    relative: float
    """‖a - n‖ / (‖a‖ + ‖n‖)."""
    right: bool
    """Whether the difference is within the tolerance."""
    single: float
    """Relative error of the whole block's gradient in float32, against float64."""

    @property
    def size(self) -> int:
        """Entries of the block."""
        return prod(self.shape)

    @property
    def right_in_float32(self) -> bool:
        """Whether the gradient is the same in float32, as far as that goes."""
        return self.single <= SINGLE_TOLERANCE

    @property
    def passed(self) -> bool:
        """Whether both comparisons are fine."""
        return self.right and self.right_in_float32


def kinked_parts(model: nn.Module) -> list[str]:
    """The kinds of parts in ``model`` whose slope jumps somewhere, each once."""
    found = (
        part for part in model.modules() if getattr(part, "kinks", False) is True or isinstance(part, KINKED)
    )
    return list(dict.fromkeys(type(part).__name__ for part in found))


def step_for(model: nn.Module) -> float:
    """The ε of the differences: 1e-4, at which they are most exact; 1e-6 if there are kinks to step over."""
    return KINKED_STEP if kinked_parts(model) else SMOOTH_STEP


def check_gradients(
    model: Model,
    batch: Batch,
    loss: Callable[[Model, Batch], Tensor],
    *,
    epsilon: float | None = None,
    tolerance: float = TOLERANCE,
    seed: int = 0,
) -> Iterator[BlockCheck]:
    """Check each block that ``loss`` of ``model`` (in float32, on the CPU) on ``batch`` is to be trained in.

    The model stays as it is: copies of it are run, with dropout off and batches normalised by their own
    averages, as in training. Of a large block a sample of
    ``MOST_ENTRIES`` is compared, at least three quarters of it with a gradient other than 0, if there are so
    many. The rows of padding, which are kept at zero, are left out.
    """
    exact = _still(copy.deepcopy(model).double())
    found = _gradients(exact, batch, loss)
    single = _gradients(_still(copy.deepcopy(model).float()), batch, loss)
    step = step_for(model) if epsilon is None else epsilon
    generator = np.random.default_rng([seed, 4])
    padding = _padding(exact)

    @torch.no_grad()
    def value() -> float:
        return loss(exact, batch).item()

    for name, parameter in exact.named_parameters():
        if name not in found:
            continue
        array = parameter.detach().numpy()  # the same memory: what is changed here, the model sees
        entries = _entries(found[name], generator, padding=padding.get(name))
        ours = found[name].flat[entries]
        numerical = central_differences(value, array, epsilon=step, entries=entries.tolist())
        difference = float(np.linalg.norm(ours - numerical))
        size = float(np.linalg.norm(ours) + np.linalg.norm(numerical))
        yield BlockCheck(
            name=name,
            shape=tuple(array.shape),
            compared=len(entries),
            difference=difference,
            relative=relative_error(ours, numerical),
            right=difference <= tolerance * max(1.0, size),
            single=relative_error(single[name], found[name], least=SINGLE_LEAST),
        )


def _still(model: Model) -> Model:
    """The model with nothing left to chance; parts that learn averages of batches are as in training."""
    model.eval()
    for part in model.modules():
        if getattr(part, "moves", ()):
            part.train()
    return model


def _gradients(model: Model, batch: Batch, loss: Callable[[Model, Batch], Tensor]) -> dict[str, Floats]:
    """The gradient of every parameter that is trained, as float64; 0 where the loss does not reach."""
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    given = torch.autograd.grad(loss(model, batch), list(trained.values()), materialize_grads=True)
    return {name: gradient.double().numpy() for name, gradient in zip(trained, given, strict=True)}


def _padding(model: nn.Module) -> dict[str, int]:
    """The row of each table that is kept at zero, by the table's name."""
    return {
        f"{name}.weight": part.padding_idx
        for name, part in model.named_modules()
        if isinstance(part, nn.Embedding) and part.padding_idx is not None
    }


def _entries(gradient: Floats, generator: np.random.Generator, *, padding: int | None) -> Ints:
    """Which places of a flattened block are compared, in order."""
    open_ = np.ones(gradient.shape, dtype=bool)
    if padding is not None:
        open_[padding] = False
    places = np.flatnonzero(open_)
    if len(places) <= MOST_ENTRIES:
        return places
    drawn = generator.permutation(places)
    reached = gradient.flat[drawn] != 0.0
    still = drawn[~reached]
    first = drawn[reached][: MOST_ENTRIES - min(len(still), MOST_ENTRIES // 4)]
    return np.sort(np.concatenate([first, still[: MOST_ENTRIES - len(first)]]))
