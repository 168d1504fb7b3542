"""The ONNX graph of every tagger gives the scores of torch, in any batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from gonie.errors import GonieError
from gonie.nn.crf.layer import CRF
from gonie.nn.dropout import VariationalDropout, WordDropout
from gonie.nn.embeddings import CharCNN, CharLSTM, FeatureEmbedding, NoEmbedding, Stack, WordEmbedding
from gonie.nn.encoders import LSTM, Bidirectional, Deep, Elman, NoEncoder, PeepholeLSTM, Window
from gonie.nn.heads import CRFHead, PartScores, Scores, SigmoidHead, SoftmaxHead
from gonie.runtime.session import OnnxScorer
from gonie.tasks.tagging.torch.graph import onnx_graph
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer

TAGS, WORDS, CHARS, FEATURES = 5, 12, 9, 7


def words(fixed: int = 4) -> WordEmbedding:
    return WordEmbedding(size=WORDS - fixed, width=6, fixed=fixed)


def cnn() -> CharCNN:
    return CharCNN(size=CHARS, width=4, filters=5, kernel=3, dropout=0.5)


def char_lstm() -> CharLSTM:
    return CharLSTM(size=CHARS, width=4, hidden=3, dropout=0.5)


def features(group: str = "context") -> FeatureEmbedding:
    return FeatureEmbedding(group=group, size=FEATURES, width=3)


def both(kind: Any, width: int, **more: Any) -> Bidirectional:
    return Bidirectional(ahead=kind(width=width, hidden=4, **more), back=kind(width=width, hidden=4, **more))


def tagger(embedding: Any, encoder: Any, *, crf: bool, direct: tuple[str, ...] = ()) -> TaggingNetwork:
    """Return a model with random weights and with dropout in every place."""
    scores = Scores(width=encoder.width, num_tags=TAGS, direct=dict.fromkeys(direct, FEATURES))
    model = TaggingNetwork(
        embedding=embedding,
        encoder=encoder,
        heads={"tags": CRFHead(scores=scores, crf=CRF(TAGS)) if crf else SoftmaxHead(scores=scores)},
        word_dropout=WordDropout(0.3),
        input_dropout=VariationalDropout(0.5),
        output_dropout=nn.Dropout(0.5),
    )
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in (*model.parameters(), *model.buffers()):
            if weight.is_floating_point():
                weight.normal_(0.0, 0.6, generator=generator)
        for part in model.modules():
            if isinstance(part, nn.Embedding | WordEmbedding):
                part.weight[0] = 0.0  # padding
    return model


def deep(*layers: Any) -> Deep:
    return Deep(layers=layers, dropout=VariationalDropout(0.5))


def by_parts(embedding: Any, encoder: Any, *direct: str) -> TaggingNetwork:
    """Return a model whose tags share weights by their parts."""
    model = tagger(embedding, encoder, crf=False)
    members = [[0], [1], [0, 1], [2, 1], [2]]
    sizes = dict.fromkeys(direct, FEATURES)
    scores = PartScores(width=encoder.width, parts=members, direct=sizes)
    with torch.no_grad():
        for weight in scores.parameters():
            weight.normal_()
    model.heads["tags"] = SoftmaxHead(scores=scores)
    return model


FAMILY: dict[str, Callable[[], TaggingNetwork]] = {
    "RNN": lambda: tagger(words(), Elman(width=6, hidden=4), crf=False),
    "RNN, sigmoid": lambda: tagger(words(), Elman(width=6, hidden=4, activation="sigmoid"), crf=False),
    "LSTM": lambda: tagger(words(0), LSTM(width=6, hidden=4), crf=False),
    "LSTM, peepholes": lambda: tagger(words(), PeepholeLSTM(width=6, hidden=4), crf=False),
    "BiLSTM": lambda: tagger(words(), both(LSTM, 6), crf=False),
    "BiRNN": lambda: tagger(words(), both(Elman, 6, activation="sigmoid"), crf=False),
    "BiLSTM, tags by parts": lambda: by_parts(words(), both(LSTM, 6), "context"),
    "features, tags by parts": lambda: by_parts(NoEmbedding(), NoEncoder(width=0), "context"),
    "CRF": lambda: tagger(NoEmbedding(), NoEncoder(width=0), crf=True, direct=("spelling", "context")),
    "CRF on words": lambda: tagger(words(), NoEncoder(width=6), crf=True),
    "LSTM-CRF": lambda: tagger(words(), LSTM(width=6, hidden=4), crf=True),
    "BiLSTM-CRF": lambda: tagger(words(), both(LSTM, 6), crf=True, direct=("context",)),
    "BiLSTM-CRF, peepholes": lambda: tagger(words(), both(PeepholeLSTM, 6), crf=True),
    "BiLSTM-CRF, CNN": lambda: tagger(Stack([words(), cnn()]), both(LSTM, 11), crf=True),
    "BiLSTM-CRF, LSTM": lambda: tagger(Stack([words(), char_lstm()]), both(LSTM, 12), crf=True),
    "BiLSTM-CRF, features": lambda: tagger(
        Stack([words(), features(), features("spelling")]), both(LSTM, 12), crf=True, direct=("context",)
    ),
    "characters alone": lambda: tagger(cnn(), both(LSTM, 5), crf=True),
    "stack of nothing": lambda: tagger(Stack([NoEmbedding(), words()]), NoEncoder(width=6), crf=False),
    "deep": lambda: tagger(
        words(), deep(both(LSTM, 6), both(PeepholeLSTM, 8), Elman(width=8, hidden=3)), crf=True
    ),
    "window": lambda: tagger(words(), Window(width=6, hidden=4, size=5), crf=False),
    "window of one": lambda: tagger(words(), Window(width=6, hidden=4, size=1), crf=True),
    "window, deep": lambda: tagger(
        Stack([words(), features()]), Window(width=9, hidden=4, size=7, layers=2), crf=False
    ),
    "unlike directions": lambda: tagger(
        words(), Bidirectional(ahead=LSTM(width=6, hidden=4), back=Elman(width=6, hidden=2)), crf=True
    ),
    "half peepholes": lambda: tagger(
        words(), Bidirectional(ahead=LSTM(width=6, hidden=4), back=PeepholeLSTM(width=6, hidden=4)), crf=True
    ),
}


@pytest.fixture(scope="module", params=FAMILY)
def pair(request: pytest.FixtureRequest) -> tuple[TorchScorer, OnnxScorer]:
    model = FAMILY[request.param]()
    return TorchScorer(model), OnnxScorer(*onnx_graph(model), threads=1)


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    seed=st.integers(0, 10_000),
    most=st.integers(0, 4),
)
def test_onnx_equals_torch_on_ragged_batches(
    pair: tuple[TorchScorer, OnnxScorer], batches: Any, lengths: list[int], seed: int, most: int
) -> None:
    """The exported model must score as in training, also for one token, no features or any padding."""
    model, exported = pair
    batch = batches(lengths, seed=seed, most=most)
    wanted, got = model.scores(batch), exported.scores(batch)
    assert got.shape == wanted.shape == (*batch["mask"].shape, TAGS)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got[batch["mask"]], wanted[batch["mask"]], atol=2e-5)


@pytest.mark.parametrize("outside", [0, 1])
def test_a_sigmoid_is_exported_as_the_scores_of_two_tags(outside: int, batches: Any) -> None:
    model = tagger(words(), Window(width=6, hidden=4, size=5), crf=False)
    scores = Scores(width=4, num_tags=1, direct={"spelling": FEATURES})
    nn.init.normal_(scores.direct["spelling"].weight)  # type: ignore[arg-type]
    model.heads["tags"] = SigmoidHead(scores=scores, outside=outside)
    batch = batches([4, 1, 7], seed=2)
    got, wanted = OnnxScorer(*onnx_graph(model)).scores(batch), TorchScorer(model).scores(batch)
    assert got.shape == (3, 7, 2)
    np.testing.assert_allclose(got[batch["mask"]], wanted[batch["mask"]], atol=2e-5)


def test_scores_of_a_sentence_do_not_depend_on_its_batch(
    pair: tuple[TorchScorer, OnnxScorer], batches: Any, alone: Any
) -> None:
    """A sentence must not be tagged differently because another one was in its batch."""
    _, exported = pair
    batch = batches([4, 1, 7, 3], seed=3)
    together = exported.scores(batch)
    for row, n in enumerate(batch["lengths"]):
        np.testing.assert_allclose(exported.scores(alone(batch, row))[0], together[row, :n], atol=1e-5)


def test_the_graph_has_only_the_inputs_the_model_reads() -> None:
    assert OnnxScorer(*onnx_graph(FAMILY["BiLSTM-CRF, CNN"]())).inputs == (
        "chars",
        "words",
        "forms",
        "lengths",
    )
    assert OnnxScorer(*onnx_graph(FAMILY["CRF"]())).inputs == (
        "mask",
        "spelling.ids",
        "spelling.rows",
        "context.ids",
        "context.rows",
    )


def test_sums_of_many_features_are_deterministic(batches: Any) -> None:
    """onnxruntime's ScatterND loses additions when threads write to the same position."""
    scorer = OnnxScorer(*onnx_graph(FAMILY["CRF"]()), threads=2)
    batch = batches([200, 3], seed=1, most=400)
    first = scorer.scores(batch)
    assert all(np.array_equal(scorer.scores(batch), first) for _ in range(5))


def test_onnx_equals_torch_for_wide_layers_and_long_sentences(batches: Any) -> None:
    """Kernels depend on width and batch size, so realistic sizes are compared too."""
    torch.manual_seed(0)
    model = tagger(Stack([words(), cnn()]), both(LSTM, 11), crf=True)
    model.encoder = Bidirectional(ahead=LSTM(width=11, hidden=128), back=LSTM(width=11, hidden=128))
    model.heads["tags"] = SoftmaxHead(scores=Scores(width=256, num_tags=TAGS, direct={}))
    batch = batches([300, 1, 40, *[17] * 40], seed=5)
    got, wanted = OnnxScorer(*onnx_graph(model)).scores(batch), TorchScorer(model).scores(batch)
    np.testing.assert_allclose(got[batch["mask"]], wanted[batch["mask"]], atol=2e-5)


class Strange(nn.Linear):
    width = 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: setattr(m, "embedding", Strange(1, 1)),
            "cannot export the embedding Strange",
        ),
        (
            lambda m: setattr(m, "encoder", Strange(1, 1)),
            "cannot export the encoder Strange",
        ),
        (
            lambda m: setattr(m.encoder, "back", Strange(1, 1)),
            "cannot export the recurrent layer Strange",
        ),
        (
            lambda m: m.heads.update({"tags": Strange(1, 1)}),
            "cannot export the head Strange",
        ),
        (lambda m: setattr(m, "embedding", NoEmbedding()), "Bidirectional has no embedding to read"),
    ],
)
def test_a_part_that_cannot_be_exported_is_named(
    change: Callable[[TaggingNetwork], None], message: str
) -> None:
    model = FAMILY["BiLSTM"]()
    change(model)
    with pytest.raises(GonieError, match=message):
        onnx_graph(model)
