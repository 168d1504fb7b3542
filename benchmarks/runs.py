"""Many training runs, each in a process of its own, each result a line of a file: for benchmarks of scores.

A run whose result stands in the file already is not made again, so the same command goes on after a kill.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Record = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One training run: on what, with which model, and what tells it from its like."""

    corpus: str
    model: str
    seed: int
    fold: int
    recipe: str
    settings: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What a result is known by."""
        return self.corpus, self.model, self.seed, self.fold

    @property
    def named(self) -> Record:
        """The beginning of its record."""
        return {"corpus": self.corpus, "model": self.model, "seed": self.seed, "fold": self.fold}


class Fitted(NamedTuple):
    """A model with the weights of its best epoch on dev, who judges it on test, and its record so far."""

    job: Any
    model: Any
    evaluator: Any
    record: Record


def fitted(run: Run) -> Fitted:
    """Train to the best epoch on dev, on one thread."""
    import torch

    from gonie.tasks.recipe import load_recipe
    from gonie.tasks.torch.checkpoint import load_weights
    from gonie.tasks.torch.dev_evaluator import DevEvaluator
    from gonie.tasks.torch.prepare import prepare
    from gonie.training.fit import begin_training, fit
    from gonie.training.folder import RunFolder

    torch.set_num_threads(1)
    started = time.monotonic()
    job = prepare(load_recipe(run.recipe, run.settings), lambda text: None)
    session = begin_training(job)
    read = time.monotonic() - started
    with tempfile.TemporaryDirectory() as scratch:
        folder = RunFolder(Path(scratch))
        if not fit(job, folder, session, _Silent()):
            raise KeyboardInterrupt
        load_weights(folder.best, session.model)
        history = folder.history()
    evaluator = DevEvaluator(job, session.model, "test")
    record = {
        **run.named,
        "metric": evaluator.metric,
        "dev": max(epoch["score"] for epoch in history),
        "test": evaluator.score(),
        "curve": [round(epoch["score"], 4) for epoch in history],
        "train_seconds": sum(epoch["seconds"] for epoch in history),
        "read_seconds": read,
        "device": str(next(session.model.parameters()).device),
        "settings": run.settings,
    }
    return Fitted(job, session.model, evaluator, record)


class _Silent:
    def step(self, step: object) -> None:
        """Nothing is shown."""

    def epoch(self, epoch: object) -> None:
        """Nothing is shown."""


def make_all(runs: Iterable[Run], work: Callable[[Run], Record], *, out: Path, jobs: int) -> None:
    """Make the runs whose results are not there yet, several at a time, and keep each as it comes."""
    done = {record_key(record) for record in read(out) if "error" not in record}
    open_ = [run for run in runs if run.key not in done]
    print(f"{len(open_)} runs, {jobs} at a time", flush=True)
    from gonie.cli.process_settings import limit_spinning

    limit_spinning()
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, maxtasksperchild=1) as pool:
        tasks = [(work, run) for run in open_]
        for number, record in enumerate(pool.imap_unordered(_safely, tasks), start=1):
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
            print(f"{number}/{len(open_)} {describe(record)}", flush=True)


def _safely(task: tuple[Callable[[Run], Record], Run]) -> Record:
    """The result of a run; what went wrong is a record too."""
    work, run = task
    try:
        return work(run)
    except Exception as error:
        return {**run.named, "error": repr(error)}


def describe(record: Record) -> str:
    """A line for one result."""
    name = f"{record['corpus']} {record['model']} seed {record['seed']} fold {record['fold']}"
    if "error" in record:
        return f"{name}: {record['error']}"
    scores = f"dev {100 * record['dev']:.2f} test {100 * record['test']:.2f}"
    uniform = f" uniform after {100 * record['uniform']:.2f}" if "uniform" in record else ""
    return f"{name}: {scores}{uniform}, {record['train_seconds']:.0f} s {record['curve']}"


def read(path: Path) -> list[Record]:
    """The results so far."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def record_key(record: Record) -> tuple[str, str, int, int]:
    """What a result is known by."""
    return record["corpus"], record["model"], record["seed"], record["fold"]


def row(model: str, found: Sequence[Record], key: str = "test") -> str:
    """A line of a table: how often, dev, test with its spread, seconds."""
    scores = [100 * record[key] for record in found]
    spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
    dev = statistics.fmean(100 * record["dev"] for record in found)
    seconds = statistics.fmean(record["train_seconds"] for record in found)
    mean = statistics.fmean(scores)
    return f"| {model} | {len(found)} | {dev:.2f} | {mean:.2f} | {spread:.2f} | {seconds:.0f} |"
