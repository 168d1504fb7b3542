"""Tests the form scorer: forms computed in small batches equal forms computed one by one, in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gonie
from gonie.errors import BundleError
from gonie.features.corpus import collate
from gonie.runtime import form_scorer as module
from gonie.runtime.form_scorer import FormScorer
from gonie.text.types import Sentence

BUNDLES = Path(__file__).parent.parent / "bundles" / "4"
WORDS = ["x" * length for length in (40, 1, 7, 2, 30)] + ["서울", "Anna", "a", "Zoë-Marie", "."]


@pytest.mark.parametrize("name", ["letters", "bytes"])
def test_vectors_do_not_depend_on_the_other_forms(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the length of other forms nor the batch size changes a vector."""

    def spelled(words: list[str], few: int) -> np.ndarray:
        monkeypatch.setattr(module, "FEW", few)
        model: Any = gonie.load(BUNDLES / name, threads=1)  # with an empty cache
        batch = collate(model.encoding.encode([Sentence(words=tuple(words))]), np.array([0]))
        return np.asarray(model.scorer._forms(batch))

    wanted = np.concatenate([spelled([word], few=1) for word in WORDS])
    for few in (1, 3, 64):
        np.testing.assert_allclose(spelled(WORDS, few), wanted, atol=1e-6)


class Session:
    """A graph that declares an output shape."""

    def __init__(self, shape: list[object]) -> None:
        self.shape = shape

    def get_inputs(self) -> list[Any]:
        return []

    def get_outputs(self) -> list[Any]:
        return [self]


@pytest.mark.parametrize("shape", [["U", "F"], ["U"], ["U", 0], ["U", 10**9], ["U", 2, 3]])
def test_a_graph_with_an_invalid_output_shape_is_refused(shape: list[object]) -> None:
    """An untrusted graph may declare a huge output."""
    with pytest.raises(BundleError, match="from the graph of forms"):
        FormScorer(Session(shape))
