"""The interface of loss terms, and of their entries in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.nn.inference import evaluating, to_tensors
from gonie.tasks.section import Section
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.job import ExampleJob, Note
from gonie.tasks.torch.start import Start


class LossTerm(Protocol):
    """A scalar that is added to the loss of a batch.

    A term with weights or buffers of its own, such as a language model, is a torch module. Its weights are
    trained and saved in checkpoints with those of the model, but they are not exported.

    Random numbers come from torch's generator, which is seeded for each step. So a resumed run is exact. A
    term is built from the model before its first step, also when a run is resumed. Buffers that change in
    training are listed in ``moves``, and ``rate_scale`` is a multiple of the learning rate, as for any part
    (``gonie.nn.protocols``).

    A term that reads files has a method ``digest``, which returns a digest of their content. A run resumes
    only with the same files.
    """

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor | float:
        """Return the term for a batch, given the ``states`` that ``model`` computed for it. Shape: ().

        The states are those that the head of the model reads: (B, T, H) of a tagger, (N, P) of a text model.
        """
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """A loss term that reads files."""

    def digest(self) -> str:
        """Return a digest of the content of the files."""
        ...


@dataclass(frozen=True, kw_only=True)
class TermContext:
    """What a term may be built from, besides its section of the recipe."""

    recipe: CorpusRecipe
    model: nn.Module
    """The model in training, on its device."""
    examples: int
    """The number of training examples."""
    steps: int = 1
    """The number of steps until the last epoch, if training does not stop early."""
    job: ExampleJob | None = None
    """The recipe with its data, or None if there is no data (`gonie check-gradients`)."""
    note: Note = field(default=lambda text: None)
    """Receives what was found in files."""

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return next(self.model.parameters()).device

    @property
    def domains(self) -> list[int]:
        """The numbers of the domains that training examples have, if training files are named."""
        found = getattr(self.job, "domains", None)
        return [] if found is None else np.unique(found[found >= 0]).tolist()

    def need_states(self, term: str) -> Tensor:
        """Return the states of a training example, or raise an error if training does not change them."""
        model: Any = self.model
        row = self.need_job(term).train.batch(np.zeros(1, dtype=np.int64))
        with evaluating(model):
            states: Tensor = model.states(to_tensors(row, self.device))
        if not states.requires_grad:
            raise RecipeError(
                [
                    f"loss.{term}: has no effect, because no trained weight changes the states that the head "
                    "reads; train a layer of the encoder, or remove this section"
                ]
            )
        return states.detach()

    def need_job(self, term: str) -> ExampleJob:
        """Return the job, or raise an error for a term that needs its data."""
        if self.job is None:
            raise RecipeError([f"loss.{term}: needs training data, which this command does not read"])
        return self.job

    def need_start(self, term: str) -> Start:
        """Return the model that training starts from, or raise an error if there is none."""
        start = None if self.job is None else self.job.start
        if start is None:
            raise RecipeError([f"loss.{term}: needs a trained model to start from; set train.start"])
        return start


@dataclass(frozen=True, kw_only=True)
class TermPart:
    """An entry of the table: the recipe section ``[loss.NAME]``, and how to build the term from it."""

    help: str
    section: type[Section]
    build: Callable[[Any, TermContext], LossTerm]
    """Section and context -> term."""
    needs_start: bool = False
    """Whether it compares the model with that of ``train.start``."""
