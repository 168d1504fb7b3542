"""Tests the writers for other tools, and the display in a notebook."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gonie.api.events import EpochScored, RunFinished, RunStarted
from gonie.api.notebook import in_notebook
from gonie.api.writers import MLflowWriter, TensorBoardWriter
from gonie.errors import MissingExtraError
from gonie.system.cost import RunCost

EPOCH = EpochScored(
    epoch=1, loss=2.5, metric="F1", score=0.5, improved=True, rate=0.01, tokens=10, seconds=1.0
)


@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is not None, reason="TensorBoard is installed")
def test_a_missing_tensorboard_is_explained(tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match=r"TensorBoardWriter needs tensorboard.*gonie\[tracking\]"):
        TensorBoardWriter(tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("mlflow") is not None, reason="MLflow is installed")
def test_a_missing_mlflow_is_explained() -> None:
    with pytest.raises(MissingExtraError, match=r"MLflowWriter needs mlflow.*gonie\[tracking\]"):
        MLflowWriter()


def test_tensorboard_gets_the_epochs(tmp_path: Path, tagged: Any) -> None:
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    writer = TensorBoardWriter(tmp_path)
    writer(EPOCH)
    writer(RunFinished(folder=tmp_path, scores=tagged.scores, best_epoch=1, seconds=1.0, cost=RunCost()))
    found = accumulators.EventAccumulator(str(tmp_path)).Reload()
    assert set(found.Tags()["scalars"]) == {"loss", "dev_F1", "rate", "seconds", "final_dev_f1"}
    assert found.Scalars("loss")[0].value == 2.5


def test_mlflow_gets_the_epochs(tmp_path: Path, tagged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    writer = MLflowWriter()
    writer(RunStarted(folder=tmp_path / "run", epochs=1, first_epoch=1, about={}))
    writer(EPOCH)
    name = mlflow.active_run().info.run_id
    writer(RunFinished(folder=tmp_path, scores=tagged.scores, best_epoch=1, seconds=1.0, cost=RunCost()))
    assert mlflow.active_run() is None
    assert mlflow.get_run(name).data.metrics["dev_F1"] == 0.5


def test_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not in_notebook()
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert in_notebook()
