"""Tag or classify varied text for a long time, and check the memory for leaks.

    python tools/soak.py MODEL [--minutes 30] [--threads 1]

The texts never repeat: known and unknown words, any Unicode, short lines and long ones. The resident memory
is printed every minute. The exit code is 1 if each of the last two quarters of the run takes 2% and 8 MB more
than the one before it: by then all caches should be full, so this is a leak. Memory that grows once is none.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SHARE, BYTES = 0.02, 8 << 20  # growth that is not a leak
WORDS = (
    "George",
    "is",
    "happy",
    "about",
    "the",
    "election",
    "in",
    "New",
    "York",
    "서울에서",
    "1,234",
    ".",
    "!",
)


class Reading(NamedTuple):
    """The memory after some seconds and texts."""

    seconds: float
    texts: int
    bytes: int


def texts(chance: random.Random) -> Iterator[str]:
    """Yield texts without end or repetition."""
    lengths = (1, 3, 10, 10, 30, 30, 100, 400, 1500)
    while True:
        yield " ".join(_word(chance) for _ in range(chance.choice(lengths)))


def _word(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.6:
        return chance.choice(WORDS)
    letters = range(0x61, 0x7B) if kind < 0.85 else range(0xAC00, 0xD7A4)
    if kind >= 0.95:
        letters = range(0x20, 0x2FFFF)
    word = "".join(chr(chance.choice(letters)) for _ in range(chance.randrange(1, 12)))
    return "".join(letter for letter in word if not 0xD800 <= ord(letter) < 0xE000)  # no surrogates


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise LookupError("VmRSS")


def soak(ask: Callable[[str], object], *, seconds: float, every: float, seed: int = 0) -> Iterator[Reading]:
    """Pass texts to ``ask`` for ``seconds``, and yield the memory every ``every`` seconds."""
    begun = time.monotonic()
    due = begun + every
    for number, text in enumerate(texts(random.Random(seed)), start=1):
        ask(text)
        now = time.monotonic()
        if now >= due:
            yield Reading(now - begun, number, resident())
            due += every
        if now >= begun + seconds:
            return


def growth(readings: Sequence[Reading]) -> int:
    """Return by how many bytes the peak grows from quarter to quarter, the lesser of the last two times."""
    bytes = [reading.bytes for reading in readings]
    quarter = max(len(bytes) // 4, 1)
    second, third, last = (max(bytes[-at * quarter :][:quarter]) for at in (3, 2, 1))
    return min(last - third, third - second)


def leaks(readings: Sequence[Reading]) -> bool:
    """Whether the growth is a leak."""
    return growth(readings) > max(BYTES, SHARE * readings[-1].bytes)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    import gonie

    model = gonie.load(asked.model, threads=asked.threads)
    readings = []
    for reading in soak(model, seconds=60 * asked.minutes, every=min(60, 60 * asked.minutes / 12)):
        readings.append(reading)
        print(
            f"{reading.seconds / 60:6.1f} min  {reading.texts:9,} texts  {reading.bytes / 2**20:8.1f} MB",
            flush=True,
        )
    print(f"growth in each of the last two quarters: {growth(readings) / 2**20:+.1f} MB or more")
    return int(leaks(readings))


if __name__ == "__main__":
    sys.exit(main())
