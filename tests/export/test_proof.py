"""The proof must hold for a true export and fail for anything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch import nn

from gonie.errors import GonieError
from gonie.export.onnx_graph import onnx_graph
from gonie.export.proof import prove
from gonie.models.tagger import Tagger
from gonie.nn import LSTM, Scores, SoftmaxHead, WordEmbedding
from gonie.runtime.session import OnnxScorer


@pytest.fixture
def model() -> Tagger:
    return Tagger(
        embedding=WordEmbedding(size=12, width=6),
        encoder=LSTM(width=6, hidden=4),
        heads={"tags": SoftmaxHead(scores=Scores(width=4, num_tags=3, direct={}))},
        word_dropout=nn.Identity(),
        input_dropout=nn.Dropout(0.5),
        output_dropout=nn.Dropout(0.5),
    )


class Shifted:
    """A scorer that is off by ``by`` at real tokens or at padding."""

    def __init__(self, scorer: OnnxScorer, by: float, *, padding: bool = False) -> None:
        self._scorer, self._by, self._padding = scorer, by, padding

    def scores(self, batch: Any) -> np.ndarray:
        scores = self._scorer.scores(batch)
        scores[batch["mask"] != self._padding] += self._by
        return scores


def test_a_true_export_is_proved(model: Tagger, batches: Any) -> None:
    difference = prove(model, OnnxScorer(onnx_graph(model)), [batches([3, 1, 4]), batches([2])])
    assert difference.value < 1e-5
    assert difference.tokens == 10
    assert model.training  # proving an export in the middle of training must not change it


@pytest.mark.parametrize("by", [0.01, np.nan])
def test_a_false_export_is_refused(model: Tagger, batches: Any, by: float) -> None:
    with pytest.raises(GonieError, match="expected the exported model to give the trained model's scores"):
        prove(model, Shifted(OnnxScorer(onnx_graph(model)), by), [batches([3, 1])])


def test_padding_is_nobodys_business(model: Tagger, batches: Any) -> None:
    shifted = Shifted(OnnxScorer(onnx_graph(model)), 9.0, padding=True)
    assert prove(model, shifted, [batches([3, 1])]).tokens == 4


def test_a_proof_over_nothing_is_none(model: Tagger) -> None:
    with pytest.raises(GonieError, match="at least one batch"):
        prove(model, OnnxScorer(onnx_graph(model)), [])
