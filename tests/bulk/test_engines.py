"""Tests that every engine of a bulk run writes the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from gonie.bulk.job import BulkJob

ENGINES = {
    "one process": ["--workers", "1"],
    "two processes": ["--engine", "local", "--workers", "2"],
    "Ray": ["--engine", "ray", "--workers", "2"],
}


@pytest.mark.long
def test_every_engine_writes_the_same_bytes(tagging: BulkJob, tmp_path: Path) -> None:
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed; do: pip install 'gonie[ray]'")
    records = [{"text": f"Anna met Bert {number} times .", "id": number} for number in range(200)]
    (tmp_path / "a.jsonl").write_text("\n".join([*map(json.dumps, records), "{"]), "utf-8")
    made: dict[str, dict[str, bytes]] = {}
    for name, options in ENGINES.items():
        arguments = ["tag", tagging.model, "--file", "a.jsonl", "--out", name, "--shard-size", "2000"]
        ended = subprocess.run(
            [sys.executable, "-m", "gonie", *map(str, arguments), *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        assert ended.returncode == 0, ended.stderr
        made[name] = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        first, speed, bad, reason = ended.stderr.splitlines()  # and no messages of Ray
        assert "the first invalid row is a.jsonl:201" in reason
        assert first == f"{name}: 201 rows in 5 parts"
        assert speed.endswith("tokens/s")
        assert "1 invalid row skipped" in bad
    assert made["one process"] == made["two processes"] == made["Ray"]
