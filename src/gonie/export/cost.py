"""Measuring the cost of a bundle in a new process: time to the first prediction, and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from gonie.errors import GonieError

MEASURE = """
import json, pathlib, re, resource, sys, time
began = time.perf_counter()
import gonie
imported = time.perf_counter()
model = gonie.load(sys.argv[1])
loaded = time.perf_counter()
width = getattr(model, "vector_width", 0)
model(*sys.argv[2:], **({"vectors": [0.0] * width} if width else {}))
answered = time.perf_counter()
status = pathlib.Path("/proc/self/status")  # if it exists; ru_maxrss includes the parent's peak
found = re.search(r"VmHWM:\\s*(\\d+)", status.read_text()) if status.exists() else None
size = int(found[1]) * 1024 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([imported - began, loaded - imported, answered - loaded, size]))
"""


class Cost(NamedTuple):
    """Seconds to import gonie, to load the bundle and to the first prediction, and peak memory in bytes."""

    imported: float
    loaded: float
    answered: float
    memory: int

    def __str__(self) -> str:
        ready = self.imported + self.loaded + self.answered
        return (
            f"first prediction after {ready:.2f} s in a new process ({self.loaded:.2f} s of it to load the "
            f"model), {self.memory / 1e6:.0f} MB of memory"
        )


def measure_cost(bundle: Path, *texts: str) -> Cost:
    """Measure loading the bundle and predicting ``texts`` in a new process, as in deployment."""
    command = [sys.executable, "-c", MEASURE, str(bundle), *texts]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        why = (made.stderr.strip().splitlines() or [f"exit {made.returncode}"])[-1]
        raise GonieError(
            f"{bundle} was written, but a new process failed to use it: {why}. "
            f"Try it in Python: gonie.load({str(bundle)!r})"
        )
    imported, loaded, answered, size = json.loads(made.stdout.splitlines()[-1])
    return Cost(imported, loaded, answered, int(size))
