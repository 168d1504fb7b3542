"""Tests distillation of the start: its probabilities, its formula, and a task that it must win."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gonie.errors import RecipeError
from gonie.nn.crf import brute_force
from gonie.nn.crf.chain import Chain
from gonie.nn.inference import to_tensors
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import begin_training
from gonie.training.loss_terms.distill import Distill
from gonie.training.run import start_run
from support.growing_types import write_files

from .conftest import Bench, Silent, trained

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=["crf", "softmax"])
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Train a tagger of people, and write a file in which only places are tagged."""
    folder, head = tmp_path_factory.mktemp("types"), request.param
    write_files(folder, {"old": ("PER",), "new": ("LOC",), "both": ("PER", "LOC")}, head=head)
    assert start_run(load_recipe(folder / "old.toml"), folder / "start", Silent()) is not None
    return folder, head


def extended(people: tuple[Path, str], *changes: str) -> Any:
    """Prepare a tagger of both types on the file of places."""
    folder, _ = people
    changes = (f"train.start={folder / 'start'}", "train.keep_labels=true", *changes)
    return prepare(load_recipe(folder / "new.toml", changes), lambda text: None)


def begun(job: Any) -> tuple[Any, Distill, dict[str, Tensor]]:
    session = begin_training(job)
    term = session.terms["distill"]
    assert isinstance(term, Distill)
    session.model.eval()
    return session, term, to_tensors(job.train.batch(np.arange(len(job.train))[-3:]), CPU)


@pytest.mark.parametrize("scheme", ["BIOES", "IO", "BILOU"])
def test_a_start_with_tags_of_another_scheme_is_refused(people: tuple[Path, str], scheme: str) -> None:
    """Its tags that this model lacks would be lost, and with them what the start says of their tokens."""
    folder, _ = people
    changes = [f"train.start={folder / 'start'}", f"data.model_scheme={scheme}", "loss.distill.weight=1"]
    told = rf"start are IOB2, those of this model {scheme}; set data\.model_scheme=IOB2"
    job = prepare(load_recipe(folder / "both.toml", changes), lambda text: None)
    with pytest.raises(RecipeError, match=rf"loss\.distill: .*{told}"):
        begin_training(job)
    with pytest.raises(RecipeError, match=rf"train\.keep_labels: .*{told}"):
        extended(people, f"data.model_scheme={scheme}")


@pytest.mark.parametrize("changes", [(), ("train.replay=3",), ('data.types=["PER","LOC"]',)])
def test_the_value_equals_enumeration(people: tuple[Path, str], changes: tuple[str, ...]) -> None:
    """KL over the old tags that the file leaves open, of marginals over all paths that it permits.

    In replayed sentences it leaves none open. If the file has all types, all old tags are compared.
    """
    job = extended(people, "loss.distill.weight=0.5", "loss.distill.temperature=3", *changes)
    session, term, batch = begun(job)
    torch.manual_seed(2)
    for weight in session.model.parameters():
        weight.data.add_(0.3 * torch.randn_like(weight))
    labels, old = list(job.encoding.labels), set(job.start.encoding.labels)
    kept = torch.tensor([label in old for label in labels])
    table = job.data.options
    chains = [
        Chain(*(part.detach() / 3 for part in each.head().chain()))
        for each in (session.model, term._teacher.model)
    ]
    scores = [each(batch).detach() / 3 for each in (session.model, term._teacher.model)]
    wanted = 0.0
    for row, length in enumerate(batch["mask"].sum(1).tolist()):
        tags = batch["tags"][row, :length]
        options = torch.from_numpy(table)[tags] if table is not None else kept.expand(length, -1)
        old_options = options & kept
        several = old_options.sum(1) > 1
        own_given = old_options.where(several[:, None], options)
        own = brute_force.marginals(scores[0][row, :length].masked_fill(~own_given, -1e4), chains[0])
        given = old_options.where(old_options.any(1)[:, None], kept)
        teacher = brute_force.marginals(scores[1][row, :length].masked_fill(~given, -1e4), chains[1])
        for t in range(length):
            if several[t]:
                q, p = teacher[t, old_options[t]], own[t, old_options[t]]
                wanted += float((q * (q.log() - p.log())).sum()) / len(batch["mask"])
    if changes == ("train.replay=3",):
        assert (old_options.sum(1) <= 1).all(), "the last sentence is a replayed one"
    found = term(session.model, batch, session.model.states(batch))
    assert found.item() == pytest.approx(0.5 * 3**2 * wanted, rel=1e-3)


def test_there_is_nothing_to_distill_before_the_first_step(bench: Bench) -> None:
    """With the labels of the start, model and start are the same. Without O among them all is compared."""
    for task in ("classify", "pair"):
        session, term, batch = begun(bench.job(task, term="distill"))
        value = term(session.model, batch, session.model.states(batch))
        assert value.item() == pytest.approx(0.0, abs=1e-6)


def test_the_teacher_has_the_probabilities_of_the_start(people: tuple[Path, str]) -> None:
    job = extended(people, "loss.distill.weight=1")
    _, term, batch = begun(job)
    old = job.start.encoding
    places = [list(job.encoding.labels).index(label) for label in old.labels]
    plain = to_tensors(old.encode(list(job.data.sentences)[-3:]).batch(np.arange(3)), CPU)
    scores = job.start.model.eval()(plain)
    torch.testing.assert_close(term._teacher.scores(batch)[:, :, places], scores)


def test_labels_of_the_start_must_be_kept(people: tuple[Path, str]) -> None:
    job = extended(people, "loss.distill.weight=1", "train.keep_labels=false")
    with pytest.raises(RecipeError, match=r"not kept: B-PER|not kept: .*PER"):
        begin_training(job)


def test_values_are_refused(pair_toy: Path, pair_runs: Path) -> None:
    changes = [f"train.start={pair_runs / 'values'}", "loss.distill.weight=1"]
    job = prepare(load_recipe(pair_toy / "values.toml", changes), lambda text: None)
    with pytest.raises(RecipeError, match=r"loss\.distill: works only with labels"):
        begin_training(job)


def recalls(people: tuple[Path, str], job: Any) -> dict[str, float]:
    """Train a job, and return the recall of each type on sentences in which both are tagged."""
    folder, _ = people
    both = prepare(load_recipe(folder / "both.toml"), lambda text: None).data.dev
    tagger = job.predictor(trained(job))
    found = [tagging.tags for tagging in tagger.tag_encoded(tagger.encode(both))]
    pairs = [(g, f) for s, tags in zip(both, found, strict=True) for g, f in zip(s.tags, tags, strict=True)]
    return {
        kind: sum(f == g for g, f in pairs if g.endswith(kind)) / sum(g.endswith(kind) for g, _ in pairs)
        for kind in ("PER", "LOC")
    }


@pytest.mark.long
def test_old_types_survive_training_on_a_file_of_new_types(people: tuple[Path, str]) -> None:
    """People are found as well as before, and places as well as without the term."""
    plain = recalls(people, extended(people, 'data.types=["PER","LOC"]'))
    kept = recalls(people, extended(people, "loss.distill.weight=1"))
    assert plain["PER"] < 0.2, "the file claims to have people, and they are O in it"
    assert kept["PER"] > 0.95
    assert kept["LOC"] > 0.95


@pytest.mark.long
def test_replay_restores_a_forgotten_type(people: tuple[Path, str]) -> None:
    folder, _ = people
    changes = [f"train.start={folder / 'start'}", "train.keep_labels=true", 'data.types=["PER","LOC"]']
    forgotten = folder / "forgotten"
    assert start_run(load_recipe(folder / "new.toml", changes), forgotten, Silent()) is not None
    again = [f"train.start={forgotten}", "train.keep_labels=true"]
    without = prepare(load_recipe(folder / "new.toml", again), lambda text: None)
    replay = [*again, f"data.replay={folder / 'old.conll'}", "train.replay=30"]
    reminded = prepare(load_recipe(folder / "new.toml", replay), lambda text: None)
    assert recalls(people, without)["PER"] < 0.2
    found = recalls(people, reminded)
    assert found["PER"] > 0.95
    assert found["LOC"] > 0.95
