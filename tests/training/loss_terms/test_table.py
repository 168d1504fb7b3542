"""Tests the loss terms of a recipe: they are added in order, and all mistakes are reported at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import Field
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.nn.inference import to_tensors
from gonie.tasks.recipe import load_recipe
from gonie.tasks.section import Section
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.prepare import prepare, synthetic
from gonie.tasks.torch.training_setup import StepBatch
from gonie.tasks.written_recipe import write_recipe
from gonie.training.fit import build_model
from gonie.training.loss_terms.l2 import MatrixL2
from gonie.training.loss_terms.part_penalties import PartPenalties
from gonie.training.loss_terms.table import LOSS_TERMS, build_terms, check_terms, total_loss, with_terms
from gonie.training.loss_terms.term import LossTerm, TermContext, TermPart
from gonie.training.optim import build_optimizer
from gonie.training.run import start_run
from gonie.training.updates import GradientUpdate


class PullConfig(Section):
    """Settings of a term that pulls the bias of the scores to a target."""

    target: float = Field(description="where to")
    weight: float = Field(default=1.0, ge=0, description="how strongly")


class Pull:
    """Computes weight · (bias of the scores − target)² / examples, and records its batches."""

    def __init__(self, config: PullConfig, context: TermContext) -> None:
        self.config, self.recipe, self.examples = config, context.recipe, context.examples
        self.seen: list[Mapping[str, Tensor]] = []

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        self.seen.append(batch)
        bias = model.head().scores.bias
        found: Tensor = self.config.weight * (bias - self.config.target).square().sum() / self.examples
        return found


@pytest.fixture(autouse=True)
def pull(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a loss term only in the table."""
    part = TermPart(help="a pull of the scores", section=PullConfig, build=Pull)
    monkeypatch.setitem(LOSS_TERMS, "pull", part)


def built(recipe: CorpusRecipe, *, examples: int, model: nn.Module | None = None) -> list[LossTerm]:
    """Build the terms of a recipe without its data."""
    context = TermContext(recipe=recipe, model=model or nn.Linear(1, 1), examples=examples)
    return list(build_terms(context).values())


# --- terms of a recipe -----------------------------------------------------------------------------------


def test_a_recipe_without_loss_terms_has_only_part_penalties() -> None:
    assert [type(term) for term in built(load_recipe("ner"), examples=3)] == [PartPenalties]


def test_terms_have_a_fixed_order() -> None:
    """The sum of floats depends on the order."""
    recipe = load_recipe("ner", ["loss.pull.target=2", "train.l2=0.5"])
    terms = built(recipe, examples=3)
    assert [type(term) for term in terms] == [PartPenalties, MatrixL2, Pull]


def test_a_section_of_a_recipe_file_becomes_a_term(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[data]\ntrain = "a"\n[model.words]\n[loss.pull]\ntarget = 2.5\n', "utf-8")
    recipe = load_recipe(path, ["loss.pull.weight=3"])
    (_, term) = built(recipe, examples=7)
    assert isinstance(term, Pull)
    assert term.config == PullConfig(target=2.5, weight=3.0)
    assert (term.recipe, term.examples) == (recipe, 7)
    path.write_text(write_recipe(recipe), "utf-8")
    assert load_recipe(path) == recipe, "a run folder keeps it"


@pytest.mark.parametrize("name", ["ner", "subjectivity", "pairs"])
def test_the_total_loss_is_the_loss_plus_all_terms(name: str) -> None:
    changes = ["loss.pull.target=2", "train.l2=0.5", "model.elmo.bilm=not-there", "model.elmo.l2=0.25"]
    recipe = load_recipe(name, changes)
    specimen = synthetic(recipe)
    model, batch = specimen.model.eval(), specimen.batch
    terms = built(recipe, examples=4)
    plain = model.loss(batch)
    weights = [weight for key, weight in model.named_parameters() if ".mixes." in key and "weights" in key]
    mixes = 0.25 * sum(weight.square().sum() for weight in weights)
    bias = model.head().scores.bias
    wanted = plain + mixes + 0.5 / (2 * 4) * model.squares() + (bias - 2).square().sum() / 4
    found = total_loss(model, batch, terms)
    torch.testing.assert_close(found, wanted)
    assert torch.equal(found, with_terms(plain, model, batch, model.states(batch), terms))
    assert total_loss(model, batch, []).equal(plain)
    parameters = [weight for weight in model.parameters() if weight.requires_grad]
    for got, expected in zip(gradients(found, parameters), gradients(wanted, parameters), strict=True):
        torch.testing.assert_close(got, expected)


def gradients(loss: Tensor, parameters: list[Tensor]) -> list[Tensor]:
    return [
        torch.zeros(()) if gradient is None else gradient
        for gradient in torch.autograd.grad(loss, parameters, allow_unused=True)
    ]


# --- in training -----------------------------------------------------------------------------------------


def test_a_step_includes_the_terms_but_reports_the_plain_loss(toy: Path) -> None:
    recipe = load_recipe(toy / "toy.toml", ["loss.pull.target=2", "train.optimizer=sgd", "train.clip=0"])
    job = prepare(recipe, print)
    rows = np.arange(len(job.train))

    def stepped(*terms: Any) -> tuple[float, dict[str, Tensor]]:
        model = build_model(job).eval()
        optimizer = build_optimizer(recipe.train, model.named_parameters())
        update = GradientUpdate(
            model=model, optimizer=optimizer, config=recipe.train, terms=terms, resting=lambda _: ()
        )
        content = to_tensors(job.train.batch(rows), torch.device("cpu"))
        loss = update(StepBatch(content, tokens=len(rows), weight=1), rate=0.1, epochs_done=0.0)
        return float(loss), dict(model.named_parameters())

    term = Pull(PullConfig(target=2.0), TermContext(recipe=recipe, model=build_model(job), examples=1))
    (told, free), (also_told, pulled) = stepped(), stepped(term)
    assert told == also_told
    assert {key for key in free if not torch.equal(free[key], pulled[key])} == {"heads.tags.scores.bias"}
    start = build_model(job).head().scores.bias
    change = pulled["heads.tags.scores.bias"] - free["heads.tags.scores.bias"]
    torch.testing.assert_close(change, -0.1 * 2 * (start - 2.0), atol=1e-6, rtol=1e-4)
    (batch,) = term.seen
    wanted = to_tensors(job.train.batch(rows), torch.device("cpu"))
    assert all(torch.equal(batch[key], wanted[key]) for key in wanted)


def test_a_run_is_trained_with_the_terms_of_its_recipe(
    toy: Path, tmp_path: Path, silence: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Pull] = []

    def build(config: PullConfig, context: TermContext) -> Pull:
        made.append(Pull(config, context))
        return made[-1]

    part = TermPart(help="a pull of the scores", section=PullConfig, build=build)
    monkeypatch.setitem(LOSS_TERMS, "pull", part)
    recipe = load_recipe(toy / "toy.toml", ["loss.pull.target=2", "train.epochs=2"])
    assert start_run(recipe, tmp_path / "run", silence) is not None
    (term,) = made
    assert term.examples == 80, "sentences of the training file"
    assert len(term.seen) == 2 * 10, "a step each"


# --- refusals --------------------------------------------------------------------------------------------


def problems(*changes: str, name: str = "ner") -> list[str]:
    with pytest.raises(RecipeError) as refused:
        check_terms(load_recipe(name, changes))
    return refused.value.problems


def test_unknown_terms_unknown_keys_and_invalid_values_are_refused_together() -> None:
    found = problems("loss.pul.target=2", "loss.pull.weight=-1", "loss.pull.wieght=1", "loss.push.weight=1")
    assert [problem.partition(": ")[0] for problem in found] == [
        "loss.pul",
        "loss.pull.target",
        "loss.pull.weight",
        "loss.pull.wieght",
        "loss.push",
    ]
    assert found[0] == "loss.pul: unknown loss term; did you mean 'pull'?"
    assert found[2] == "loss.pull.weight: must be at least 0: -1"


def test_an_empty_table_refuses_every_term(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(LOSS_TERMS):
        monkeypatch.delitem(LOSS_TERMS, name)
    assert problems("loss.pull.target=2") == ["loss.pull: unknown loss term; known: none"]


@pytest.mark.parametrize("use", [check_terms, lambda recipe: built(recipe, examples=1)])
def test_valid_terms_are_accepted_and_invalid_ones_refused(use: Callable[[Any], Any]) -> None:
    use(load_recipe("ner", ["loss.pull.target=2"]))
    with pytest.raises(RecipeError, match=r"loss\.pull\.target"):
        use(load_recipe("ner", ["loss.pull.target=much"]))


def test_a_value_in_place_of_a_term_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"loss\.pull: must be a table"):
        load_recipe("ner", ["loss.pull=3"])


def test_a_run_with_unknown_terms_is_refused_before_anything_is_written(
    toy: Path, tmp_path: Path, silence: Any
) -> None:
    recipe = load_recipe(toy / "toy.toml", ["loss.other.weight=1"])
    with pytest.raises(RecipeError, match=r"loss\.other: unknown loss term"):
        start_run(recipe, tmp_path / "run", silence)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", LOSS_TERMS)
def test_every_term_of_the_table_has_descriptions(name: str) -> None:
    part = LOSS_TERMS[name]
    assert part.help
    assert part.section.__doc__
    assert all(field.description for field in part.section.model_fields.values())
