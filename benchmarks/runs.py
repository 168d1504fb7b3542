"""Executes many training runs in several processes, and writes one line of results per run.

A run whose result is in the file already is skipped, so the same command resumes after a kill.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

Record = dict[str, Any]
RUNS_PER_PROCESS = 20
"""A process starts slowly, above all on a GPU."""


@dataclass(frozen=True)
class Run:
    """One training run: the corpus, the model, the seed, the fold and the settings."""

    corpus: str
    model: str
    seed: int
    fold: int
    recipe: str
    settings: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, int, int]:
        """Return the key of the result."""
        return self.corpus, self.model, self.seed, self.fold

    @property
    def named(self) -> Record:
        """Return the first fields of the record."""
        return {"corpus": self.corpus, "model": self.model, "seed": self.seed, "fold": self.fold}


class Fitted(NamedTuple):
    """A model with the weights of its best epoch on dev, its evaluator on test, and its record so far."""

    job: Any
    model: Any
    evaluator: Any
    record: Record


def fitted(run: Run, score: Literal["dev", "test"] = "test") -> Fitted:
    """Train on one thread, and load the weights of the best epoch on dev. Then score one split."""
    import torch

    from gonie.tasks.recipe import load_recipe
    from gonie.tasks.start import resolve_recipe
    from gonie.tasks.torch.checkpoint import load_weights
    from gonie.tasks.torch.dev_evaluator import DevEvaluator
    from gonie.tasks.torch.prepare import prepare
    from gonie.training.fit import begin_training, fit
    from gonie.training.folder import RunFolder

    torch.set_num_threads(1)
    started = time.monotonic()
    recipe = load_recipe(run.recipe, run.settings)
    job = prepare(resolve_recipe(recipe, lambda text: None), lambda text: None)
    session = begin_training(job)
    read = time.monotonic() - started
    with tempfile.TemporaryDirectory() as scratch:
        folder = RunFolder(Path(scratch))
        if not fit(job, folder, session, _Silent()):
            raise KeyboardInterrupt
        load_weights(folder.best, session.model)
        history = folder.history()
    evaluator = DevEvaluator(job, session.model, score)
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


def save_start(fit: Fitted, folder: Path) -> None:
    """Write what other runs need to start from this one."""
    from gonie.tasks.torch.checkpoint import save_weights
    from gonie.tasks.written_recipe import write_recipe
    from gonie.training.folder import RunFolder

    run = RunFolder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in fit.job.files().items():
        (folder / name).write_text(content, "utf-8")
    run.recipe.write_text(write_recipe(fit.job.recipe), "utf-8")
    save_weights(run.best, fit.model)


def trained_by_command(run: Run, folder: Path) -> list[Record]:
    """Train as `gonie train` does, in a process without display, and return the epochs. A run is resumed."""
    resumed = ["--resume"] if (folder / "recipe.toml").exists() else []
    settings = [part for each in run.settings for part in ("--set", each)]
    command = [sys.executable, "-m", "gonie", "train", run.recipe, *settings, "--seed", str(run.seed)]
    done = subprocess.run([*command, "--out", folder, *resumed], check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return read(folder / "metrics.jsonl")


class _Silent:
    def step(self, step: object) -> None:
        """Ignore a step."""

    def epoch(self, epoch: object) -> None:
        """Ignore an epoch."""


def make_all(
    runs: Iterable[Run],
    work: Callable[[Run], Record],
    *,
    out: Path,
    jobs: int,
    tell: Callable[[Record], str] | None = None,
) -> None:
    """Execute the runs that have no result yet, ``jobs`` at a time, and append each result to ``out``.

    ``tell`` returns one line about a result.
    """
    tell = tell or describe
    done = {record_key(record) for record in read(out) if "error" not in record}
    open_ = [run for run in runs if run.key not in done]
    print(f"{len(open_)} runs, {jobs} at a time", flush=True)
    from gonie.cli.process_settings import limit_spinning

    limit_spinning()
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, maxtasksperchild=RUNS_PER_PROCESS) as pool:
        tasks = [(work, run) for run in open_]
        for number, record in enumerate(pool.imap_unordered(_safely, tasks), start=1):
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
            print(f"{number}/{len(open_)} {tell(record)}", flush=True)


def _safely(task: tuple[Callable[[Run], Record], Run]) -> Record:
    """Return the result of a run, or a record of its error."""
    work, run = task
    try:
        return work(run)
    except Exception as error:
        return {**run.named, "error": repr(error)}


def describe(record: Record) -> str:
    """Return one line about a result."""
    name = f"{record['corpus']} {record['model']} seed {record['seed']} fold {record['fold']}"
    if "error" in record:
        return f"{name}: {record['error']}"
    scores = f"dev {100 * record['dev']:.2f} test {100 * record['test']:.2f}"
    uniform = f" uniform after {100 * record['uniform']:.2f}" if "uniform" in record else ""
    return f"{name}: {scores}{uniform}, {record['train_seconds']:.0f} s {record['curve']}"


def read(path: Path) -> list[Record]:
    """Read the results so far."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def record_key(record: Record) -> tuple[str, str, int, int]:
    """Return the key of a result."""
    return record["corpus"], record["model"], record["seed"], record["fold"]


def row(model: str, found: Sequence[Record], key: str = "test") -> str:
    """Return a table row: number of runs, dev, test with its standard deviation, seconds."""
    scores = [100 * record[key] for record in found]
    spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
    dev = statistics.fmean(100 * record["dev"] for record in found)
    seconds = statistics.fmean(record["train_seconds"] for record in found)
    mean = statistics.fmean(scores)
    return f"| {model} | {len(found)} | {dev:.2f} | {mean:.2f} | {spread:.2f} | {seconds:.0f} |"


def paired_table(records: Sequence[Record], *, control: str, first: str = "method") -> str:
    """Return the scores of every corpus and model, and the paired differences to the model ``control``.

    Runs are paired by fold and seed. ``first`` is the heading of the models.
    """
    scores: dict[str, dict[str, dict[tuple[int, int], Record]]] = {}
    for record in records:
        if "error" not in record:
            own = scores.setdefault(record["corpus"], {}).setdefault(record["model"], {})
            own[record["fold"], record["seed"]] = record
    lines = [
        f"| sentences | {first} | runs | dev F1 | F1 | gain | p | pairs won | subsets won | seconds |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for corpus, models in sorted(scores.items(), key=lambda item: int(item[0].split()[0])):
        size, bilm = corpus.split()
        for model in sorted(models, key=lambda name: name != control):
            cells = [f"{size}, bilm {bilm}", model, *_paired_cells(models[model], models.get(control, {}))]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _paired_cells(
    found: dict[tuple[int, int], Record], control: dict[tuple[int, int], Record]
) -> Iterator[str]:
    """Yield the cells of one model."""
    values = list(found.values())
    yield str(len(values))
    yield f"{statistics.fmean(100 * record['dev'] for record in values):.1f}"
    yield shown([100 * record["test"] for record in values])
    gains = {key: 100 * (found[key]["test"] - control[key]["test"]) for key in found if key in control}
    if found is control or not gains:
        yield from [""] * 4
    else:
        folds: dict[int, list[float]] = {}
        for (fold, _), gain in gains.items():
            folds.setdefault(fold, []).append(gain)
        yield shown(list(gains.values()), "+")
        yield f"{sign_flip_test(list(gains.values())):.4f}"
        yield f"{sum(gain > 0 for gain in gains.values())} of {len(gains)}"
        yield f"{sum(statistics.fmean(own) > 0 for own in folds.values())} of {len(folds)}"
    yield f"{statistics.fmean(record['train_seconds'] for record in values):.0f}"


def shown(values: Sequence[float], sign: str = "", *, digits: int = 2) -> str:
    """Return the mean and the standard deviation."""
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.fmean(values):{sign}.{digits}f} ± {spread:.{digits}f}"


def sign_flip_test(differences: Sequence[float], *, shuffles: int = 10_000, seed: int = 0) -> float:
    """Return the two-sided p-value of paired differences: how often random signs give as large a mean.

    All signs are tried if there are at most ``shuffles`` of them; otherwise they are drawn.
    """
    import numpy as np

    values = np.asarray(differences, dtype=np.float64)
    if exact := 2 ** len(values) <= shuffles:
        signs = np.array(list(itertools.product([1.0, -1.0], repeat=len(values))))
    else:
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(shuffles, len(values)))
    as_large = (np.abs((signs * values).mean(axis=1)) >= abs(values.mean()) - 1e-12).sum()
    return float(as_large / len(signs) if exact else (1 + as_large) / (1 + shuffles))
