"""Optimizers, learning rate schedules and gradient clipping."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim import SGD, Adam, AdamW, NAdam, Optimizer

from gonie.tasks.sections import LearningConfig

FUSED = ("sgd", "adam", "adamw")  # one pass over memory for all parameters; NAdam has no such kernel


RATE = "rate"  # the key of a parameter group for its multiple of the learning rate


def build_optimizer(
    config: LearningConfig,
    parameters: Iterable[tuple[str, Parameter]],
    rates: Mapping[str, float] | None = None,
) -> Optimizer:
    """Build the optimizer of the recipe over the trained parameters.

    ``rates`` maps name prefixes of parameters to a multiple of the learning rate.
    """
    trained = _grouped(parameters, rates or {})
    shared: dict[str, Any] = {"lr": config.lr, "weight_decay": config.weight_decay}
    if config.optimizer in FUSED:
        shared["fused"] = True
    match config.optimizer:
        case "sgd":
            return SGD(trained, momentum=config.momentum, **shared)
        case "per-window":  # has no state and does its own steps
            return SGD(trained, lr=config.lr)
        case "adam":
            return Adam(trained, **shared)
        case "adamw":
            return AdamW(trained, **shared)
        case "nadam":
            return NAdam(trained, **shared)


def _grouped(parameters: Iterable[tuple[str, Parameter]], rates: Mapping[str, float]) -> list[dict[str, Any]]:
    """Group the parameters by their multiple of the learning rate, without empty groups."""
    groups: dict[float, list[Parameter]] = {1.0: []}
    for name, parameter in parameters:
        if parameter.requires_grad:
            rate = next((rate for start, rate in rates.items() if name.startswith(start)), 1.0)
            groups.setdefault(rate, []).append(parameter)
    return [{"params": own, RATE: rate} for rate, own in groups.items() if own]


def learning_rate(config: LearningConfig, *, step: int, epochs_done: float) -> float:
    """Return the learning rate of a step, given the step and the epochs done.

    ``inverse`` is lr / (1 + decay * epoch), as in Ma & Hovy 2016. ``linear`` and ``cosine`` end at zero after
    ``epochs``.
    """
    progress = min(epochs_done / config.epochs, 1.0)
    falling = {
        "constant": 1.0,
        "linear": 1.0 - progress,
        "cosine": 0.5 * (1.0 + math.cos(math.pi * progress)),
        "inverse": 1.0 / (1.0 + config.decay * math.floor(epochs_done)),
    }[config.schedule]
    rising = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    return config.lr * falling * rising


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    """Set the rate of every parameter group, times its multiple."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get(RATE, 1.0)


def bound_gradients(config: LearningConfig, parameters: Iterable[Parameter]) -> None:
    """Clip the global gradient norm, or scale it to one, in place and without a GPU synchronisation."""
    if not (config.normalize or config.clip):
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients)
    if config.normalize:
        torch._foreach_mul_(gradients, 1.0 / (norm + 1e-6))
    elif not norm.is_cpu or norm > config.clip:  # on a CPU the check is free, and most steps need no scaling
        torch._foreach_mul_(gradients, torch.clamp(config.clip / (norm + 1e-6), max=1.0))


def optimizer_tensors(optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the optimizer state as named tensors ``INDEX.NAME``, for a checkpoint."""
    state: Mapping[int, Mapping[str, Any]] = optimizer.state_dict()["state"]
    return {
        f"{index}.{name}": value
        if isinstance(value, Tensor)
        else torch.tensor(float(value), dtype=torch.float64)
        for index, values in state.items()
        for name, value in values.items()
        if value is not None
    }


def restore_optimizer(optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Restore the state from ``optimizer_tensors``."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        index, _, name = key.partition(".")
        state.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
