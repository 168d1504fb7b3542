"""Tests the losses of auxiliary heads: how many sentences are drawn, and what they teach."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gonie.nn.inference import to_tensors
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import begin_training
from gonie.training.loop import seed_step
from gonie.training.loss_terms.heads import MOST

from .conftest import trained

CPU = torch.device("cpu")


def job_of(toy: Path, *changes: str) -> Any:
    return prepare(load_recipe(toy / "toy.toml", changes), lambda text: None)


def with_head(toy: Path, *changes: str) -> Any:
    """Return a job whose head ``names`` reads the dev file, which has 20 sentences; the main one has 80."""
    head = [f"heads.names.train={toy / 'dev.conll'}", f"heads.names.dev={toy / 'dev.conll'}"]
    return job_of(toy, *head, *changes)


def drawn(session: Any, batch: Any, steps: int = 400) -> list[int]:
    """Return the number of sentences that the head reads at each step."""
    term, sizes = session.terms["heads"], []
    head = term._heads[0]
    examples, loss = head.examples, head.network.loss

    def counted(content: Any) -> Any:
        sizes.append(len(content["mask"]))
        return loss(content)

    head.network.loss = counted
    states = session.model.states(batch)
    for step in range(steps):
        seed_step(1, step, CPU)
        before = len(sizes)
        term(session.model, batch, states)
        sizes += [0] * (before == len(sizes))
    assert examples is session.terms["heads"]._heads[0].examples
    return sizes


@pytest.mark.parametrize(("temperature", "ratio"), [(1.0, 20 / 80), (2.0, (20 / 80) ** 0.5), (1e9, 1.0)])
def test_a_head_draws_by_size_or_temperature(toy: Path, temperature: float, ratio: float) -> None:
    notes: list[str] = []
    job = with_head(toy, f"heads.names.temperature={temperature}")
    session = begin_training(job, notes.append)
    assert f"heads.names: 20 sentences; {ratio:.2f} sentences per sentence of data.train" in notes
    sizes = drawn(session, to_tensors(job.train.batch(np.arange(6)), CPU))
    assert set(sizes) <= {int(6 * ratio), int(6 * ratio) + 1}
    assert np.mean(sizes) == pytest.approx(6 * ratio, abs=0.1)


def test_a_large_file_is_limited(toy: Path) -> None:
    notes: list[str] = []
    head = [f"heads.names.{split}={toy / 'train.conll'}" for split in ("train", "dev")]
    session = begin_training(job_of(toy, "train.shots=1", *head), notes.append)
    assert session.terms["heads"]._heads[0].ratio == MOST
    assert "80 sentences; 4.00 sentences per sentence of data.train (limit 4; " in notes[-1]


def test_the_term_is_the_weighted_loss_of_the_drawn_sentences(toy: Path) -> None:
    job = with_head(toy, "heads.names.weight=0.3", "heads.names.temperature=1e9")
    session = begin_training(job)
    model = session.model.eval()
    batch = to_tensors(job.train.batch(np.arange(6)), CPU)
    seed_step(1, 7, CPU)
    found = session.terms["heads"](model, batch, model.states(batch))
    seed_step(1, 7, CPU)
    number = int(6 + float(torch.rand(())))
    rows = torch.randint(20, (number,)).numpy()
    own = to_tensors(job.heads["names"].train.batch(rows), CPU)
    expected = 0.3 * model.loss(own, "names")
    assert torch.equal(found, expected)
    found.backward()
    moved = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert any(name.startswith("heads.names.") for name in moved)
    assert not any(name.startswith("heads.tags.") for name in moved)


def test_a_head_of_weight_0_changes_nothing(toy: Path) -> None:
    """Bit for bit: neither the initial weights, nor the random numbers of the main head."""
    fixed = ["train.epochs=2", "train.clip=0", "model.words.singleton_rate=0.0", "train.average=0.9"]
    alone = trained(job_of(toy, *fixed)).state_dict()
    file = toy / "train.conll"  # the vocabulary is the same
    head = [f"heads.other.train={file}", f"heads.other.dev={file}", "heads.other.weight=0"]
    both = trained(job_of(toy, *fixed, *head)).state_dict()
    assert set(alone) < set(both)
    assert all(torch.equal(tensor, both[name]) for name, tensor in alone.items())


NAMES = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ana", "elo", "iru", "osa", "uma")]
FRAMES = ("{} left", "we saw {}", "{} and {} are far", "near {} it rained")
RECIPE = """
[data]
train = "{folder}/train.conll"
dev = "{folder}/train.conll"
[model.words]
width = 16
[model.encoder]
hidden = 8
layers = 2
[model.dropout]
input = 0.2
output = 0.2
between = 0.2
[train]
epochs = {epochs}
lr = 0.02
batch_sentences = 8
patience = 100
device = "cpu"
"""


def sentences(names: list[str], tags: dict[str, str], number: int, seed: int) -> str:
    """Return sentences with names, whose words around say nothing about their kind."""
    chance = random.Random(seed)
    blocks = []
    for _ in range(number):
        rows = []
        for word in chance.choice(FRAMES).split():
            chosen = chance.choice(names) if word == "{}" else word
            rows.append(f"{chosen}\t{tags.get(chosen, 'O')}")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


@pytest.mark.parametrize(("layer", "auxiliary"), [(1, True), (2, True), (1, False)])
def test_a_head_teaches_words_that_the_main_file_does_not_have(
    tmp_path: Path, layer: int, auxiliary: bool
) -> None:
    """Half of the names are people, half places. The main file has a fifth of them, that of the head all."""
    names = random.Random(0).sample(NAMES, len(NAMES))
    people = {name: "B-PER" if number % 2 else "B-LOC" for number, name in enumerate(names)}
    kinds = {name: "living" if number % 2 else "place" for number, name in enumerate(names)}
    (tmp_path / "train.conll").write_text(sentences(names[:12], people, 40, 1), "utf-8")
    (tmp_path / "kinds.conll").write_text(sentences(names, kinds, 160, 2), "utf-8")
    (tmp_path / "new.conll").write_text(sentences(names[12:], people, 100, 3), "utf-8")
    (tmp_path / "toy.toml").write_text(RECIPE.format(folder=tmp_path, epochs=25), "utf-8")
    head = ["train", "dev"] if auxiliary else []
    changes = [f"heads.kinds.{split}={tmp_path / 'kinds.conll'}" for split in head]
    changes += [f"heads.kinds.layer={layer}"] * auxiliary
    changes += [f"data.test={tmp_path / 'new.conll'}"]
    job: Any = prepare(load_recipe(tmp_path / "toy.toml", changes), lambda text: None)
    model = trained(job)
    answers = job.answers(job.predictor(model), job.encode(model, "test", print))
    score = job.measure(job.examples("test"), answers)
    assert score > 0.9 if auxiliary else score < 0.7
