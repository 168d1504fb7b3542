"""What parts of a model ask to be kept small, beside what the recipe asks of all (``train.l2``)."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.embeddings.elmo import ElmoEmbedding


def penalties(model: nn.Module) -> Tensor | float:
    """The sum of what the parts of ``model`` ask for; 0.0 where none does. Shape: ()."""
    return sum((part.penalty() for part in model.modules() if isinstance(part, ElmoEmbedding)), start=0.0)
