"""Tests damaged and hostile bundles: each is refused with a message or works, and the tool finds failures."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BUNDLES = sorted(path.parent for path in (ROOT / "tests" / "bundles").glob("*/*/bundle.json"))

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc"
)


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("fuzz_bundles")


@pytest.fixture(autouse=True)
def same_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers import the same package as this process."""
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))


@pytest.mark.long
def test_every_damaged_bundle_is_refused_or_works(tool: ModuleType) -> None:
    """Tries 150 variants. `python tools/fuzz_bundles.py --variants 2000` tries more."""
    results = tool.fuzz(BUNDLES, 150, seed=11)
    failed = [(v.kind, v.source, o) for v, o in results if o.result not in (tool.REFUSED, tool.WORKED)]
    assert not failed
    count = Counter(outcome.result for _, outcome in results)
    assert count[tool.REFUSED] > 50
    assert count[tool.WORKED] > 10
    assert "truncated" in tool.table(results)


PROGRAM = "import json, os, sys, time\nprint('{}', flush=True)\nfor line in sys.stdin:\n    "
ANSWER = "print(json.dumps({'result': 'error', 'said': 'KeyError', 'bytes': %d}), flush=True)"
WORKERS = {
    "crash": "os.abort()",
    "hang": "time.sleep(600)",
    "noise": "print('*** error ***', flush=True)",
    "memory": ANSWER % 2_000_000_000,
    "error": ANSWER % 0,
}


@pytest.fixture
def worker(tool: ModuleType, request: pytest.FixtureRequest) -> Iterator[object]:
    made = tool.Worker([sys.executable, "-c", PROGRAM + WORKERS[request.param]])
    yield made
    made.stop()


@pytest.mark.parametrize(("worker", "wanted"), [(name, name) for name in WORKERS], indirect=["worker"])
def test_the_tool_reports_how_a_worker_failed(worker: object, wanted: str, tmp_path: Path) -> None:
    """The tool must detect a crash, and continue with a new worker."""
    for _ in range(2):
        seconds = 1.0 if wanted == "hang" else 60.0
        assert worker.try_(tmp_path, seconds=seconds).result == wanted  # type: ignore[attr-defined]


def test_a_bundle_with_a_wrong_digest_must_be_refused(tool: ModuleType) -> None:
    damage = importlib.import_module("bundle_damage")
    whole = {file.name: file.read_bytes() for file in BUNDLES[0].iterdir()}
    assert not damage.Variant("none", "", False, whole).must_be_refused
    changed = {**whole, "model.onnx": whole["model.onnx"] + b"\0"}
    assert damage.Variant("bits", "", False, changed).must_be_refused


def test_variants_are_the_same_for_the_same_seed() -> None:
    """A failure must be reproducible from its seed and number."""
    damage = importlib.import_module("bundle_damage")
    first, again, other = (list(damage.variants(BUNDLES, 14, seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert {variant.kind for variant in first} == set(damage.DAMAGE)
