"""Runs the sides of a comparison in separate processes that take turns, so that noise affects all equally."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
CALM = {"GOMP_SPINCOUNT": "1000"}  # as `gonie train` sets it: idle threads do not spin for long

Figures = dict[str, float]


class Worker:
    """The process of one side: a script with its own arguments, which waits between its rounds."""

    def __init__(
        self,
        script: str,
        arguments: Sequence[object],
        *,
        threads: int,
        python: str = sys.executable,
        environment: Mapping[str, str],
    ) -> None:
        paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH")]
        own = {
            "OMP_NUM_THREADS": str(threads),
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }
        self._process = subprocess.Popen(
            [python, script, *map(str, arguments)],
            env=os.environ | own | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Worker:
        return self

    def round(self) -> Figures:
        """Run one round and return what the side measured."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit("a worker process failed; its output is above")
        found: Figures = json.loads(answer)
        return found

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve(rounds: Iterator[Figures]) -> None:
    """Run in the worker: answer each line of standard input with the figures of a round, as JSON."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keep the output of libraries apart from the answers
    for _ in sys.stdin:
        print(json.dumps(next(rounds)), file=answers, flush=True)


def alternate(workers: Mapping[str, Worker], rounds: int, unit: str) -> dict[str, list[Figures]]:
    """Run the workers in turn and return the figures of each round. The figure ``speed`` is printed."""
    found: dict[str, list[Figures]] = {name: [] for name in workers}
    for number in range(rounds):
        for name, worker in workers.items():
            found[name].append(worker.round())
            print(f"round {number + 1}  {name:<24} {found[name][-1]['speed']:>10,.0f} {unit}", flush=True)
    return found


def medians(found: Sequence[Figures]) -> Figures:
    """Return the median of each figure over the rounds."""
    return {key: median(figures[key] for figures in found) for key in found[0]}
