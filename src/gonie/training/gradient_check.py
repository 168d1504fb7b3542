"""Verifying the gradients of a model against its loss, one block of parameters at a time.

There are two comparisons. In float64, the gradients of autograd and of hand-written backward passes are
compared with central differences, which use only the loss. The float32 gradients are then compared with the
float64 ones, because models train in float32 and some parts have faster code for it.
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

from gonie.nn.protocols import MovesBuffers
from gonie.training.finite_differences import central_differences, relative_error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Batch = Mapping[str, Tensor]
Model = TypeVar("Model", bound=nn.Module)

SMOOTH_STEP, KINKED_STEP = 1e-4, 1e-6
TOLERANCE = 1e-7
"""The tolerance in float64: norm of the difference, or relative error for large gradients."""
SINGLE_TOLERANCE = 1e-4
"""The largest relative error of gradients in float32."""
SINGLE_LEAST = 1e-3
"""The smallest denominator of that error. Smaller float32 gradients are mostly rounding."""
MOST_ENTRIES = 100
"""The number of entries compared per block. Each costs two runs of the model."""
KINKED = (nn.ReLU, nn.Hardtanh, nn.MaxPool1d, nn.AdaptiveMaxPool1d)
"""The torch modules whose derivative is discontinuous. Those of gonie declare it (``nn.protocols``)."""


@dataclass(frozen=True)
class BlockCheck:
    """The result for one block of parameters."""

    name: str
    shape: tuple[int, ...]
    compared: int
    """The number of entries with a numerical gradient."""
    difference: float
    """‖a - n‖ over them: a by autograd, n by central differences."""
    relative: float
    """‖a - n‖ / (‖a‖ + ‖n‖)."""
    right: bool
    """Whether the difference is within the tolerance."""
    single: float
    """The relative error of the gradient of the whole block in float32, against float64."""

    @property
    def size(self) -> int:
        """The number of entries of the block."""
        return prod(self.shape)

    @property
    def right_in_float32(self) -> bool:
        """Whether the float32 gradient is within the tolerance."""
        return self.single <= SINGLE_TOLERANCE

    @property
    def passed(self) -> bool:
        """Whether both comparisons passed."""
        return self.right and self.right_in_float32


def kinked_parts(model: nn.Module) -> list[str]:
    """Return the types of modules in ``model`` with a discontinuous derivative, without duplicates."""
    found = (
        part for part in model.modules() if getattr(part, "kinks", False) is True or isinstance(part, KINKED)
    )
    return list(dict.fromkeys(type(part).__name__ for part in found))


def step_for(model: nn.Module) -> float:
    """Return the ε of the differences: 1e-4, the most accurate, or 1e-6 if the model has kinks."""
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
    """Check each trained block of ``model`` (float32, on the CPU) under ``loss`` on ``batch``.

    The model itself is not changed: copies are run, with dropout off and batch normalisation in training
    mode. For a large block a sample of ``MOST_ENTRIES`` is compared. At least three quarters of it have a
    nonzero gradient, if there are so many. Padding rows, which stay zero, are left out.
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
        array = parameter.detach().numpy()  # shares memory with the model
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
    """Turn off randomness. Modules that keep batch averages stay in training mode."""
    model.eval()
    for part in model.modules():
        if isinstance(part, MovesBuffers):
            part.train()
    return model


def _gradients(model: Model, batch: Batch, loss: Callable[[Model, Batch], Tensor]) -> dict[str, Floats]:
    """Return the gradient of every trained parameter as float64, 0 where the loss does not depend on it."""
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    given = torch.autograd.grad(loss(model, batch), list(trained.values()), materialize_grads=True)
    return {name: gradient.double().numpy() for name, gradient in zip(trained, given, strict=True)}


def _padding(model: nn.Module) -> dict[str, int]:
    """Return the padding row of each embedding, by parameter name."""
    return {
        f"{name}.weight": part.padding_idx
        for name, part in model.named_modules()
        if isinstance(part, nn.Embedding) and part.padding_idx is not None
    }


def _entries(gradient: Floats, generator: np.random.Generator, *, padding: int | None) -> Ints:
    """Return the sorted indices of a flattened block that are compared."""
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
