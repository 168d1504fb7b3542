"""Tests the gradient check: correct gradients pass, wrong ones fail, and the wrong block is named.

If a wrong gradient passed, a part would learn badly without any error. If a correct one failed, nobody would
trust the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gonie.nn import BatchNorm, CharCNN, Convolution, Max, Mean
from gonie.tasks.recipe import load_recipe, recipe_names, recipe_types
from gonie.tasks.torch.prepare import synthetic
from gonie.training import gradient_check
from gonie.training.gradient_check import (
    KINKED_STEP,
    MOST_ENTRIES,
    SMOOTH_STEP,
    BlockCheck,
    check_gradients,
    kinked_parts,
    step_for,
)
from gonie.training.loss_terms.table import build_terms, total_loss
from gonie.training.loss_terms.term import TermContext

Batch = dict[str, Tensor]


def checked(*changes: str, recipe: str = "ner") -> list[BlockCheck]:
    loaded = load_recipe(recipe, changes, absent={"data.train": "not-there.conll"})
    specimen = synthetic(loaded)
    context = TermContext(recipe=loaded, model=specimen.model, examples=specimen.examples)
    terms = build_terms(context).values()
    return list(
        check_gradients(specimen.model, specimen.batch, lambda model, batch: total_loss(model, batch, terms))
    )


def all_but(short: Sequence[Any], cases: Iterable[Any]) -> list[Any]:
    """Mark all cases as long, except the short ones."""
    return [case if case in short else pytest.param(case, marks=pytest.mark.long) for case in cases]


@pytest.mark.parametrize("name", all_but(["rnn", "crf"], recipe_names(*recipe_types("train"))))
def test_every_shipped_recipe_has_correct_gradients(name: str) -> None:
    found = checked(recipe=name)
    assert found
    assert [check for check in found if not check.passed] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("recipe", "chars"), [("ner", "cnn"), ("ner", "lstm"), ("subjectivity", "cnn"), ("pairs", "cnn")]
)
def test_adapters_have_correct_gradients(recipe: str, chars: str) -> None:
    adapter = ("model.adapter.kind=both", "model.adapter.rank=2", "model.adapter.embedding=2")
    changes = ("model.elmo=none", f"model.chars.kind={chars}", *adapter)
    found = checked(*changes, recipe=recipe)
    assert [check for check in found if not check.passed] == []
    assert any("change" in check.name for check in found)


@pytest.mark.long
@pytest.mark.parametrize(
    "changes",
    [
        ("model.chars.kind=lstm", "model.encoder.layers=2"),
        ("data.partial=not-there.conll", "data.vectors=not-there.txt"),
        ("data.partial=not-there.conll", "model.head.kind=softmax", "model.encoder.kind=rnn"),
        ("model.head.weights.LOC=3", "model.head.constrain_training=true"),
        ("model.head.weights.LOC=3", "model.head.kind=softmax", "model.encoder.bidirectional=false"),
        (
            'model.features.groups=["gazetteer", "spelling"]',
            'model.head.direct=["gazetteer"]',
            "model.words.tuned=all",
        ),
        ("model.elmo.bilm=not-there", "model.elmo.at=both", "model.elmo.l2=0.5"),
        ("model.elmo.bilm=not-there", "model.elmo.tuned=true", "model.elmo.normalize=true"),
    ],
    ids=" ".join,
)
def test_tagger_parts_that_no_recipe_uses_have_correct_gradients(changes: tuple[str, ...]) -> None:
    assert [check for check in checked(*changes) if not check.passed] == []


NO_WORDS = ("model.words=none", "model.chars=none", "model.encoder.kind=none", "model.bag.chars=[1, 3]")


@pytest.mark.parametrize(
    "changes",
    all_but(
        [NO_WORDS],
        [
            NO_WORDS,
            ('model.pooling.kinds=["dot"]', "model.pooling.heads=2", "model.pooling.norm=layer"),
            ('model.pooling.kinds=["attention"]', "model.pooling.heads=3", "model.pooling.norm=batch"),
            ('model.pooling.kinds=["last", "mean"]', "model.encoder.kind=rnn", "model.head.kind=sigmoid"),
            ('model.pooling.kinds=["max"]', "model.encoder.kind=cnn", "data.vectors=not-there.txt"),
            ("data.label_separator=|", "model.head.weights.spam=3", "model.head.smoothing=0.1"),
            ("model.head.weights=balanced", "train.l2=0.1"),
            (
                "model.sentences.pooling.norm=batch",
                'model.sentences.pooling.kinds=["max", "last"]',
                'data.marks=["e1"]',
            ),
            ("model.elmo.bilm=not-there", "model.elmo.at=both", "model.sentences.encoder.hidden=3"),
        ],
    ),
    ids=" ".join,
)
def test_classifier_parts_that_no_recipe_uses_have_correct_gradients(changes: tuple[str, ...]) -> None:
    found = checked(*changes, recipe="subjectivity")
    assert [check for check in found if not check.passed] == []
    assert len(found) == len({check.name for check in found}) > 1


SIMPLE = (
    "model.matching.kind=siamese",
    "model.encoder.kind=none",
    "model.head.hidden=0",
    "data.scale=[0, 5]",
)


@pytest.mark.parametrize(
    "changes",
    all_but(
        [SIMPLE],
        [
            SIMPLE,
            ("model.matching.kind=siamese", 'model.matching.pooling.kinds=["attention", "last"]'),
            ("model.matching.composition.kind=none", "model.head.smoothing=0.1", "data.vectors=not-there"),
            ("model.matching.composition.kind=cnn", "model.chars.kind=cnn", "data.value_column=v"),
            ('model.matching.pooling.kinds=["dot"]', "model.matching.pooling.heads=2", "train.l2=0.1"),
            ("model.elmo.bilm=not-there", "model.elmo.at=both"),
        ],
    ),
    ids=" ".join,
)
def test_pair_parts_that_no_recipe_uses_have_correct_gradients(changes: tuple[str, ...]) -> None:
    found = checked(*changes, recipe="pairs")
    assert [check for check in found if not check.passed] == []
    assert len(found) == len({check.name for check in found}) > 1


# --- broken parts ----------------------------------------------------------------------------------------


class Square(torch.autograd.Function):
    """Computes x², with a derivative of 2x times ``factor`` for inputs of one dtype."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float, kind: torch.dtype) -> Tensor:
        ctx.save_for_backward(x)
        ctx.factor = factor if x.dtype == kind else 1.0
        return x * x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        (x,) = ctx.saved_tensors
        return 2 * x * ctx.factor * grads[0], None, None


class Broken(nn.Module):
    """Computes Σ (V x)² with a wrong backward pass, plus Σ w² with a correct one."""

    def __init__(self, *, factor: float = 1.01, kind: torch.dtype = torch.float64) -> None:
        super().__init__()
        self.V = nn.Parameter(torch.randn(3, 2))
        self.w = nn.Parameter(torch.randn(4))
        self.dropout = nn.Dropout(0.5)
        self.factor, self.kind = factor, kind

    def forward(self, batch: Batch) -> Tensor:
        x = self.dropout(batch["x"]).to(self.V.dtype)
        return Square.apply(x @ self.V.T, self.factor, self.kind).sum() + (self.w**2).sum()


def outcome(model: nn.Module, **options: Any) -> dict[str, BlockCheck]:
    batch = {"x": torch.randn(5, 2)}
    found = check_gradients(model, batch, lambda model, batch: model(batch), **options)
    return {check.name: check for check in found}


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(5)


def test_a_gradient_that_is_wrong_by_one_percent_is_detected() -> None:
    found = outcome(Broken())
    assert not found["V"].right
    assert found["V"].relative == pytest.approx(0.01 / 2.01, rel=1e-3)
    assert found["w"].passed
    assert outcome(Broken(factor=1.0))["V"].passed, "without the error, and with dropout off, it passes"


def test_a_gradient_that_is_wrong_only_in_float32_is_detected() -> None:
    """The fast kernels used in training support only float32; float64 runs other code."""
    found = outcome(Broken(kind=torch.float32))["V"]
    assert found.right
    assert not found.right_in_float32
    assert not found.passed


def test_a_nan_gradient_fails() -> None:
    found = outcome(Broken(factor=float("nan")))["V"]
    assert not found.right
    assert not found.passed


def test_the_tolerance_is_absolute_and_relative_for_large_gradients() -> None:
    large = Broken(factor=1.0)
    nn.init.constant_(large.w, 3e5)
    check = outcome(large, tolerance=1e-7)["w"]
    assert check.difference > 1e-7
    assert check.passed
    assert not outcome(Broken(), tolerance=1e-7)["V"].passed
    assert outcome(Broken(), tolerance=1.0)["V"].right


def test_the_check_does_not_change_the_model() -> None:
    model = Broken()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    outcome(model)
    assert model.training
    assert all(p.dtype == torch.float32 and p.grad is None for p in model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_batch_norm_uses_batch_statistics_as_in_training() -> None:
    """With running averages, the check would test another function than training uses."""
    model = nn.Sequential(nn.Linear(2, 3), BatchNorm(width=3))
    batch = {"x": torch.randn(5, 2)}
    weights = torch.randn(5, 3)

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        kind = next(model.parameters()).dtype
        return (model(batch["x"].to(kind)) * weights.to(kind)).sum()

    found = {check.name: check for check in check_gradients(model, batch, loss)}
    assert all(check.right for check in found.values())
    assert found["0.bias"].difference < 1e-8
    model(batch["x"])  # a new model is in training mode
    gradient = torch.autograd.grad(loss(model, batch), [model[0].bias])[0]
    assert gradient.abs().max() < 1e-5, "what all rows share, their mean takes away"


# --- compared entries ------------------------------------------------------------------------------------


class Table(nn.Module):
    """Computes the sum of cubes of some rows of a table."""

    def __init__(self, rows: int, *, padding: int | None = None) -> None:
        super().__init__()
        self.rows = nn.Embedding(rows, 4, padding_idx=padding)
        self.fixed = nn.Parameter(torch.ones(2), requires_grad=False)
        nn.init.normal_(self.rows.weight)

    def forward(self, batch: Batch) -> Tensor:
        return (self.rows(batch["ids"]) ** 3).sum() + self.fixed.sum()


def table_check(table: Table, ids: list[int], **options: Any) -> BlockCheck:
    batch = {"ids": torch.tensor(ids)}
    found = list(check_gradients(table, batch, lambda model, batch: model(batch), **options))
    assert [check.name for check in found] == ["rows.weight"], "what is not trained is not checked"
    return found[0]


def test_all_entries_of_a_small_block_are_compared_except_padding() -> None:
    """The padding row has no gradient by design, although the loss depends on it."""
    assert table_check(Table(5), [1, 2, 0]).compared == 20
    check = table_check(Table(5, padding=0), [1, 2, 0])
    assert (check.compared, check.size, check.passed) == (16, 20, True)


def test_a_sample_of_a_large_block_is_compared() -> None:
    check = table_check(Table(1000), list(range(500)))
    assert (check.compared, check.shape) == (MOST_ENTRIES, (1000, 4))
    assert check.difference > 0
    assert check.passed


@pytest.mark.parametrize("factor", [0.0, 1.01])
def test_a_sample_detects_wrong_or_missing_gradients(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(model: nn.Module, batch: Batch) -> Tensor:
        return model(batch) * factor + model(batch).detach() * (1 - factor)

    batch = {"ids": torch.arange(500)}
    (check,) = check_gradients(Table(1000), batch, wrong)
    assert not check.right
    monkeypatch.setattr(gradient_check, "MOST_ENTRIES", 10)
    (check,) = check_gradients(Table(1000), batch, wrong)
    assert check.compared == 10
    assert not check.right


# --- kinks -----------------------------------------------------------------------------------------------


def test_parts_with_kinks_get_a_smaller_step() -> None:
    assert kinked_parts(nn.Sequential(nn.Linear(2, 2), nn.Tanh())) == []
    assert kinked_parts(nn.Sequential(nn.ReLU(), nn.MaxPool1d(2), nn.ReLU())) == ["ReLU", "MaxPool1d"]
    cnn = CharCNN(size=5, width=2, filters=2, kernel=3, dropout=0.0)
    assert kinked_parts(nn.Sequential(cnn)) == ["CharCNN"]
    texts = nn.Sequential(Convolution(width=2, hidden=2), Max(width=2), Mean(width=2))
    assert kinked_parts(texts) == ["Convolution", "Max"]
    assert step_for(cnn) == KINKED_STEP
    assert step_for(nn.Tanh()) == SMOOTH_STEP


def test_the_character_cnn_passes_only_with_the_smaller_step() -> None:
    """A larger step crosses a kink, and a correct network would fail."""
    cnn = CharCNN(size=3, width=1, filters=1, kernel=1, dropout=0.0)
    with torch.no_grad():
        cnn.characters.weight[1:, 0] = torch.tensor([1.0, 1.00002])  # the second is slightly larger
        cnn.convolution.weight.fill_(1.0)
    batch = {
        "chars": torch.tensor([[1, 2]]),
        "char_lengths": torch.tensor([2]),
        "forms": torch.tensor([[0]]),
    }

    def characters(epsilon: float | None) -> BlockCheck:
        found = check_gradients(cnn, batch, lambda part, batch: part(batch).sum(), epsilon=epsilon)
        return next(check for check in found if check.name == "characters.weight")

    assert characters(SMOOTH_STEP).difference > 0.1
    assert characters(KINKED_STEP).passed
    assert characters(None).passed
