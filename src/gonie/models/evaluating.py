"""A model as it is used, for a while, and then again as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Within the block ``model`` is in evaluation mode: nothing is dropped."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
