"""Tests memory over a long run: it stays flat once caches are full, and the tool detects a leak."""

from __future__ import annotations

import importlib
import json
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BUNDLES = ROOT / "tests" / "bundles" / "4"

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")

PROGRAM = """
import itertools, json, random, sys
import gonie, soak
from gonie.runtime.form_cache import FormCache

model, kept = gonie.load(sys.argv[1], threads=1), []
forms = model.scorer._forms
if forms is not None:
    forms._cache = FormCache(forms._cache.width, most=500)
leak = 100_000 if sys.argv[2] == "leaking" else 0  # bytes per text

# More words than any cache holds, so each round misses the caches again, with the same sizes of buffers.
some = list(itertools.islice(soak.texts(random.Random(1)), 400))
readings = []
for turn in range(4):
    for text in some:
        model(text)
        kept.append(b"x" * leak)
    readings.append(soak.Reading(0.0, len(kept), soak.resident()))
print(json.dumps({"leaks": soak.leaks(readings), "growth": soak.growth(readings)}))
"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("soak")


def soaked(name: str, how: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("PYTHONPATH", ":".join([*sys.path, str(ROOT / "tools")]))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(BUNDLES / name), how], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", ["letters", "texts"])
def test_memory_does_not_grow_with_varied_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python tools/soak.py MODEL --minutes 30` does the same with texts that never repeat."""
    found = soaked(name, "sound", monkeypatch)
    assert not found["leaks"], found


@pytest.mark.long
def test_a_leak_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    found = soaked("letters", "leaking", monkeypatch)
    assert found["leaks"], found


def test_growth_is_measured_over_the_last_two_quarters(tool: ModuleType) -> None:
    def readings(*megabytes: int) -> list[Any]:
        return [tool.Reading(float(at), at, size << 20) for at, size in enumerate(megabytes)]

    warming = readings(50, 80, 90, 95, 99, 99, 100, 100)
    assert tool.growth(warming) >> 20 == 1
    assert not tool.leaks(warming)
    assert tool.leaks(readings(50, 60, 70, 80, 90, 100, 110, 120))
    assert not tool.leaks(readings(50, 80, 90, 95, 95, 95, 120, 120)), (
        "a single jump, such as a larger buffer"
    )


def test_memory_is_read_while_texts_are_passed_on(tool: ModuleType) -> None:
    asked: list[str] = []
    readings = list(tool.soak(asked.append, seconds=0.2, every=0.0))
    assert readings[-1].seconds >= 0.2
    assert [reading.texts for reading in readings] == list(range(1, len(asked) + 1))
    assert min(reading.bytes for reading in readings) > 1 << 20


def test_texts_are_varied_and_valid(tool: ModuleType) -> None:
    """Half a surrogate pair would be refused, and the words of a repeated text would be cached."""
    stream = tool.texts(random.Random(0))
    some = [next(stream) for _ in range(200)]
    for text in some:
        text.encode("utf-8")
    assert len(set(some)) > 170
    assert len({word for text in some for word in text.split()}) > 2_000
    assert max(map(len, some)) > 1_000
