"""Compares the speed of two checkouts of gonie: training one BiLSTM-CRF, and tagging with one bundle.

    python benchmarks/checkouts.py BEFORE AFTER --gonie BUNDLE [--rounds 15]

BEFORE and AFTER are roots of repositories. Each runs its own ``train_tagger.py`` and ``tag_cpu.py`` in
processes of its own, with the Python that runs this script. Their rounds alternate, and the order changes
from round to round, so that both meet the same noise. Prints the medians, and the ratio of AFTER to BEFORE.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

from sides import CALM, Figures, Worker, medians
from train_tagger import DATA, TRAIN, read, write

NAMES = ("before", "after")
TAGGING = {"speed": "tokens/s", "again": "tokens/s, known words", "p50": "ms per sentence, p50"}


def alternate(roots: list[Path], script: str, arguments: list[object], rounds: int) -> list[Figures]:
    """Return the medians of what the script of each checkout measured."""
    found: dict[int, list[Figures]] = {0: [], 1: []}
    with ExitStack() as stack:
        workers = [
            stack.enter_context(
                Worker(
                    str(root / "benchmarks" / script),
                    arguments,
                    threads=os.cpu_count() or 1,
                    environment=CALM | {"PYTHONPATH": str(root / "src")},
                )
            )
            for root in roots
        ]
        for number in range(rounds + 1):
            for side in (0, 1) if number % 2 else (1, 0):
                figures = workers[side].round()
                if number:  # the first round compiles and fills caches
                    found[side].append(figures)
                    print(f"round {number}  {NAMES[side]:8} {figures['speed']:>10,.0f} tokens/s", flush=True)
    return [medians(found[side]) for side in (0, 1)]


def show(name: str, unit: str, before: float, after: float) -> None:
    print(
        f"{name:<10} {before:>12,.2f} before {after:>12,.2f} after  {after / before:.3f}  {unit}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("roots", type=Path, nargs=2, metavar="CHECKOUT", help="BEFORE and AFTER")
    parser.add_argument("--gonie", type=Path, required=True, metavar="BUNDLE", help="a bundle that both load")
    parser.add_argument("--rounds", type=int, default=15, help="timed rounds of each checkout")
    parser.add_argument("--sentences", type=int, default=2000, help="train on the first N sentences")
    given = parser.parse_args()
    roots = [root.resolve() for root in given.roots]
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "train.conll"
        write(read(DATA / TRAIN, given.sentences), file)
        own: list[object] = ["--side", "gonie", "--file", file, "--batch", 32, "--device", "cpu"]
        trained = alternate(roots, "train_tagger.py", own, given.rounds)
        own = ["--side", "gonie", "--gonie", given.gonie.resolve(), "--answers", made]
        own += ["--data", (DATA / TRAIN).parent, "--cores", os.cpu_count()]
        tagged = alternate(roots, "tag_cpu.py", own, given.rounds)
    show("training", "tokens/s", trained[0]["speed"], trained[1]["speed"])
    for key, unit in TAGGING.items():
        show("tagging", unit, tagged[0][key], tagged[1][key])


if __name__ == "__main__":
    main()
