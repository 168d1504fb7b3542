"""Helpers for inference: evaluation mode, no gradients, and numpy batches as tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gonie.nn.dropout import has_dropout


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put ``model`` in evaluation mode within the block."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


def to_tensors(batch: Mapping[str, NDArray[Any]], device: torch.device) -> dict[str, Tensor]:
    """Convert the batch to tensors on ``device``. The copy to a GPU is asynchronous."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in batch.items()}
    if device.type == "cpu":
        return tensors
    return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}


@contextmanager
def inferring(model: nn.Module) -> Iterator[torch.device]:
    """Disable dropout and gradients within the block, then restore the mode. Yields the model's device."""
    with evaluating(model), torch.inference_mode():
        yield next(model.parameters()).device


@contextmanager
def dropping(model: nn.Module, *, seed: int) -> Iterator[torch.device]:
    """Disable gradients and enable dropout within the block, and nothing else that training does.

    Random numbers are those of ``seed``, also in the next block. Yields the model's device.
    """
    device = next(model.parameters()).device
    modes = {part: part.training for part in model.modules()}
    model.train()
    for part in modes:  # frozen parts stay in evaluation mode, and so does batch normalisation
        part.training = part.training and has_dropout(part)
    try:
        with (
            torch.inference_mode(),
            torch.random.fork_rng(devices=[device] if device.type == "cuda" else []),
        ):
            torch.manual_seed(seed)
            yield device
    finally:
        for part, mode in modes.items():
            part.training = mode
