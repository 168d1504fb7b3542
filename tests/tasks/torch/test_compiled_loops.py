"""The first training run on a machine explains why the first step takes long."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gonie.nn.available import has_numba


@pytest.mark.long
@pytest.mark.skipif(not has_numba(), reason="Numba is not installed")
def test_compiling_is_announced_once(toy: Path, tmp_path: Path) -> None:
    notes = []
    for run in ("first", "second"):
        command = ["train", str(toy / "toy.toml"), "--out", str(tmp_path / run), "--set", "train.epochs=1"]
        ended = subprocess.run(
            [sys.executable, "-m", "gonie", *command, "--device", "cpu"],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        )
        notes.append("compiling loops for this processor" in ended.stdout + ended.stderr)
    assert notes == [True, False]
