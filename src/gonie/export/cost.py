"""What a bundle costs whoever runs it: the time until its first answer, and memory, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

MEASURE = """
import json, resource, sys, time
began = time.perf_counter()
import gonie
imported = time.perf_counter()
model = gonie.load(sys.argv[1])
loaded = time.perf_counter()
model("Anna Kim works in Seoul. 안나는 서울에서 일한다.")
answered = time.perf_counter()
size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps([imported - began, loaded - imported, answered - loaded, size]))
"""


class Cost(NamedTuple):
    """Seconds to import gonie, to load the bundle and to the first answer; bytes of memory at most."""

    imported: float
    loaded: float
    answered: float
    memory: int

    def __str__(self) -> str:
        ready = self.imported + self.loaded + self.answered
        return (
            f"first answer {ready:.2f} s after its process starts to import gonie ({self.loaded:.2f} s of it "
            f"to load the model), {self.memory / 1e6:.0f} MB of memory"
        )


def measure_cost(bundle: Path) -> Cost:
    """Load and ask the bundle in a new process, as whoever deploys it will."""
    made = subprocess.run(
        [sys.executable, "-c", MEASURE, str(bundle)], capture_output=True, text=True, check=True
    )
    imported, loaded, answered, size = json.loads(made.stdout.splitlines()[-1])
    return Cost(imported, loaded, answered, int(size))
