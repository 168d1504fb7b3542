"""Tests what every loss term of the table must do, with taggers, classifiers and text pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gonie.errors import RecipeError
from gonie.nn.inference import to_tensors
from gonie.tasks.torch.checkpoint import moved_buffers, read_tensors
from gonie.training.fit import begin_training
from gonie.training.loop import seed_step
from gonie.training.loss_terms.table import LOSS_TERMS, with_terms
from gonie.training.run import resume_run, start_run

from .conftest import CASES, RECIPES, SETTINGS, WITH_WEIGHTS, Bench, Silent, trained

CPU = torch.device("cpu")


def test_every_term_is_tested() -> None:
    assert SETTINGS.keys() == LOSS_TERMS.keys()


def begun(bench: Bench, task: str, term: str) -> tuple[Any, Any, dict[str, Tensor]]:
    """Return a session, its term, and a training batch."""
    job = bench.job(task, term=term)
    session = begin_training(job)
    batch = to_tensors(job.train.batch(np.arange(6)), CPU)
    batch["domains"] = torch.arange(6) % 3
    session.model.train()
    return session, session.terms[term], batch


def value(session: Any, term: Any, batch: dict[str, Tensor], step: int = 0) -> Tensor:
    seed_step(1, step, CPU)
    return term(session.model, batch, session.model.states(batch))  # type: ignore[no-any-return]


@pytest.mark.parametrize(("task", "name"), CASES)
def test_a_term_is_finite_and_trains_the_model_but_not_its_start(bench: Bench, task: str, name: str) -> None:
    session, term, batch = begun(bench, task, name)
    start = {key: weight.clone() for key, weight in bench_start(session).items()}
    for weight in session.model.parameters():  # so that a distance to the start is not at its minimum
        weight.data.add_(0.05 * torch.randn_like(weight))
    if name == "adversary":
        term.steps += 40  # λ is 0 at the first step
    found = value(session, term, batch)
    assert found.shape == ()
    assert torch.isfinite(found)
    found.backward()
    moved = {key for key, weight in session.model.named_parameters() if weight.grad is not None}
    assert any("embedding" in key for key in moved)
    assert any("encoder" in key or key.startswith("words.") for key in moved)
    assert all(torch.isfinite(w.grad).all() for w in session.model.parameters() if w.grad is not None)
    frozen = getattr(term, "_start", None) or getattr(term, "_teacher", None)
    for weight in frozen.model.parameters() if hasattr(frozen, "model") else ():
        assert weight.grad is None
        assert not weight.requires_grad
    assert all(torch.equal(weight, start[key]) for key, weight in bench_start(session).items())


def bench_start(session: Any) -> dict[str, Tensor]:
    """Return the weights that terms compare with."""
    frozen = [
        part
        for term in session.terms.values()
        for part in (getattr(term, "_start", None), getattr(term, "_teacher", None))
        if hasattr(part, "model")
    ]
    return {f"{n}.{k}": w for n, part in enumerate(frozen) for k, w in part.model.named_parameters()}


@pytest.mark.parametrize("name", ["adversary", "mldg", "perturb"])
def test_a_term_moves_no_running_averages(bench: Bench, name: str) -> None:
    """Those of batch normalisation would be of perturbed vectors, of shifted weights or of other texts."""
    job = bench.job("classify", "train.start=none", "model.pooling.norm=batch", term=name)
    session = begin_training(job)
    session.model.train()
    batch = to_tensors(job.train.batch(np.arange(6)), CPU)
    states = session.model.states(batch)
    before = {key: buffer.clone() for key, buffer in moved_buffers(session.model).items()}
    with_terms(session.model.loss_of(states, batch), session.model, batch, states, session.terms.values())
    assert before
    assert all(torch.equal(buffer, before[key]) for key, buffer in moved_buffers(session.model).items())


@pytest.mark.parametrize(("task", "name"), CASES)
def test_a_term_depends_only_on_weights_batch_and_the_random_numbers_of_the_step(
    bench: Bench, task: str, name: str
) -> None:
    def computed() -> Tensor:
        return value(*begun(bench, task, name), step=5)

    first = computed()
    np.random.seed(7)  # which terms must not use
    torch.rand(3)
    assert torch.equal(first, computed())


@pytest.mark.parametrize("name", ["start-l2", "transport", "distill"])
def test_a_term_of_the_start_needs_one(bench: Bench, name: str) -> None:
    job = bench.job("tag", "train.start=none", term=name)
    with pytest.raises(RecipeError, match=rf"loss\.{name}: needs a trained model to start from"):
        begin_training(job)


RUNS = ("train.epochs=2", "train.checkpoint_seconds=1e-9")


def check_runs(recipe: Any, folder: Path) -> None:
    """Compare the export with the trained model, and a resumed run with an unbroken one."""
    display = Silent()
    assert start_run(recipe, folder / "whole", display) is not None
    assert any("its scores match the trained model's" in note for note in display.notes)
    with pytest.raises(RuntimeError, match="stopped"):
        start_run(recipe, folder / "broken", Silent(steps=7))
    assert resume_run(folder / "broken", Silent()) is not None
    for file in ("last.safetensors", "best.safetensors", "bundle/model.onnx"):
        whole, broken = (folder / run / file for run in ("whole", "broken"))
        assert whole.read_bytes() == broken.read_bytes(), file


@pytest.mark.long
@pytest.mark.usefixtures("domains")
@pytest.mark.parametrize(("task", "name"), CASES)
def test_a_run_with_a_term_is_exported_and_resumes_exactly(
    bench: Bench, task: str, name: str, tmp_path: Path
) -> None:
    check_runs(bench.recipe(task, *RUNS, term=name), tmp_path)
    names = [
        key for key in read_tensors(tmp_path / "whole" / "last.safetensors")[0] if key.startswith("loss.")
    ]
    assert bool(names) == (name in WITH_WEIGHTS)
    assert not any(
        key.startswith("loss.") for key in read_tensors(tmp_path / "whole" / "best.safetensors")[0]
    )


@pytest.mark.long
@pytest.mark.usefixtures("domains")
@pytest.mark.parametrize("task", RECIPES)
def test_adversary_and_mldg_run_together(bench: Bench, task: str, tmp_path: Path) -> None:
    recipe = bench.recipe(task, *SETTINGS["mldg"], *RUNS, term="adversary")
    assert recipe.loss.keys() == {"adversary", "mldg"}
    check_runs(recipe, tmp_path)
    weights = read_tensors(tmp_path / "whole" / "last.safetensors")[0]
    alone = tmp_path / "alone"
    assert start_run(bench.recipe(task, *RUNS, term="adversary"), alone, Silent()) is not None
    others = read_tensors(alone / "last.safetensors")[0]
    own = [name for name in weights if name.startswith(("model.", "loss.adversary."))]
    assert not all(torch.equal(weights[name], others[name]) for name in own), "MLDG changes the model"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize(("task", "name"), CASES)
def test_a_term_trains_on_a_gpu(bench: Bench, task: str, name: str, precision: str) -> None:
    changes = ["train.device=cuda", f"train.precision={precision}", "train.epochs=1"]
    model = trained(bench.job(task, *changes, term=name))
    assert all(torch.isfinite(weight).all() for weight in model.parameters())
