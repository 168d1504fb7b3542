"""Tests parts of the exported language model: its initial states, and layers that cannot be exported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gonie.errors import GonieError
from gonie.export.bilm import Bounds, after_marks, bounds_of
from gonie.features.byte_spelling import begin_row, end_row, spell_bytes
from gonie.nn.bilm import ClippedLSTM, ProjectedLSTM


def test_a_sentence_starts_from_the_states_after_the_marks(elmo: Any) -> None:
    """The model itself reads the mark with each sentence."""
    bilm = elmo().bilm.eval()
    marks = [begin_row(9), end_row(9)]
    chars = torch.from_numpy(np.concatenate([marks, spell_bytes(["a", "삼성"], longest=9)])).long()
    with torch.no_grad():
        vectors = bilm.words(chars)
        wanted = bilm.read(vectors[None, 2:], vectors[:2], torch.ones(1, 2, dtype=torch.bool))
        begun = after_marks(bilm, 9)
        onward, _ = bilm.ahead(vectors[2:, None], [tuple(part.clone() for part in c) for c in begun.ahead])
        back, _ = bilm.back(
            vectors[2:, None].flip(0), [tuple(part.clone() for part in c) for c in begun.back]
        )
    for layer, (ahead, backward) in enumerate(zip(onward, back, strict=True), start=1):
        got = torch.cat([ahead, backward.flip(0)], dim=2)[:, 0]
        torch.testing.assert_close(got, wanted[layer, 0], atol=1e-6, rtol=1e-5)


def test_a_model_in_training_stays_in_training_mode(elmo: Any) -> None:
    bilm = elmo().bilm.train()
    after_marks(bilm, 9)
    assert bilm.training


def test_bounds_are_those_of_the_layer() -> None:
    assert bounds_of(ProjectedLSTM(width=2, hidden=3)) == Bounds()
    assert bounds_of(ClippedLSTM(width=2, hidden=3, cell_clip=3.0, state_clip=2.0)) == Bounds(3.0, 2.0)
    with pytest.raises(GonieError, match="cannot export the language model layer LSTM"):
        bounds_of(torch.nn.LSTM(2, 3))
