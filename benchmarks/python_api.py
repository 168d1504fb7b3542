"""Compares the time of the README's lines of Python with that of the same work by commands.

    python benchmarks/python_api.py [--rounds 5]

One side runs the Python block of README.md in one process. The other runs `gonie train`, `evaluate`, `tag`
and `explain`, with the recipe, files, text and method of that block. The sides take turns, in new processes
and new folders, and their output is not shown. Prints the median of each side in seconds, and their ratio.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from sides import ROOT

CORPUS = ROOT / "src/gonie/corpora/english"
FILES = {"mine.conll": "train.conll", "test.conll": "test.conll"}
TEXT = "Angela Merkel met Samsung managers in Seoul."
COMMANDS = (
    ("train", "demo", "mine.conll", "--set", "data.test=test.conll", "--out", "runs/python"),
    ("tag", "runs/python", TEXT),
    ("evaluate", "runs/python", "test.conll"),
    ("explain", "runs/python", TEXT, "--method", "erasure"),
)


def sides() -> dict[str, list[list[str]]]:
    """Return the processes of each side."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    if len(blocks) != 1 or TEXT not in blocks[0]:
        sys.exit("README.md has no longer one block of Python with the text of this benchmark")
    return {
        "python": [[sys.executable, "-c", blocks[0]]],
        "commands": [[sys.executable, "-m", "gonie", *command] for command in COMMANDS],
    }


def seconds(processes: list[list[str]]) -> list[float]:
    """Run the processes one after the other in a new folder, and return the seconds of each."""
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        for name, source in FILES.items():
            shutil.copy(CORPUS / source, Path(folder) / name)
        for process in processes:
            began = time.perf_counter()
            subprocess.run(
                process,
                cwd=folder,
                env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            taken.append(time.perf_counter() - began)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args().rounds
    found: dict[str, list[float]] = {name: [] for name in sides()}
    for number in range(rounds):
        for name, processes in sorted(sides().items(), reverse=bool(number % 2)):
            each = seconds(processes)
            found[name].append(sum(each))
            print(f"round {number + 1}  {name:<8}", *(f"{value:6.2f} s" for value in each), flush=True)
    python, commands = median(found["python"]), median(found["commands"])
    print(f"median: Python {python:.2f} s, commands {commands:.2f} s, ratio {python / commands:.2f}")


if __name__ == "__main__":
    main()
