"""Tests that the notebooks of the docs run, and that their stored outputs are complete and small."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
QUICK = {"crf"}
SIZE = 100_000
"""Maximum size in bytes of a notebook with its outputs."""


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else [pytest.mark.long])
        for path in NOTEBOOKS
    ],
)
def test_a_notebook_runs(path: Path) -> None:
    for package in ("nbclient", "ipykernel"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"no {package}: pip install '.[docs]' -c constraints.txt")
    command = [sys.executable, ROOT / "tools" / "run_notebooks.py", path.stem]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert ended.returncode == 0, ended.stderr[-5000:]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_stored_outputs_are_complete_and_small(path: Path) -> None:
    """If this fails: python tools/run_notebooks.py --write NAME"""
    assert path.stat().st_size < SIZE
    assert str(ROOT) not in path.read_text("utf-8")
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
    assert "error" not in kinds
    assert kinds


def test_only_the_final_state_of_a_progress_bar_is_stored() -> None:
    spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "tools" / "run_notebooks.py")
    if spec is None or spec.loader is None or importlib.util.find_spec("nbclient") is None:
        pytest.skip("no nbclient: pip install '.[docs]' -c constraints.txt")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.screen("a\r\n 10%\r\x1b[2K 50%\r\x1b[2Kdone\n") == "a\ndone\n"
    assert tool.screen("one\ntwo\n\x1b[1A\x1b[2K\x1b[1A\x1b[2Kthree") == "three\n\n"
    assert tool.screen("\x1b[31mred\x1b[0m") == "red"
