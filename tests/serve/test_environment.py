"""Installs only `gonie[serve]` in a new environment and serves a bundle there, without torch."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
import venv
from pathlib import Path

import psutil
import pytest

from support.running_service import LETTERS

ROOT = Path(__file__).parent.parent.parent
ABSENT = ("torch", "onnx", "numba", "scipy", "pyarrow", "matplotlib", "kiwipiepy", "ray", "sklearn")
MOST = 250e6
"""Bytes of memory of all processes together, far more than needed."""


@pytest.mark.long
def test_the_extra_serve_alone_serves_a_bundle(tmp_path: Path) -> None:
    python = _environment(tmp_path / "serve")
    found = subprocess.run(
        [python, "-c", f"import importlib.util as u; print([n for n in {ABSENT} if u.find_spec(n)])"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert found.stdout.strip() == "[]"
    process = subprocess.Popen(
        [python, "-m", "gonie", "serve", str(LETTERS), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert "http://" in line, process.stderr.read()
        address = line.split()[-1]
        with urllib.request.urlopen(f"{address}/health/ready") as answer:
            assert answer.status == 200
        request = urllib.request.Request(
            f"{address}/v1/tag",
            data=json.dumps({"texts": ["Anna Kim lives in Seoul ."]}).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            assert [span["label"] for span in json.load(answer)["documents"][0]["spans"]] == ["PER", "LOC"]
        time.sleep(0.5)
        front = psutil.Process(process.pid)
        memory = {each.pid: each.memory_info().rss for each in (front, *front.children(recursive=True))}
        shown = ", ".join(f"{size / 1e6:.1f} MB" for size in memory.values())
        print(
            f"\nresident memory: {shown}; together {sum(memory.values()) / 1e6:.1f} MB", file=sys.__stdout__
        )
        assert sum(memory.values()) < MOST
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()


def _environment(folder: Path) -> str:
    """Create an environment with gonie and its extra `serve`, and return its Python."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{ROOT}[serve]"]
    made = subprocess.run(
        [*install, "-c", str(ROOT / "constraints.txt")], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"pip could not install the extra here: {made.stderr.strip().splitlines()[-1:]}")
    return python
