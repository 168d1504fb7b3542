"""Tests optimizers, learning rate schedules and gradient clipping."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gonie.tasks.sections import TrainConfig
from gonie.training.optim import (
    bound_gradients,
    build_optimizer,
    learning_rate,
    optimizer_tensors,
    restore_optimizer,
    set_learning_rate,
)

RULES = ("sgd", "adam", "adamw", "nadam")


def config(**values: Any) -> TrainConfig:
    return TrainConfig.model_validate(values)


# --- the rate --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("done", [0.0, 0.25, 3.0, 9.99, 10.0])
@pytest.mark.parametrize(
    ("schedule", "formula"),
    [
        ("constant", lambda done: 1.0),
        ("linear", lambda done: 1 - done / 10),
        ("cosine", lambda done: (1 + math.cos(math.pi * done / 10)) / 2),
        ("inverse", lambda done: 1 / (1 + 0.05 * int(done))),
    ],
)
def test_the_rate_follows_its_formula(schedule: str, formula: Any, done: float) -> None:
    setting = config(lr=0.4, schedule=schedule, epochs=10, decay=0.05)
    assert learning_rate(setting, step=999, epochs_done=done) == pytest.approx(0.4 * formula(done), abs=1e-12)


def test_the_rate_is_never_negative() -> None:
    """A run that is resumed after its last epoch must not increase the loss."""
    for schedule in ("linear", "cosine"):
        assert learning_rate(config(schedule=schedule, epochs=3), step=9, epochs_done=3.5) == pytest.approx(0)


def test_warmup_is_linear_and_then_follows_the_schedule() -> None:
    setting = config(lr=1.0, warmup=4)
    rates = [learning_rate(setting, step=step, epochs_done=0) for step in range(6)]
    assert rates == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    both = config(lr=1.0, warmup=4, schedule="linear", epochs=2)
    assert learning_rate(both, step=1, epochs_done=0.5) == pytest.approx(0.5 * 0.75)


def test_the_rate_is_set_in_every_parameter_group() -> None:
    optimizer = torch.optim.SGD([{"params": [nn.Parameter(torch.zeros(1))]} for _ in range(2)], lr=1.0)
    set_learning_rate(optimizer, 0.125)
    assert [group["lr"] for group in optimizer.param_groups] == [0.125, 0.125]


# --- gradients -------------------------------------------------------------------------------------------


def gradients(*values: list[float]) -> list[nn.Parameter]:
    parameters = [nn.Parameter(torch.zeros(len(value))) for value in values]
    for parameter, value in zip(parameters, values, strict=True):
        parameter.grad = torch.tensor(value)
    return [*parameters, nn.Parameter(torch.zeros(2))]  # the last one has no gradient


def norm(parameters: list[nn.Parameter]) -> float:
    return math.sqrt(sum(float((p.grad**2).sum()) for p in parameters if p.grad is not None))


@pytest.mark.parametrize(
    ("values", "before", "after"),
    [
        ({"clip": 5.0}, ([30.0], [40.0]), 5.0),
        ({"clip": 5.0}, ([0.3], [0.4]), 0.5),
        ({"clip": 0}, ([30.0], [40.0]), 50.0),
        ({"normalize": True}, ([30.0], [40.0]), 1.0),
        ({"normalize": True, "clip": 5.0}, ([0.3], [0.4]), 1.0),
    ],
)
def test_gradients_are_clipped_or_normalised_by_their_joint_norm(
    values: dict[str, Any], before: tuple[list[float], ...], after: float
) -> None:
    """The norm is over all gradients, so their direction does not change."""
    parameters = gradients(*before)
    bound_gradients(config(**values), parameters)
    assert norm(parameters) == pytest.approx(after, rel=1e-4)
    assert float(parameters[0].grad / parameters[1].grad) == pytest.approx(0.75)  # type: ignore[operator,arg-type]


def test_a_zero_gradient_stays_zero() -> None:
    parameters = gradients([0.0, 0.0])
    bound_gradients(config(normalize=True), parameters)
    assert not parameters[0].grad.any()  # type: ignore[union-attr]


def test_clipping_equals_clip_grad_norm_of_torch() -> None:
    torch.manual_seed(1)
    values = [torch.randn(5).mul(9).tolist() for _ in range(3)]
    mine, theirs = gradients(*values), gradients(*values)
    bound_gradients(config(clip=2.5), mine)
    nn.utils.clip_grad_norm_(theirs, 2.5)
    for one, other in zip(mine[:-1], theirs[:-1], strict=True):
        torch.testing.assert_close(one.grad, other.grad)


# --- optimisers ------------------------------------------------------------------------------------------


def test_each_optimizer_is_built_with_its_settings() -> None:
    parameter = nn.Parameter(torch.zeros(3))
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    for name, kind in {**kinds, "nadam": torch.optim.NAdam}.items():
        optimizer = build_optimizer(config(optimizer=name, lr=0.3, weight_decay=0.01), [("p", parameter)])
        assert type(optimizer) is kind
        assert optimizer.param_groups[0]["lr"] == 0.3
        assert optimizer.param_groups[0]["weight_decay"] == 0.01
    sgd = build_optimizer(config(optimizer="sgd", momentum=0.75), [("p", parameter)])
    assert sgd.param_groups[0]["momentum"] == 0.75


def test_frozen_parameters_are_left_out() -> None:
    frozen, free = nn.Parameter(torch.zeros(3), requires_grad=False), nn.Parameter(torch.zeros(2))
    optimizer = build_optimizer(config(), [("frozen", frozen), ("free", free)])
    assert [p.shape for p in optimizer.param_groups[0]["params"]] == [free.shape]


def steps(optimizer: torch.optim.Optimizer, parameters: list[nn.Parameter], first: int, last: int) -> None:
    for number in range(first, last):
        for parameter in parameters:
            parameter.grad = torch.sin(parameter.detach() + number)
        optimizer.step()


@pytest.mark.parametrize("rule", RULES)
def test_a_restored_optimizer_equals_an_uninterrupted_one(rule: str) -> None:
    """If the momentum were lost, a resumed run would give another model."""
    setting = config(optimizer=rule, lr=0.1, weight_decay=0.01)

    def begin(values: list[Tensor]) -> tuple[torch.optim.Optimizer, list[nn.Parameter]]:
        parameters = [nn.Parameter(value.clone()) for value in values]
        return build_optimizer(setting, [(str(at), p) for at, p in enumerate(parameters)]), parameters

    start = [torch.linspace(-1, 1, 6).reshape(2, 3), torch.ones(4)]
    whole, unbroken = begin(start)
    steps(whole, unbroken, 0, 7)
    first, half = begin(start)
    steps(first, half, 0, 3)
    second, resumed = begin([p.detach() for p in half])
    restore_optimizer(second, {name: t.clone() for name, t in optimizer_tensors(first).items()})
    steps(second, resumed, 3, 7)
    for one, other in zip(unbroken, resumed, strict=True):
        assert torch.equal(one, other)


def test_an_optimizer_without_steps_has_no_state() -> None:
    optimizer = build_optimizer(config(), [("p", nn.Parameter(torch.zeros(3)))])
    assert optimizer_tensors(optimizer) == {}
    restore_optimizer(optimizer, {})


def test_some_parameters_can_have_a_higher_rate() -> None:
    """Weights of rare n-grams get few updates and would hardly move at the rate of the network."""
    slow, fast = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
    optimizer = build_optimizer(
        config(optimizer="sgd", momentum=0.0),
        [("words.a", slow), ("head.direct.b", fast)],
        {"head.direct": 5.0},
    )
    set_learning_rate(optimizer, 0.1)
    (slow + fast).sum().backward()
    optimizer.step()
    assert slow.item() == pytest.approx(-0.1)
    assert fast.item() == pytest.approx(-0.5)
