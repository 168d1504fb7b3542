"""The checkpoint of a training run, as one file that is written atomically.

``last.safetensors`` holds the trained weights (``model.NAME``), those of loss terms (``loss.TERM.NAME``), the
optimiser's state (``optimizer.INDEX.NAME``), the averaged weights (``average.NAME``), the epoch's ``loss`` so
far, and the sums of its loss ``terms``. Its metadata has the rest as JSON under ``progress``. It has no
random state, because the random choices of a step depend only on the seed and the step's number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from torch import Tensor, nn
from torch.optim import Optimizer

from gonie.errors import BundleError, ResumeError
from gonie.tasks.torch.checkpoint import moving_tensors, read_tensors, write_tensors
from gonie.training.average import WeightAverage
from gonie.training.loss_terms.epoch_losses import EpochLosses
from gonie.training.optim import optimizer_tensors, restore_optimizer


@dataclass
class Progress:
    """The progress of training: ``batch`` batches of ``epoch``, ``step`` steps in total.

    ``stale`` counts the epochs since the dev score last rose.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    best: float = -1.0
    best_epoch: int = -1
    stale: int = 0
    finished: bool = False


@dataclass
class State:
    """Everything that changes during training."""

    model: nn.Module
    optimizer: Optimizer
    average: WeightAverage
    progress: Progress
    loss: Tensor  # () sum over the examples of this epoch so far, on the device
    fingerprint: str  # of the recipe and the data; a run resumes only with the same ones
    recipe: str = ""  # a digest of the recipe alone, to say which of the two changed
    files: Mapping[str, str] = field(default_factory=dict)  # stamps of its files, to name the changed ones
    extra: nn.Module = field(default_factory=nn.Module)  # the loss terms with weights of their own
    terms: EpochLosses = field(default_factory=EpochLosses)  # the loss terms of this epoch so far

    def save(self, path: Path) -> None:
        """Write the state atomically."""
        tensors = _prefixed("model", moving_tensors(self.model))
        tensors |= _prefixed("loss", moving_tensors(self.extra))
        tensors |= _prefixed("optimizer", optimizer_tensors(self.optimizer))
        tensors |= _prefixed("average", self.average.weights) | {"loss": self.loss}
        if self.terms.names:
            tensors["terms"] = self.terms.sums
        progress = json.dumps(asdict(self.progress))
        metadata = {"progress": progress, "fingerprint": self.fingerprint, "recipe": self.recipe}
        write_tensors(path, tensors, {**metadata, "files": json.dumps(dict(self.files))})

    def restore(self, path: Path) -> None:
        """Load a state written by ``save``."""
        try:
            tensors, metadata = read_tensors(path)
        except BundleError as error:
            raise ResumeError(f"{error}. {_START_OVER.format(path)}") from error
        if metadata.get("fingerprint") != self.fingerprint:
            if files := self._changed_files(metadata):
                raise ResumeError(
                    f"changed since this run began: {', '.join(files)}. "
                    "Undo the change, or start a new run with another --out."
                )
            raise ResumeError(
                f"{path}: {self._changed(metadata)} changed since this run began. "
                "Undo the change, or start a new run with another --out."
            )
        for prefix, module in (("model", self.model), ("loss", self.extra)):
            own = moving_tensors(module)
            for name, tensor in _under(prefix, tensors).items():
                own[name].data.copy_(tensor)
        restore_optimizer(self.optimizer, _under("optimizer", tensors))
        self.average.restore(_under("average", tensors))
        self.loss.copy_(tensors["loss"])
        if "terms" in tensors:
            self.terms.sums.copy_(tensors["terms"])
        self.progress = Progress(**json.loads(metadata["progress"]))

    def _changed_files(self, metadata: Mapping[str, str]) -> list[str]:
        """Return the files of the same recipe that have changed since a state was saved, as far as known."""
        saved = json.loads(metadata.get("files", "{}")) if metadata.get("recipe") == self.recipe else {}
        return [path for path, stamp in saved.items() if self.files.get(path) != stamp]

    def _changed(self, metadata: Mapping[str, str]) -> str:
        """Return what differs from a saved state with another fingerprint, in words."""
        if not metadata.get("recipe"):
            return "the recipe or its data files"
        return "a file that the recipe names" if metadata["recipe"] == self.recipe else "the recipe"


_START_OVER = "Delete {} to start this run over, or start a new run with another --out."


def _prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(f"{prefix}."): t for k, t in tensors.items() if k.startswith(f"{prefix}.")}
