"""The proof must hold for a true export and fail for anything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch import nn

from gonie.errors import GonieError
from gonie.export.proof import prove, prove_texts
from gonie.nn import (
    LSTM,
    AdditiveAttention,
    Max,
    Scores,
    SoftmaxHead,
    TextScores,
    TextSoftmaxHead,
    WordEmbedding,
)
from gonie.runtime.scorer import ScoredTexts
from gonie.runtime.session import OnnxScorer
from gonie.tasks.classification.torch.graph import text_graph
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level
from gonie.tasks.tagging.torch.graph import onnx_graph
from gonie.tasks.tagging.torch.network import TaggingNetwork


@pytest.fixture
def model() -> TaggingNetwork:
    return TaggingNetwork(
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


def test_a_true_export_is_proved(model: TaggingNetwork, batches: Any) -> None:
    difference = prove(model, OnnxScorer(*onnx_graph(model)), [batches([3, 1, 4]), batches([2])])
    assert difference.value < 1e-5
    assert difference.tokens == 10
    assert model.training  # proving an export in the middle of training must not change it


@pytest.mark.parametrize("by", [0.01, np.nan])
def test_a_false_export_is_refused(model: TaggingNetwork, batches: Any, by: float) -> None:
    with pytest.raises(GonieError, match="expected the exported model to give the trained model's scores"):
        prove(model, Shifted(OnnxScorer(*onnx_graph(model)), by), [batches([3, 1])])


def test_padding_is_nobodys_business(model: TaggingNetwork, batches: Any) -> None:
    shifted = Shifted(OnnxScorer(*onnx_graph(model)), 9.0, padding=True)
    assert prove(model, shifted, [batches([3, 1])]).tokens == 4


def test_a_proof_over_nothing_is_none(model: TaggingNetwork) -> None:
    with pytest.raises(GonieError, match="at least one batch"):
        prove(model, OnnxScorer(*onnx_graph(model)), [])


# --- texts -----------------------------------------------------------------------------------------------


def level(width: int, pooling: Any) -> Level:
    return Level(encoder=LSTM(width=width, hidden=4), pooling=pooling)


def classifier(pooling: Any) -> ClassifyingNetwork:
    return ClassifyingNetwork(
        embedding=WordEmbedding(size=12, width=6),
        words=level(6, pooling),
        sentences=level(4, AdditiveAttention(width=4, hidden=3)),
        heads={LABEL: TextSoftmaxHead(scores=TextScores(width=4, num_labels=3, direct={}))},
        word_dropout=nn.Identity(),
        dropout=nn.Dropout(0.5),
    )


class Changed:
    """A scorer of texts whose ``name`` is off by ``by``, at the first of all places that are real or not."""

    def __init__(self, model: ClassifyingNetwork, name: str, by: float, *, padding: bool = False) -> None:
        self._scorer = OnnxScorer(*text_graph(model))
        self._name, self._by, self._padding = name, by, padding

    def score_texts(self, batch: Any) -> ScoredTexts:
        scored = self._scorer.score_texts(batch)
        mask = {"words": batch["mask"], "sentences": batch["places_mask"]}.get(self._name)
        array = getattr(scored, self._name).copy()
        place = (0, 0) if mask is None else tuple(np.argwhere(mask != self._padding)[0])
        array[place] += self._by
        return scored._replace(**{self._name: array})


@pytest.fixture
def attention() -> ClassifyingNetwork:
    return classifier(AdditiveAttention(width=4, hidden=3))


def test_a_true_export_of_a_classifier_is_proved(attention: ClassifyingNetwork, texts: Any) -> None:
    exported = OnnxScorer(*text_graph(attention))
    difference = prove_texts(attention, exported, [texts([[3, 1], [4]]), texts([[2]])])
    assert difference.value < 1e-5
    assert difference.tokens == 10
    assert attention.training


@pytest.mark.parametrize("by", [0.001, np.nan])
@pytest.mark.parametrize("name", ScoredTexts._fields)
def test_a_share_is_as_much_a_promise_as_a_score(
    attention: ClassifyingNetwork, texts: Any, name: str, by: float
) -> None:
    """An explanation by attention would show weights that the trained model never had."""
    with pytest.raises(GonieError, match="expected the exported model to give the trained model's scores"):
        prove_texts(attention, Changed(attention, name, by), [texts([[3, 1], [4]])])


@pytest.mark.parametrize("name", ["words", "sentences"])
def test_shares_of_padding_are_nobodys_business(attention: ClassifyingNetwork, texts: Any, name: str) -> None:
    changed = Changed(attention, name, 9.0, padding=True)
    assert prove_texts(attention, changed, [texts([[3, 1], [4]])]).tokens == 8


def test_under_a_maximum_a_share_may_jump_but_not_all_of_them(texts: Any) -> None:
    """Two equal tokens may win in turn; a model must not be refused for it, nor a wrong graph be let by."""
    model, batch = classifier(Max(width=4)), [texts([[30, 40], [30]])]
    assert prove_texts(model, Changed(model, "words", 0.25), batch).value < 1e-5
    with pytest.raises(GonieError, match="expected the exported model"):
        prove_texts(model, Changed(model, "words", 25.0), batch)
