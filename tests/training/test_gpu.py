"""Tests whole runs on a GPU.

In deterministic mode, a resumed run gives the same bytes. The cost of a run includes that of the GPU.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def test_a_run_on_a_gpu_is_exported_and_resumes_to_the_same_bytes(
    gonie: Callable[..., Any], toy: Path, tmp_path: Path
) -> None:
    settings = ["--set", "train.deterministic=true", "--set", "train.checkpoint_seconds=0.001"]
    train = ["train", str(toy / "toy.toml"), "--device", "cuda", "--set", "train.epochs=30", *settings]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    ended = gonie(*train, "--out", whole)
    assert ended.code == 0, ended.err
    child = subprocess.Popen(
        [sys.executable, "-m", "gonie", *train, "--out", str(killed)], stdout=subprocess.DEVNULL
    )
    while not (killed / "last.safetensors").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not (killed / "bundle").exists()
    ended = gonie(*train, "--out", killed, "--resume")
    assert ended.code == 0, ended.err
    for file in ("best.safetensors", "last.safetensors"):
        assert (whole / file).read_bytes() == (killed / file).read_bytes()


def test_a_run_reports_what_it_cost_on_the_gpu(gonie: Callable[..., Any], toy: Path, tmp_path: Path) -> None:
    ended = gonie("train", toy / "toy.toml", "--device", "cuda", "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    assert "of GPU time" in ended.out
    cost = json.loads((tmp_path / "run" / "cost.json").read_bytes())
    assert cost["gpu_seconds"] == pytest.approx(cost["training_seconds"] + cost["scoring_seconds"])
    assert cost["peak_gpu_memory_bytes"] > 0
    used = cost["energy_joules"]["gpu"]
    assert used is None or used > 0, "GPUs before Volta do not tell"
