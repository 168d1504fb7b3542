"""Tests distillation of the start: its probabilities, its formula, and a task that it must win."""

from __future__ import annotations

import random
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

from .conftest import Bench, Silent, trained

CPU = torch.device("cpu")
PEOPLE, PLACES = ("Anna", "Bert", "Cleo", "Dora"), ("Seoul", "Paris", "Oslo", "Lima")
FRAMES = ("{person} lives in {place} .", "{place} is far .", "we met {person} and {person} .", "it rains .")
RECIPE = """
[data]
train = "{folder}/{name}.conll"
dev = "{folder}/{name}.conll"
[model.words]
width = 12
[model.encoder]
hidden = 12
[model.head]
kind = "{head}"
[model.dropout]
input = 0.1
output = 0.1
[train]
epochs = 10
lr = 0.02
batch_sentences = 8
device = "cpu"
"""


def sentences(number: int, seed: int, types: tuple[str, ...]) -> str:
    """Return sentences with people and places, of which only some types are tagged."""
    chance = random.Random(seed)
    blocks = []
    for _ in range(number):
        rows = []
        for word in chance.choice(FRAMES).split():
            kind = {"{person}": "PER", "{place}": "LOC"}.get(word)
            names = {"PER": PEOPLE, "LOC": PLACES}.get(kind or "")
            tag = f"B-{kind}" if kind in types else "O"
            rows.append(f"{chance.choice(names) if names else word}\t{tag}")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


@pytest.fixture(scope="module", params=["crf", "softmax"])
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Train a tagger of people, and write a file in which only places are tagged."""
    folder, head = tmp_path_factory.mktemp("types"), request.param
    for name, types in {"old": ("PER",), "new": ("LOC",), "both": ("PER", "LOC")}.items():
        (folder / f"{name}.conll").write_text(sentences(80, len(name), types), "utf-8")
        (folder / f"{name}.toml").write_text(RECIPE.format(folder=folder, name=name, head=head), "utf-8")
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
    return session, term, to_tensors(job.train.batch(np.arange(6)), CPU)


def test_the_value_equals_enumeration(people: tuple[Path, str]) -> None:
    """KL over the old tags at O tokens, of marginals over all paths that the file permits."""
    job = extended(people, "loss.distill.weight=0.5", "loss.distill.temperature=3")
    session, term, batch = begun(job)
    torch.manual_seed(2)
    for weight in session.model.parameters():
        weight.data.add_(0.3 * torch.randn_like(weight))
    labels, old = list(job.encoding.labels), set(job.start.encoding.labels)
    kept = torch.tensor([label in old for label in labels])
    outside = labels.index("O")
    chains = [
        Chain(*(part.detach() / 3 for part in each.head().chain()))
        for each in (session.model, term._teacher.model)
    ]
    scores = [each(batch).detach() / 3 for each in (session.model, term._teacher.model)]
    wanted = 0.0
    for row, length in enumerate(batch["mask"].sum(1).tolist()):
        tags = batch["tags"][row, :length]
        allowed = torch.stack(
            [kept if tag == outside else torch.eye(len(labels), dtype=torch.bool)[tag] for tag in tags]
        )
        own = brute_force.marginals(scores[0][row, :length].masked_fill(~allowed, -1e4), chains[0])
        teacher = brute_force.marginals(scores[1][row, :length].masked_fill(~kept, -1e4), chains[1])
        for t in range(length):
            if tags[t] == outside:
                q, p = teacher[t, kept], own[t, kept]
                wanted += float((q * (q.log() - p.log())).sum()) / len(batch["mask"])
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
    plain = to_tensors(old.encode(job.data.sentences).batch(np.arange(6)), CPU)
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


@pytest.mark.long
def test_old_types_survive_training_on_a_file_of_new_types(people: tuple[Path, str]) -> None:
    """People are found as well as before, and places as well as without the term, its only difference."""
    folder, _ = people
    both = prepare(load_recipe(folder / "both.toml"), lambda text: None).data.dev

    def recalls(*changes: str) -> dict[str, float]:
        job = extended(people, *changes)
        tagger = job.predictor(trained(job))
        found = [tagging.tags for tagging in tagger.tag_encoded(tagger.encode(both))]
        pairs = [
            (g, f) for s, tags in zip(both, found, strict=True) for g, f in zip(s.tags, tags, strict=True)
        ]
        return {
            kind: sum(f == g for g, f in pairs if g.endswith(kind)) / sum(g.endswith(kind) for g, _ in pairs)
            for kind in ("PER", "LOC")
        }

    plain, kept = recalls(), recalls("loss.distill.weight=1")
    assert plain["PER"] < 0.2, "people are O in the new file"
    assert kept["PER"] > 0.95
    assert kept["LOC"] > 0.95
