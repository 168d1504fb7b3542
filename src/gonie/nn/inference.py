"""Running a model without training it: evaluation mode, no gradients, numpy batches as tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Within the block ``model`` is in evaluation mode: nothing is dropped."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


def to_tensors(batch: Mapping[str, NDArray[Any]], device: torch.device) -> dict[str, Tensor]:
    """The same batch as tensors on ``device``; the copy to a GPU does not wait for it."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in batch.items()}
    if device.type == "cpu":
        return tensors
    return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}


@contextmanager
def inferring(model: nn.Module) -> Iterator[torch.device]:
    """The model without dropout and gradients, afterwards as it was; gives the device it lies on."""
    with evaluating(model), torch.inference_mode():
        yield next(model.parameters()).device
