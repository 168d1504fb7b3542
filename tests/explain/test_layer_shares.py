"""The shares that are shown are those that the model's bundle tells of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import BundleError
from gonie.explain.layer_shares import layer_shares
from gonie.reports.explanation import LayerShares
from gonie.runtime.bundle import write_bundle

TOLD = {"place": "output", "shares": [0.25, 0.75], "scale": 1.5, "normalized": True}


@pytest.fixture
def told(tmp_path: Path, text_bundle: Callable[..., Any]) -> Callable[[Any], Path]:
    """Writes a bundle whose description says this of layers."""

    def write(layers: Any) -> Path:
        folder = tmp_path / "run" / "bundle"
        write_bundle(folder, text_bundle())
        index = json.loads((folder / "bundle.json").read_text("utf-8"))
        assert "layers" not in index, "the description of a model without is what it was"
        (folder / "bundle.json").write_text(json.dumps({**index, "layers": layers}), "utf-8")
        return folder

    return write


def test_they_come_from_the_bundle_or_the_run_around_it(told: Callable[[Any], Path]) -> None:
    folder = told([TOLD])
    wanted = LayerShares(place="output", shares=(0.25, 0.75), scale=1.5, normalized=True)
    assert layer_shares(folder) == layer_shares(folder.parent) == (wanted,)


def test_a_model_without_has_none(toy_run: Path) -> None:
    assert layer_shares(toy_run) == ()


@pytest.mark.parametrize(
    "damaged", [{}, 3, [3], [{"place": "input"}], [{**TOLD, "shares": 1}], [{**TOLD, "scale": "much"}]]
)
def test_a_damaged_description_is_refused(told: Callable[[Any], Path], damaged: Any) -> None:
    with pytest.raises(BundleError, match="damaged bundle"):
        layer_shares(told(damaged))
