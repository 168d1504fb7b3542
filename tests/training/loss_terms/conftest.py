"""Fixtures of loss terms: a start, data and settings for every term, and a run that can be stopped."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gonie.nn.inference import to_tensors
from gonie.tasks.load import load
from gonie.tasks.recipe import load_recipe
from gonie.tasks.table import TASKS
from gonie.tasks.teacher import INDEX, AnswerSettings, write_answers
from gonie.tasks.torch.job import ExampleJob
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import begin_training
from gonie.training.loop import train
from gonie.training.run import start_run

RECIPES = {
    "tag": ("toy", "toy.toml"),
    "classify": ("text_toy", "texts.toml"),
    "pair": ("pair_toy", "labels.toml"),
}
TARGETS = {
    "tag": "Dora is in Busan today .\nNobody lives there .\n",
    "classify": "A clever story .\nIt drags on .\n",
    "pair": "sentence1\tsentence2\tlabel\nA clever story .\tIt drags on .\tother\n",
}
SETTINGS: dict[str, list[str]] = {
    "start-l2": ["loss.start-l2.weight=0.1", "loss.start-l2.new=0.01"],
    "transport": ["loss.transport.points=8", "loss.transport.iterations=5"],
    "distill": ["loss.distill.weight=0.5", "train.keep_labels=true"],
    "adversary": ["loss.adversary.hidden=7"],
    "mldg": ["loss.mldg.rate=0.05"],
    "perturb": ["loss.perturb.epsilon=0.5"],
    "language-model": ["loss.language-model.hidden=5", "loss.language-model.vocabulary=9"],
    "teacher": ["loss.teacher.batch=5"],
}
"""The settings of each term, besides the start and files."""
TASKS_OF = {"language-model": ("tag",), "teacher": ("tag", "classify")}
"""The tasks of terms that do not support all of them."""
WITH_WEIGHTS = ("adversary", "language-model", "teacher")
"""Terms with weights or buffers of their own that change in training."""
CASES = [(task, term) for term in SETTINGS for task in RECIPES if task in TASKS_OF.get(term, RECIPES)]
"""Each task with each term that supports it."""
DOMAINS = 3


class Silent:
    """A display that shows nothing, and fails after some steps if asked to."""

    def __init__(self, steps: int | None = None) -> None:
        self._left = steps
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def step(self, step: object) -> None:
        if self._left is not None:
            self._left -= 1
            if not self._left:
                raise RuntimeError("stopped")

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args: None


class Bench:
    """Recipes with a loss term, for each task."""

    def __init__(self, folders: dict[str, Path], starts: Path) -> None:
        self._folders = folders
        self.starts = starts
        self.notes: list[str] = []

    def recipe(self, task: str, *changes: str, term: str | None = None) -> Any:
        """Load the recipe of a task with a term."""
        if term is not None:
            changes = (f"train.start={self.starts / task}", *SETTINGS[term], *changes)
        if term == "adversary":
            target = self.starts / f"{task}-target.{'tsv' if task == 'pair' else 'txt'}"
            changes = (f"loss.adversary.text={target}", *changes)
        if term == "teacher":
            changes = (f"data.answers={self._answers(task)}", *changes)
        return load_recipe(self._folders[task] / RECIPES[task][1], changes)

    def _answers(self, task: str) -> Path:
        """Return the answers of the start to the training examples, without their labels."""
        folder = self.starts / f"{task}-answers"
        if not (folder / INDEX).is_file():
            recipe = self.recipe(task)
            half: Any = TASKS[task].torch()
            settings = AnswerSettings(files=tuple(recipe.data.files("train").values()), nbest=3)
            teacher = half.teacher_of([load(self.starts / task)], {}, recipe, settings)
            request = half.answer_request(recipe, teacher, settings, lambda text: None)
            write_answers(request, folder, lambda done, total: None)
        return folder

    def job(self, task: str, *changes: str, term: str | None = None) -> Any:
        """Prepare the data of such a recipe, with domains."""
        return with_domains(prepare(self.recipe(task, *changes, term=term), lambda text: None))


def with_domains(job: ExampleJob) -> ExampleJob:
    """Return the job with domains of its training examples."""
    job.domains = np.arange(len(job.train)) % DOMAINS  # type: ignore[attr-defined]
    return job


@pytest.fixture(scope="session")
def bench(toy: Path, text_toy: Path, pair_toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Train a model of each task to start from, and write text of another domain."""
    starts = tmp_path_factory.mktemp("starts")
    found = Bench({"tag": toy, "classify": text_toy, "pair": pair_toy}, starts)
    for task in RECIPES:
        assert start_run(found.recipe(task, "train.epochs=2"), starts / task, Silent()) is not None
        (starts / f"{task}-target.{'tsv' if task == 'pair' else 'txt'}").write_text(TARGETS[task], "utf-8")
    return found


def trained(job: Any) -> Any:
    """Return the model of a job after its last epoch, with averaged weights, ready to predict."""
    session = begin_training(job)
    for _ in train(session.state, session.setup, job.recipe.train, list(session.terms.values())):
        pass
    with session.state.average.applied():
        return copy.deepcopy(session.model).eval()


TEXTS = """
task = "classify"
[data]
train = "{folder}/train.tsv"
dev = "{folder}/dev.tsv"
[model.words]
width = 16
singleton_rate = 0.0
[model.encoder]
hidden = 8
[model.pooling]
kinds = ["mean"]
[model.dropout]
input = 0.1
output = 0.1
[train]
patience = 100
lr = 0.01
batch_sentences = 16
device = "cpu"
"""
Texts = list[tuple[str, str]]
"""Labels and texts."""


def write_texts(path: Path, texts: Texts) -> Path:
    """Write a table of labelled texts."""
    path.write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in texts), "utf-8")
    return path


def text_job(folder: Path, *changes: str, train: Texts, domains: list[int] | None = None) -> Any:
    """Prepare a small classifier of texts."""
    write_texts(folder / "train.tsv", train)
    write_texts(folder / "dev.tsv", train[:20])
    (folder / "texts.toml").write_text(TEXTS.format(folder=folder), "utf-8")
    job: Any = prepare(load_recipe(folder / "texts.toml", changes), lambda text: None)
    if domains is not None:
        job.domains = np.array(domains)
    return job


def encoded_texts(job: Any, model: Any, folder: Path, texts: Texts) -> dict[str, Tensor]:
    """Return the batch of texts, with their labels."""
    examples = job.encode_file(model, str(write_texts(folder / "more.tsv", texts)), lambda text: None)
    batch = to_tensors(examples.batch(np.arange(len(texts))), torch.device("cpu"))
    labels = list(job.encoding.labels)
    return {**batch, "labels": torch.tensor([labels.index(label) for label, _ in texts])}


def accuracy(model: Any, batch: dict[str, Tensor], states: Tensor | None = None) -> float:
    """Return the share of texts with the right label."""
    with torch.no_grad():
        scores = model.score(model.states(batch) if states is None else states, batch)
    return float((scores.argmax(1) == batch["labels"]).double().mean())


@pytest.fixture
def domains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give domains to the jobs of runs."""
    monkeypatch.setattr(
        "gonie.training.run.prepare", lambda *args, **options: with_domains(prepare(*args, **options))
    )
