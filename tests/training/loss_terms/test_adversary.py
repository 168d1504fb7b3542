"""Tests the domain adversary: its gradient, its schedule, its file, and a task that it must win."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge

from gonie.errors import RecipeError, ResumeError
from gonie.nn.inference import inferring, to_tensors
from gonie.tasks.recipe import load_recipe
from gonie.training.fit import begin_training
from gonie.training.loss_terms.adversary import (
    RIDGE,
    Adversary,
    AdversaryConfig,
    RecentVectors,
    _sampled,
    _standardised,
    fit,
    relative_error,
)
from gonie.training.run import resume_run, start_run

from .conftest import Bench, Silent, Texts, accuracy, encoded_texts, text_job, trained

CPU = torch.device("cpu")


def test_the_model_gets_the_reversed_gradient_of_the_classifier(bench: Bench) -> None:
    """It is −λ times the gradient of the error of the classifier, whose own weights are constant."""
    job = bench.job("tag", "loss.adversary.weight=0.7", term="adversary")
    session = begin_training(job)
    term = session.terms["adversary"]
    assert isinstance(term, Adversary)
    term.steps.fill_(10**6)
    assert term.strength() == pytest.approx(0.7, abs=1e-3)
    batch = to_tensors(job.train.batch(np.arange(4)), CPU) | {"domains": torch.tensor([0, 1, 2, 1])}
    states = session.model.eval().states(batch).detach().requires_grad_()
    term._target = None
    torch.manual_seed(1)
    term(session.model, batch, states).backward()
    plain = states.detach().clone().requires_grad_()
    mask = batch["mask"].unsqueeze(2)
    means = (plain * mask).sum(1) / mask.sum(1)
    standard = (means - means.mean(0)) / (means.var(0, correction=0) + 1e-6).sqrt()
    gold = torch.nn.functional.one_hot(batch["domains"], term._outputs)
    error = torch.zeros(())
    for at, fitted in enumerate(without_each(standard.detach(), batch["domains"], outputs=term._outputs)):
        error = error + (gold[at] - fitted(standard[at])).square().sum()
    (error / (gold - gold.float().mean(0)).square().sum()).backward()
    assert states.grad is not None
    assert plain.grad is not None
    torch.testing.assert_close(states.grad, -term.strength() * plain.grad, rtol=1e-3, atol=1e-5)


def without_each(
    x: torch.Tensor, domains: torch.Tensor, *, outputs: int, hidden: int = 7
) -> Iterator[Callable[[torch.Tensor], torch.Tensor]]:
    """Yield the classifiers that ridge regression fits to all vectors but one, with the units of ``fit``."""
    torch.manual_seed(1)
    whole = fit(x, domains, outputs=outputs, hidden=hidden)
    gold = torch.nn.functional.one_hot(domains, outputs).to(x)

    def features(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, (x @ whole.inner.t() + whole.bias).relu()], -1)

    for at in range(len(x)):
        rows = [row for row in range(len(x)) if row != at]
        shares, middle = gold[rows].mean(0), features(x[rows]).mean(0)
        own = features(x[rows]) - middle
        penalty = RIDGE * own.shape[1] * torch.eye(own.shape[1]).to(x)
        weights = torch.linalg.solve(own.t() @ own + penalty, own.t() @ (gold[rows] - shares))
        yield lambda x, p=shares, m=middle, v=weights: p + (features(x) - m) @ v


def test_the_classifier_is_that_of_ridge_regression() -> None:
    torch.manual_seed(1)
    x, domains = torch.randn(50, 3), torch.arange(50) % 3
    classifier = fit(x, domains, outputs=4, hidden=5)
    features = torch.cat([x, (x @ classifier.inner.t() + classifier.bias).relu()], 1)
    gold = torch.nn.functional.one_hot(domains, 4).float()
    reference = Ridge(alpha=RIDGE * features.shape[1]).fit(features.numpy(), gold.numpy())
    torch.testing.assert_close(
        classifier(x), torch.from_numpy(reference.predict(features.numpy())).float(), rtol=1e-3, atol=1e-4
    )
    error, chance = ((gold - each).square().sum() for each in (classifier(x), gold.mean(0)))
    torch.testing.assert_close(relative_error(classifier(x), domains, classifier.shares), error / chance)


def test_each_vector_is_judged_by_all_others() -> None:
    torch.manual_seed(2)
    x, domains = torch.randn(20, 3, dtype=torch.float64), torch.arange(20) % 3
    torch.manual_seed(1)
    found = fit(x, domains, outputs=3, hidden=5).held_out(x, domains)
    for at, fitted in enumerate(without_each(x, domains, outputs=3, hidden=5)):
        torch.testing.assert_close(found[at], fitted(x[at]))


@pytest.mark.parametrize("size", [6, 20, 100, 300, 1000])
def test_noise_is_no_domain_however_few_the_vectors(size: int) -> None:
    """A classifier that memorises its vectors must not count as one that tells their domains."""
    torch.manual_seed(1)
    x, domains = standardised(size, 400)
    classifier = fit(x, domains, outputs=2, hidden=AdversaryConfig().hidden)
    assert float(relative_error(classifier.held_out(x, domains), domains, classifier.shares)) > 0.85


def standardised(size: int, width: int, *, gap: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return random vectors of two domains, whose first two units differ by ``gap``."""
    domains = torch.arange(size) % 2
    x = torch.randn(size, width)
    x[:, :2] += gap * domains.unsqueeze(1)
    return _standardised(x), domains


def errors(*, width: int, size: int, gap: float = 0.0) -> list[float]:
    """Fit classifiers to batches as the term does. Return the error of each on the next batch."""
    torch.manual_seed(1)
    recent, found = RecentVectors(width=width), []
    for _ in range(150):
        x, domains = standardised(size, width, gap=gap)
        recent.add(x, domains)
        classifier = fit(*recent.used(), outputs=2, hidden=AdversaryConfig().hidden)
        x, domains = standardised(size, width, gap=gap)
        found.append(float(relative_error(classifier(x), domains, classifier.shares)))
    return found


@pytest.mark.parametrize("size", [20, 60])
@pytest.mark.parametrize(("width", "bar"), [(8, 0.3), (400, 0.6)])
def test_domains_are_told_apart_in_batches_that_the_classifier_has_not_seen(
    width: int, size: int, bar: float
) -> None:
    """A classifier that memorises small batches learns nothing, so the model has nothing to fear."""
    found = errors(width=width, size=size, gap=4.0)
    assert sum(found[-20:]) / 20 < bar


@pytest.mark.parametrize("width", [8, 400])
def test_one_domain_in_a_batch_gives_a_finite_term(width: int) -> None:
    x, domains = torch.randn(4, width, requires_grad=True), torch.zeros(4, dtype=torch.int64)
    classifier = fit(x.detach(), domains, outputs=2, hidden=5)
    relative_error(classifier.held_out(x, domains), domains, classifier.shares).backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()


def test_examples_without_a_domain_do_not_count(bench: Bench) -> None:
    """Kept sentences (``train.replay``) may come from domains that the new files do not have."""
    job = bench.job("tag", "loss.adversary.weight=0.7", term="adversary")
    session = begin_training(job)
    term = session.terms["adversary"]
    assert isinstance(term, Adversary)
    term._target = None
    term.steps.fill_(10**6)
    batch = to_tensors(job.train.batch(np.arange(4)), CPU)
    for domains in ([0, 1, -1, 1], [-1] * 4):
        states = session.model.eval().states(batch).detach().requires_grad_()
        value = term(session.model, batch | {"domains": torch.tensor(domains)}, states)
        value.backward()
        assert states.grad is not None
        assert torch.isfinite(states.grad).all()
        assert not states.grad[2].any()


def test_the_latest_vectors_are_kept() -> None:
    recent = RecentVectors(width=1, rows=4)
    for start in (0, 3):
        numbers = torch.arange(start, start + 3)
        recent.add(numbers.unsqueeze(1).float(), numbers)
    assert sorted(recent.domains.tolist()) == [0, 3, 4, 5]
    assert torch.equal(recent.vectors.squeeze(1).long(), recent.domains)


def test_of_a_large_batch_a_sample_is_classified() -> None:
    numbers = torch.arange(10, 30)
    vectors, domains = _sampled(numbers.unsqueeze(1).float(), numbers, size=4)
    assert len(set(domains.tolist())) == 4
    assert torch.equal(vectors.squeeze(1).long(), domains)


def test_the_scale_of_states_does_not_matter(bench: Bench) -> None:
    """So the model cannot escape the classifier by shrinking all states."""
    job = bench.job("tag", "loss.adversary.text=none", term="adversary")
    batch = to_tensors(job.train.batch(np.arange(6)), CPU) | {"domains": torch.arange(6) % 3}
    values = []
    for scale in (1.0, 100.0):
        session = begin_training(job)
        term = session.terms["adversary"]
        assert isinstance(term, Adversary)
        term.steps.fill_(10**6)
        states = session.model.eval().states(batch).detach()
        torch.manual_seed(1)
        values.append(term(session.model, batch, scale * (10 * states + 3)))
    torch.testing.assert_close(values[0], values[1], rtol=1e-3, atol=1e-4)


def test_the_strength_rises_as_in_the_paper(bench: Bench) -> None:
    job = bench.job("tag", "train.epochs=2", "loss.adversary.ramp=0.5", term="adversary")
    term = begin_training(job).terms["adversary"]
    assert isinstance(term, Adversary)
    assert term.strength() == 0.0
    for steps, progress in ((5, 0.5), (10, 1.0), (20, 1.0)):  # 2 epochs of 10 steps, half of them
        term.steps.fill_(steps)
        assert term.strength() == pytest.approx(2 / (1 + math.exp(-10 * progress)) - 1)


@pytest.mark.parametrize("per", ["sentence", "token"])
def test_padding_and_company_do_not_change_what_is_classified(bench: Bench, per: str) -> None:
    job = bench.job("tag", f"loss.adversary.per={per}", term="adversary")
    session = begin_training(job)
    term, model = session.terms["adversary"], session.model.eval()
    assert isinstance(term, Adversary)
    alone, together = (to_tensors(job.train.batch(np.array(rows)), CPU) for rows in ([3], [3, 0, 1]))
    one = term._read(model.states(alone), alone, torch.zeros(1, dtype=torch.int64))[0]
    many = term._read(model.states(together), together, torch.zeros(3, dtype=torch.int64))[0]
    torch.testing.assert_close(many[: len(one)], one)


def test_named_domains_of_training_examples_are_told_apart(bench: Bench) -> None:
    job = bench.job("tag", "loss.adversary.text=none", term="adversary")
    session = begin_training(job)
    term = session.terms["adversary"]
    assert isinstance(term, Adversary)
    assert term._outputs == 3
    batch = to_tensors(job.train.batch(np.arange(3)), CPU) | {"domains": torch.tensor([0, 2, 1])}
    assert torch.isfinite(term(session.model, batch, session.model.states(batch)))
    del job.domains
    with pytest.raises(RecipeError, match=r"loss\.adversary: there is only one domain; add text"):
        begin_training(job)


def test_one_domain_of_several_is_not_enough(bench: Bench) -> None:
    """``train.shots`` may leave examples of one file alone, whatever its number."""
    job = bench.job("tag", "loss.adversary.text=none", term="adversary")
    job.domains = np.full(len(job.train), 2)
    with pytest.raises(RecipeError, match=r"loss\.adversary: there is only one domain"):
        begin_training(job)


@pytest.mark.parametrize("term", ["adversary", "mldg"])
def test_a_domain_that_is_left_out_is_named_as_the_cause(bench: Bench, toy: Path, term: str) -> None:
    files = [f"data.train.web={toy}/train.conll", f"data.train.news={toy}/dev.conll"]
    text = ["loss.adversary.text=none"] if term == "adversary" else []
    job = bench.job("tag", *files, "data.leave_out=news", *text, term=term)
    job.domains = np.zeros(len(job.train), dtype=np.int64)
    with pytest.raises(
        RecipeError,
        match=rf"loss\.{term}: there is only one domain, because data\.leave_out = news; name the files of "
        "three or more domains with --set data.train.NAME=FILE",
    ):
        begin_training(job)


@pytest.mark.parametrize("term", ["adversary", "transport"])
def test_a_term_that_can_change_no_state_is_refused(bench: Bench, term: str) -> None:
    job = bench.job("tag", 'train.freeze=["embedding","encoder"]', term=term)
    with pytest.raises(RecipeError, match=rf"loss\.{term}: has no effect, because no trained weight"):
        begin_training(job)


@pytest.mark.parametrize("name", ["target.txt", "target.conll"])
def test_the_target_is_plain_text_or_a_file_of_the_task(
    bench: Bench, toy: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    text = (
        (toy / "dev.conll").read_text("utf-8")
        if name.endswith("conll")
        else "Anna is in Lima .\n\nIt rains .\n"
    )
    path.write_text(text, "utf-8")
    job = bench.job("tag", f"loss.adversary.text={path}", term="adversary")
    notes: list[str] = []
    term = begin_training(job, notes.append).terms["adversary"]
    assert isinstance(term, Adversary)
    assert term._target is not None
    assert len(term._target) == (20 if name.endswith("conll") else 2)
    assert any(name in note for note in notes)


def test_paths_are_absolute_and_missing_files_are_refused(
    bench: Bench, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = load_recipe(toy / "toy.toml", ["loss.adversary.text=target.txt", "train.epochs=1"])
    with pytest.raises(RecipeError, match=r"loss\.adversary\.text: file not found"):
        start_run(recipe, tmp_path / "run", Silent())
    Path("target.txt").write_text("Anna sleeps .\n", "utf-8")
    assert start_run(recipe, tmp_path / "run", Silent()) is not None
    kept = load_recipe(tmp_path / "run" / "recipe.toml").loss["adversary"]
    assert kept == {"text": str(tmp_path / "target.txt")}


def test_a_run_does_not_resume_with_another_target(toy: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("Anna sleeps .\n", "utf-8")
    changes = [f"loss.adversary.text={target}", "train.epochs=2", "train.checkpoint_seconds=1e-9"]
    with pytest.raises(RuntimeError, match="stopped"):
        start_run(load_recipe(toy / "toy.toml", changes), tmp_path / "run", Silent(steps=3))
    target.write_text("Bert sleeps .\n", "utf-8")
    with pytest.raises(ResumeError, match="a file that the recipe names changed"):
        resume_run(tmp_path / "run", Silent())


# --- a task that it must win -----------------------------------------------------------------------------

MOODS = {"good": ("fine", "lovely", "clever", "warm"), "bad": ("dull", "silly", "endless", "cold")}
PLACES = ("here", "there")


def texts(number: int, domain: int, seed: int) -> Texts:
    """Return texts with a mood that fits 90% of labels, whose domain shows in the place that most name."""
    chance = random.Random(seed)
    found = []
    for at in range(number):
        label, other = (("good", "bad"), ("bad", "good"))[at % 2]
        words = [f"w{chance.randrange(24)}" for _ in range(4)]
        words.append(PLACES[domain if chance.random() < 0.95 else 1 - domain])
        words.append(chance.choice(MOODS[label if chance.random() < 0.9 else other]))
        found.append((label, " ".join(chance.sample(words, len(words)))))
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", [101, 102, 103])
def test_a_fresh_probe_cannot_tell_the_domain_while_the_task_is_learned(tmp_path: Path, seed: int) -> None:
    target = tmp_path / "target.txt"
    target.write_text("".join(f"{text}\n" for _, text in texts(6000, 1, seed=2)), "utf-8")
    size = 1000
    held = texts(2 * size, 0, seed=3) + texts(2 * size, 1, seed=4)
    domains, learning = np.repeat([0, 1], 2 * size), np.arange(4 * size) % (2 * size) < size
    changes = [
        "model.dropout.input=0",
        "model.dropout.output=0",
        "train.batch_sentences=64",
        "train.epochs=5",
        "train.schedule=linear",
        f"train.seed={seed}",
    ]
    probes, scores, sizes = [], [], []
    for term in (
        [],
        [f"loss.adversary.text={target}", "loss.adversary.ramp=0.3"],
    ):
        job = text_job(tmp_path, *changes, *term, train=texts(6000, 0, seed=1))
        model = trained(job)
        batch = encoded_texts(job, model, tmp_path, held)
        with inferring(model):
            states = model.states(batch).numpy()
        probe = LogisticRegression(max_iter=3000).fit(states[learning], domains[learning])
        probes.append(probe.score(states[~learning], domains[~learning]))
        scores.append(accuracy(model, batch))
        sizes.append(np.linalg.norm(states, axis=1).mean())
    assert min(scores) > 0.88, "in both domains, of 0.9"
    assert probes[0] > 0.68, "without the adversary, the states show the domain"
    assert abs(probes[1] - 0.5) < 0.05
    assert sizes[1] > 0.5 * sizes[0], "not because all states are small"
