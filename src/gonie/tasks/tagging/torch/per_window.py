"""A whole tagger under per-window SGD: whether it can be, and the updates bound to its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from torch import nn

from gonie.errors import RecipeError
from gonie.tasks.tagging.torch.network import TaggingNetwork

if TYPE_CHECKING:
    from gonie.nn.window.sgd import WindowSGD


def per_window(model: TaggingNetwork) -> WindowSGD:
    """Updates of ``model`` after every single window; a model that is not made for them is refused."""
    from gonie.nn.window.sgd import WindowSGD  # here, so that a GPU machine needs no Numba

    if any(map(_rate, (model.word_dropout, model.input_dropout, model.output_dropout))):
        raise RecipeError(
            [
                "train.optimizer: per-window knows no dropout; set model.dropout.input, output and word "
                "to 0, or take another optimizer, such as sgd"
            ]
        )
    parts = (model.embedding, model.encoder, model.head())
    embedding, encoder, head = (cast("nn.Module", part) for part in parts)
    return WindowSGD(embedding=embedding, encoder=encoder, head=head)


def _rate(dropout: nn.Module) -> float:
    """How much of what it gets a kind of dropout drops."""
    return float(dropout.p if isinstance(dropout, nn.Dropout) else getattr(dropout, "rate", 0.0))
