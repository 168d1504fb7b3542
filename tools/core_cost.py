"""Measures import time, first prediction and memory of the core install, as medians over new processes.

    python tools/core_cost.py MODEL [--times 9]

``import gonie`` is compared with ``import numpy``, which most users import anyway. The processes cannot
import torch, as in the core install.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

IMPORT = """
import sys, time
sys.modules.update(dict.fromkeys(("torch", "onnx", "numba", "ray", "sklearn", "pandas")))
begun = time.perf_counter()
import {package}
print(time.perf_counter() - begun)
"""
ANSWER = """
import json, sys, time
sys.modules.update(dict.fromkeys(("torch", "onnx", "numba", "ray", "sklearn", "pandas")))
import gonie
begun = time.perf_counter()
model = gonie.load(sys.argv[1], threads={threads})
loaded = time.perf_counter()
model("George is happy about the election outcome in New York.")
answered = time.perf_counter()
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
memory = {{name: int(status[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM")}}
print(json.dumps({{"load": loaded - begun, "first": answered - loaded, **memory}}))
"""


def imported(package: str, times: int) -> float:
    """Return the seconds that ``import package`` takes in a new process."""
    return statistics.median(json.loads(_run(IMPORT.format(package=package))) for _ in range(times))


def answered(model: Path, times: int, threads: int) -> dict[str, float]:
    """Return the seconds of loading and of the first prediction, and the memory then and at its peak."""
    found: list[dict[str, Any]] = [
        json.loads(_run(ANSWER.format(threads=threads), str(model))) for _ in range(times)
    ]
    return {name: statistics.median(each[name] for each in found) for name in found[0]}


def _run(program: str, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    ).stdout


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    numpy, gonie = imported("numpy", asked.times), imported("gonie", asked.times)
    cost = answered(asked.model, asked.times, asked.threads)
    both = imported("numpy, gonie", asked.times)
    print(f"import numpy {1e3 * numpy:.0f} ms, gonie {1e3 * gonie:.0f} ms, both {1e3 * both:.0f} ms")
    print(f"load {cost['load']:.2f} s, first prediction {1e3 * cost['first']:.1f} ms")
    print(f"resident {cost['VmRSS'] / 2**20:.0f} MB, peak {cost['VmHWM'] / 2**20:.0f} MB")


if __name__ == "__main__":
    main()
