"""A language model as an auxiliary task of taggers (``[loss.language-model]``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.nn.encoders.bidirectional import Bidirectional
from gonie.nn.precision import autocast, widened
from gonie.tasks.section import Section, Size
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.build import contextual_parts
from gonie.tasks.torch.layers import adapters_of, encoder_layers, lower_encoder
from gonie.training.loss_terms.term import TermContext, TermPart

TERM = "language-model"


class WordPredictionConfig(Section):
    """Prediction of the words before and after each token (Rei 2017, arXiv:1704.07156); taggers only."""

    weight: float = Field(default=0.1, ge=0, description="γ, weight of the loss of the two predictions")
    vocabulary: Size = Field(
        default=7500, description="most frequent words that are predicted; all others are one word"
    )
    hidden: Size = Field(default=50, description="units of the tanh layer of each direction")


class WordPrediction(nn.Module):
    """−γ (Σ log p(w[t+1] | →h[t]) + Σ log p(w[t−1] | ←h[t])), mean over sentences: Rei 2017.

    p(w | h) = softmax(U tanh(V h + b) + c), with other U, V, b and c for each direction. The forward states
    have seen only the words up to t, and the backward states only those from t on, so they must be of the
    bottom layer of a bidirectional encoder. The sums are over all tokens that have a next word, or a previous
    word. Words are those of the vocabulary, in lower case if ``data.lowercase``. arXiv:1704.07156.
    """

    classes: Tensor

    def __init__(self, config: WordPredictionConfig, context: TermContext) -> None:
        super().__init__()
        model = context.model
        if not isinstance(model, TaggingNetwork):
            raise RecipeError([f"loss.{TERM}: works only with taggers, not with {context.recipe.task!r}"])
        _note_leaks(context)
        ways = _directions(model)
        classes = _classes(context, config.vocabulary)  # (V,)
        self.register_buffer("classes", torch.from_numpy(classes).to(context.device), persistent=False)
        self.hidden = nn.ModuleList(nn.Linear(way, config.hidden) for way in ways)
        self.output = nn.ModuleList(nn.Linear(config.hidden, int(classes.max()) + 1) for _ in ways)
        self._widths = ways
        self._weight = config.weight
        self._precision = context.recipe.train.precision
        self._device = context.device
        deep = len(encoder_layers(model.encoder)) > 1
        self._bottom = model.up_to(1, {}).states if deep else None

    def forward(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Return the weighted loss. Shape: ()."""
        if self._bottom is not None:
            with autocast(self._precision, self._device):
                states = self._bottom(batch)
        ahead, back, _ = widened(states).split_with_sizes(
            [*self._widths, states.shape[2] - sum(self._widths)], dim=2
        )
        words, inside = self.classes[batch["words"]], batch["mask"][:, 1:]  # (B, T), (B, T - 1)
        loss = self._loss(0, ahead[:, :-1][inside], words[:, 1:][inside])
        loss = loss + self._loss(1, back[:, 1:][inside], words[:, :-1][inside])
        return self._weight * loss / len(states)

    def _loss(self, way: int, states: Tensor, words: Tensor) -> Tensor:
        """Return −Σ log p(word | state) of states (M, H) and words (M,). Shape: ()."""
        scores = self.output[way](self.hidden[way](states).tanh())  # (M, W)
        return F.cross_entropy(scores, words, reduction="sum")


def _directions(model: TaggingNetwork) -> tuple[int, int]:
    """Return the widths of the forward and backward states, which are the first of a state vector."""
    bottom: Any = model.encoder
    adapted = bool(adapters_of(bottom))
    if not adapted and len(encoder_layers(bottom)) > 1:
        bottom = lower_encoder(bottom, 1)
    bottom = getattr(bottom, "encoder", bottom)  # within a bypass
    if adapted or not isinstance(bottom, Bidirectional):
        raise RecipeError(
            [
                f"loss.{TERM}: needs a bidirectional recurrent encoder without adapters, such as "
                "model.encoder.kind=lstm"
            ]
        )
    return bottom.ahead.width, bottom.back.width


def _classes(context: TermContext, size: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the class of each word id: the most frequent words of the training file from 1 on, others 0."""
    job: Any = context.need_job(TERM)
    arrays = job.train.arrays
    words = arrays["form_words"][arrays["forms"]]  # (tokens,)
    counts = np.bincount(words, minlength=len(job.encoding.words))
    counts[:2] = 0  # padding and unknown
    order = np.argsort(-counts, kind="stable")[:size]
    kept = order[counts[order] > 0]
    classes = np.zeros(len(counts), dtype=np.int64)
    classes[kept] = np.arange(1, len(kept) + 1)
    return classes


def _note_leaks(context: TermContext) -> None:
    """Note the inputs of the encoder that have seen neighbouring words, which are then easy to predict."""
    model = context.recipe.model
    seen = [f"model.{part.name}" for part in contextual_parts(context.model) if "input" in part.places]
    if model.features is not None and "context" in model.features.groups:
        seen.append("context features")
    if seen:
        context.note(
            f"warning: loss.{TERM} learns little: {' and '.join(seen)} already know the words around"
        )


PART = TermPart(
    help="prediction of the words before and after each token",
    section=WordPredictionConfig,
    build=WordPrediction,
)
