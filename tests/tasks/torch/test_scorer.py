"""The torch scorer for the runtime: it returns NumPy arrays and does not change the model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from gonie.features.encoding import Encoding
from gonie.nn import LSTM, AdditiveAttention, TextScores, TextSoftmaxHead, WordEmbedding
from gonie.nn.inference import to_tensors
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level
from gonie.tasks.tagging.recipe import TaggerConfig as ModelConfig
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer, TorchTextScorer

Batches = Callable[..., dict[str, np.ndarray]]


@pytest.fixture
def model(encoding: Encoding) -> TaggingNetwork:
    values = {"words": {"width": 4}, "encoder": {"hidden": 3}, "dropout": {"input": 0.5, "output": 0.5}}
    return build_tagger(ModelConfig.model_validate(values), encoding)


def test_scores_are_those_of_the_model_without_dropout(
    model: TaggingNetwork, encoding: Encoding, batch_of: Batches
) -> None:
    model.train()
    batch = batch_of(encoding)
    scores = TorchScorer(model).scores(batch)
    assert scores.dtype == np.float32
    assert scores.shape == (*batch["mask"].shape, len(encoding.labels))
    with torch.no_grad():
        expected = model.eval()(to_tensors(batch, torch.device("cpu")))
    np.testing.assert_array_equal(scores, expected.numpy())


@pytest.mark.parametrize("training", [True, False])
def test_scoring_keeps_the_training_mode(
    model: TaggingNetwork, encoding: Encoding, batch_of: Batches, training: bool
) -> None:
    """Scoring dev data during training must not turn off dropout for the next steps."""
    model.train(training)
    TorchScorer(model).scores(batch_of(encoding))
    assert model.training is training
    with pytest.raises(KeyError):
        TorchScorer(model).scores({})
    assert model.training is training


def test_a_batch_becomes_tensors_of_the_same_values(encoding: Encoding, batch_of: Batches) -> None:
    batch = batch_of(encoding)
    batch["words"] = np.asfortranarray(batch["words"])
    tensors = to_tensors(batch, torch.device("cpu"))
    assert tensors.keys() == batch.keys()
    for name, array in batch.items():
        np.testing.assert_array_equal(tensors[name].numpy(), array)


@pytest.fixture
def classifier(encoding: Encoding) -> ClassifyingNetwork:
    return ClassifyingNetwork(
        embedding=WordEmbedding(size=len(encoding.words), width=4),
        words=Level(encoder=LSTM(width=4, hidden=3), pooling=AdditiveAttention(width=3, hidden=2)),
        sentences=Level(encoder=LSTM(width=3, hidden=3), pooling=AdditiveAttention(width=3, hidden=2)),
        heads={LABEL: TextSoftmaxHead(scores=TextScores(width=3, num_labels=2, direct={}))},
        word_dropout=nn.Identity(),
        dropout=nn.Dropout(0.5),
    )


def test_a_classifier_gives_its_scores_and_attention(
    classifier: ClassifyingNetwork, encoding: Encoding, batch_of: Batches
) -> None:
    batch = batch_of(encoding)  # four sentences, here of two texts
    batch["places"], batch["places_mask"] = (
        np.array([[0, 1, 2], [3, 0, 0]]),
        np.array([[1, 1, 1], [1, 0, 0]]) > 0,
    )
    scored = TorchTextScorer(classifier.train()).score_texts(batch)
    assert classifier.training
    assert [array.dtype for array in scored] == [np.float32] * 3
    with torch.no_grad():
        expected = classifier.eval()(to_tensors(batch, torch.device("cpu")))
    np.testing.assert_array_equal(scored.scores, expected.numpy())
    assert scored.words.shape == batch["mask"].shape
    np.testing.assert_allclose(scored.words.sum(1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(scored.sentences.sum(1), 1.0, rtol=1e-6)
    assert scored.sentences[1].tolist() == [1.0, 0.0, 0.0]
