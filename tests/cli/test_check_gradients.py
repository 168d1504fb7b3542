"""Tests `gonie check-gradients`: it needs no files, sets the exit status and refuses invalid options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gonie.nn import Mean
from gonie.tasks.parts import ENCODERS, POOLINGS, Part

Gonie = Callable[..., Any]


def test_a_correct_model_passes_and_no_file_is_written(
    gonie: Gonie, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = gonie("check-gradients", "rnn", "--seed", "4")
    assert outcome.code == 0, outcome.err
    for words in ("ε = 0.0001 (all parts are smooth)", "encoder.weight_hh", "3×3", "9 of 9", "blocks pass"):
        assert words in outcome.out, words
    assert "fails" not in outcome.out
    assert list(tmp_path.iterdir()) == []


def test_the_output_explains_the_choice_of_epsilon(gonie: Gonie, toy: Path) -> None:
    letters = ("model.chars.width=3", "model.chars.hidden=3", "data.vectors=no", "model.words.tuned=none")
    small = (*letters, "model.encoder.kind=none", "model.head.kind=softmax")
    outcome = gonie(
        "check-gradients", toy / "toy.toml", *(part for each in small for part in ("--set", each))
    )
    assert outcome.code == 0, outcome.err
    assert "ε = 1e-06 (small because of kinks in CharCNN)" in outcome.out
    assert "not trained, so not checked: embedding.parts.0.weight" in outcome.out
    assert "ε = 0.001 (--epsilon)" in gonie("check-gradients", "crf", "--epsilon", "0.001").out


@pytest.mark.long
def test_a_classifier_is_checked_at_both_levels(gonie: Gonie) -> None:
    outcome = gonie("check-gradients", "reviews-han")
    assert outcome.code == 0, outcome.err
    for words in (
        "3 labels; 5 synthetic texts: 9 sentences, 19 tokens",
        "words.pooling.queries",
        "sentences.pooling.queries",
        "heads.label.scores.direct.bag.weight",
        "blocks pass",
    ):
        assert words in outcome.out, words


def test_the_data_files_of_the_recipe_are_not_needed(gonie: Gonie, toy: Path, tmp_path: Path) -> None:
    text = (toy / "toy.toml").read_text("utf-8").replace(str(toy), str(tmp_path / "gone"))
    (tmp_path / "toy.toml").write_text(text, "utf-8")
    assert gonie("check-gradients", tmp_path / "toy.toml").code == 0


class Forgetful(torch.autograd.Function):
    """Computes tanh, with a backward pass that omits the derivative."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.tanh()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0]


class Wrong(nn.Module):
    """An encoder with a wrong gradient."""

    def __init__(self, *, width: int, hidden: int) -> None:
        super().__init__()
        self.input_width, self.width = width, hidden
        self.linear = nn.Linear(width, hidden)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = Forgetful.apply(self.linear(x))
        return states.masked_fill(~mask.unsqueeze(2), 0.0)


def test_an_encoder_with_a_wrong_gradient_is_named_and_exits_with_1(
    gonie: Gonie, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Part("wrong", lambda width, config, dropout: Wrong(width=width, hidden=config.hidden))
    monkeypatch.setitem(ENCODERS, "rnn", wrong)
    outcome = gonie("check-gradients", "rnn")
    assert outcome.code == 1
    rows = {line.split()[0]: line.split()[-1] for line in outcome.out.splitlines() if line.strip()}
    assert rows["encoder.linear.weight"] == rows["embedding.weight"] == "fails"
    assert rows["heads.tags.scores.weight"] == rows["heads.tags.scores.direct.context.weight"] == "ok"
    assert "blocks fail: embedding.weight, encoder.linear.weight, encoder.linear.bias" in outcome.out


class Blunt(Mean):
    """Mean pooling times a trained weight that has a wrong gradient."""

    def __init__(self, *, width: int) -> None:
        super().__init__(width=width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        vectors, weights = super().forward(x, mask)
        return Forgetful.apply(vectors * self.scale), weights


def test_a_pooling_with_a_wrong_gradient_is_named(
    gonie: Gonie, text_toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blunt = Part("blunt", lambda width, config, both_ways: Blunt(width=width))
    monkeypatch.setitem(POOLINGS, "attention", blunt)
    smooth = ("--set", "model.pooling.norm=none", "--set", "model.bag=none")
    outcome = gonie("check-gradients", text_toy / "texts.toml", *smooth)
    assert outcome.code == 1
    rows = {line.split()[0]: line.split()[-1] for line in outcome.out.splitlines() if line.strip()}
    assert rows["words.pooling.scale"] == "fails"
    assert rows["heads.label.scores.weight"] == "ok"


@pytest.mark.long
@pytest.mark.parametrize("name", ["pairs", "similarity-ko"])
def test_the_shipped_pair_recipes_pass(gonie: Gonie, name: str) -> None:
    outcome = gonie("check-gradients", name)
    assert outcome.code == 0, outcome.out
    assert "heads.label.scores.weight" in outcome.out
    assert "fails" not in outcome.out


def test_a_small_pair_model_passes(gonie: Gonie, pair_toy: Path) -> None:
    small = ("model.matching.kind=siamese", "model.encoder.kind=none", "model.head.hidden=0")
    options = [part for change in small for part in ("--set", change)]
    outcome = gonie("check-gradients", pair_toy / "values.toml", *options)
    assert outcome.code == 0, outcome.out
    assert "heads.label.scores.weight" in outcome.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon", "0"], "--epsilon must be between 1e-10 and 0.1: 0"),
        (["--epsilon", "nan"], "--epsilon must be between 1e-10 and 0.1: nan"),
        (["--tolerance", "-1"], "--tolerance must be a finite number above 0: -1"),
        (["--seed", "-1"], "train.seed"),
        (["--set", "model.head.weights.XYZ=-1"], "model.head.weights"),
        (["--set", "model.encoder.hiden=3"], "did you mean 'hidden'?"),
        (["--set", "data=none-of-it"], "data"),
        (["--set", 'model.head.forbidden=["nonsense"]'], "invalid rule 'nonsense'"),
    ],
)
def test_invalid_options_are_refused(gonie: Gonie, options: list[str], words: str) -> None:
    assert gonie("check-gradients", "ner", *options).refused(words)


def test_an_unknown_recipe_gets_a_suggestion(gonie: Gonie) -> None:
    assert gonie("check-gradients", "nr").refused("Did you mean ner?")
