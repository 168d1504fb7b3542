"""Integrated gradients of a model's predictions, for any task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from gonie.errors import GonieError
from gonie.explaining.methods import Gradients, TakeGradients
from gonie.explaining.torch.path_integral import STEPS, integrate
from gonie.nn.inference import evaluating
from gonie.tasks.torch.example_task import example_task
from gonie.tasks.torch.task import GradientTask
from gonie.tasks.torch.trained import load_trained


def load_gradients(folder: Path, model: Any) -> TakeGradients:
    """Return the gradient function of ``model``, using the checkpoint of its run."""
    task = example_task(model.task)
    if not isinstance(task, GradientTask):
        raise GonieError(f"models of the task {model.task!r} cannot be explained by gradients")
    return network_gradients(task, load_trained(folder).model, model)


def network_gradients(
    task: GradientTask, network: nn.Module, model: Any, *, steps: int = STEPS
) -> TakeGradients:
    """Return a function for the integrated gradients of an answer's log-odds: one weight per token.

    ``network`` is the network of ``model``, the predictor that gave the answer.
    """

    def take(answer: Any) -> Gradients:
        with evaluating(network):
            path = task.odds_path(network, model, answer)
            integral = integrate(path.function, path.inputs, steps=steps)
        words = path.words(integral.weights)
        return Gradients(words, integral.rise - float(words.sum()))

    return take
