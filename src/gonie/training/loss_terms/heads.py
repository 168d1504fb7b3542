"""The losses of auxiliary heads on files of their own (``[heads.NAME]``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from gonie.errors import RecipeError
from gonie.features.corpus import Examples
from gonie.nn.inference import to_tensors
from gonie.nn.precision import autocast
from gonie.tasks.torch.job import ExampleJob
from gonie.text.report import count
from gonie.training.loss_terms.term import TermContext

MOST = 4.0
"""The most sentences of a head for each sentence of a batch, so that large files do not make steps slow."""


class HeadSection(Protocol):
    """The keys of an auxiliary head that its loss depends on."""

    weight: float
    temperature: float


class MultiTaskJob(Protocol):
    """A job with auxiliary heads, whose model returns the network of each (``branch``)."""

    heads: Mapping[str, ExampleJob]


@dataclass(frozen=True)
class HeadLoss:
    """An auxiliary head: its network, its training examples, and how many of them for each main one."""

    network: Any
    examples: Examples
    weight: float
    ratio: float


class AuxiliaryHeads:
    """Σ w · loss over auxiliary heads, each on sentences of its own file (Caruana 1997).

    A head reads the states of one layer of the encoder, so a simple task can train the lower layers only
    (Søgaard & Goldberg 2016, P16-2038). At each step, a head with m sentences draws on average
    min((m/n)^(1/T), 4) sentences for each sentence of the batch, where n is the number of training sentences
    of the main head and T a temperature. They are drawn uniformly. If the number is 0, the head has no loss
    at this step. The loss is a mean over the drawn sentences, as the main loss is.
    """

    def __init__(self, context: TermContext) -> None:
        self._precision = context.recipe.train.precision
        self._device = context.device
        sections: Mapping[str, HeadSection] = context.recipe.heads  # type: ignore[attr-defined]
        if context.job is None:
            raise RecipeError(["heads: needs training data, which this command does not read"])
        model: Any = context.model
        jobs = cast("MultiTaskJob", context.job).heads
        self._heads = [
            HeadLoss(model.branch(name), job.train, sections[name].weight, _ratio(context, name, job))
            for name, job in jobs.items()
        ]

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor | float:
        """Return the weighted sum of the losses. Shape: ()."""
        return sum((self._loss(head, len(states)) for head in self._heads), start=0.0)

    def _loss(self, head: HeadLoss, size: int) -> Tensor | float:
        number = int(size * head.ratio + float(torch.rand(())))
        if not number:
            return 0.0
        rows = torch.randint(len(head.examples), (number,)).numpy()
        batch = to_tensors(head.examples.batch(rows), self._device)
        with autocast(self._precision, self._device):
            loss: Tensor = head.network.loss(batch)
        return head.weight * loss


def _ratio(context: TermContext, name: str, job: ExampleJob) -> float:
    """Return how many sentences of a head are drawn for each of the batch, on average. Note it."""
    section: HeadSection = context.recipe.heads[name]  # type: ignore[attr-defined]
    wanted: float = (len(job.train) / context.examples) ** (1 / section.temperature)
    ratio = min(wanted, MOST)
    drawn = f"{ratio:.2f} sentences per sentence of data.train"
    if wanted > MOST:
        drawn += f" (limit {MOST:g}; {wanted:.2f} by size)"
    context.note(f"heads.{name}: {count(len(job.train), 'sentence')}; {drawn}")
    return ratio
