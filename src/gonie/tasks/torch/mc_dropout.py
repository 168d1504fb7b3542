"""MC dropout: several passes of a trained network with dropout, as the members of an ensemble.

Each pass has its own seed, so results are reproducible. A pass draws the same random numbers for each batch.
Parts of the network that drop weights are therefore the same network for all batches of a pass
(Gal & Ghahramani 2016, arXiv:1506.02142).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gonie.errors import InputError
from gonie.nn.dropout import has_dropout
from gonie.nn.inference import dropping
from gonie.tasks.members import Advance, refuse_ensemble
from gonie.tasks.run_files import BEST
from gonie.tasks.table import TASKS
from gonie.tasks.torch.scorer import Running
from gonie.tasks.torch.task import DropoutTask
from gonie.tasks.torch.trained import load_trained


def load_passes(
    folder: Path,
    model: Any,
    passes: int,
    *,
    seed: int = 0,
    device: str = "cpu",
    advance: Advance | None = None,
) -> Any:
    """Return the ensemble of ``passes`` of the network of a run folder, from which ``model`` was loaded.

    ``advance`` receives the progress of predictions. Random numbers depend on the kind of ``device``.
    """
    refuse_ensemble(model)
    task = TASKS[model.task]
    half = task.torch()
    if not isinstance(half, DropoutTask):
        raise InputError(f"MC dropout of {task.model}s is not supported: {folder}")
    if passes < 1:
        raise InputError(f"the number of passes must be at least 1: {passes}")
    if not (folder / BEST).is_file():
        raise InputError(
            f"MC dropout needs the checkpoint of a training run, and {folder} has none. A bundle has no "
            "dropout",
            fix="Pass a folder that `gonie train` wrote",
        )
    trained = load_trained(folder)
    if not any(map(has_dropout, trained.model.modules())):
        raise InputError(
            f"{folder} was trained without dropout, so all passes would be the same",
            fix="Pass a model with model.dropout",
        )
    network = trained.model.to(torch.device(device))
    return half.passes(network, trained.recipe.model, model, pass_modes(passes, seed), advance)


def pass_modes(passes: int, seed: int) -> list[Running]:
    """Return the mode of the network in each pass."""
    seeds = np.random.SeedSequence(seed).generate_state(passes)
    return [partial(dropping, seed=int(own)) for own in seeds]
