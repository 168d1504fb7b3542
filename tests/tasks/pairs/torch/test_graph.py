"""The ONNX graph of every pair network gives the scores and attention of torch, in any batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from gonie.errors import GonieError
from gonie.nn import (
    LSTM,
    AdditiveAttention,
    Bidirectional,
    CharCNN,
    DotAttention,
    Joined,
    Max,
    Mean,
    NoEmbedding,
    NoEncoder,
    PeepholeLSTM,
    Stack,
    TextScores,
    TextSigmoidHead,
    TextSoftmaxHead,
    VariationalDropout,
    Window,
    WordDropout,
    WordEmbedding,
)
from gonie.nn.heads.text_value import TextValueHead
from gonie.nn.inference import inferring, to_tensors
from gonie.nn.matching import AlignedMatching, PooledMatching, Projection
from gonie.runtime.form_scorer import FormScorer
from gonie.runtime.graph_check import check_graph
from gonie.tasks.classification.torch.network import LABEL
from gonie.tasks.pairs.torch.graph import pair_graph
from gonie.tasks.pairs.torch.network import PairNetwork

WORDS, CHARS, NGRAMS, WIDTH, HIDDEN, LABELS = 12, 9, 7, 6, 4, 3
CLOSE = 1e-4
Batch = dict[str, np.ndarray]


def both(kind: Any, width: int, hidden: int = HIDDEN) -> Bidirectional:
    return Bidirectional(ahead=kind(width=width, hidden=hidden), back=kind(width=width, hidden=hidden))


def aligned(width: int, composition: Any, pooling: Any) -> AlignedMatching:
    part = composition(5)
    return AlignedMatching(
        projection=Projection(width=4 * width, hidden=5),
        composition=part,
        pooling=pooling(part.width),
        dropout=VariationalDropout(0.5),
    )


def mean_and_max(width: int) -> Joined:
    return Joined([Mean(width=width), Max(width=width)])


MATCHINGS: dict[str, Callable[[int], Any]] = {
    "pooled, attention": lambda width: PooledMatching(pooling=AdditiveAttention(width=width, hidden=5)),
    "pooled, two": lambda width: PooledMatching(
        pooling=Joined([DotAttention(width=width, heads=2), Mean(width=width)])
    ),
    "ESIM": lambda width: aligned(width, lambda given: both(LSTM, given), mean_and_max),
    "aligned, peepholes": lambda width: aligned(
        width, lambda given: both(PeepholeLSTM, given), lambda given: AdditiveAttention(width=given, hidden=3)
    ),
    "aligned, window": lambda width: aligned(
        width, lambda given: Window(width=given, hidden=4, size=3), mean_and_max
    ),
    "aligned, none": lambda width: aligned(width, lambda given: NoEncoder(width=given), mean_and_max),
}
HEADS: dict[str, Callable[[int], Any]] = {
    "softmax": lambda width: TextSoftmaxHead(
        scores=TextScores(width=width, num_labels=LABELS, direct={"bag": NGRAMS})
    ),
    "sigmoid": lambda width: TextSigmoidHead(scores=TextScores(width=width, num_labels=1, direct={})),
    "value": lambda width: TextValueHead(
        scores=TextScores(width=width, num_labels=1, direct={"bag": NGRAMS}), low=-1.0, high=5.0
    ),
}


def network(
    matching: str = "ESIM", head: str = "softmax", *, embedding: Any = None, hidden: int = 7
) -> PairNetwork:
    """Return a model with random weights and with dropout in every place."""
    embedding = embedding or WordEmbedding(size=WORDS, width=WIDTH)
    encoder = both(LSTM, embedding.width)
    part = MATCHINGS[matching](encoder.width)
    model = PairNetwork(
        embedding=embedding,
        encoder=encoder,
        matching=part,
        hidden=Projection(width=part.width, hidden=hidden) if hidden else None,
        heads={LABEL: HEADS[head](hidden or part.width)},
        word_dropout=WordDropout(0.3),
        input_dropout=VariationalDropout(0.5),
        output_dropout=VariationalDropout(0.5),
        dropout=nn.Dropout(0.5),
    )
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0.0, 0.6, generator=generator)
        for module in model.modules():
            if isinstance(module, nn.Embedding | WordEmbedding):
                module.weight[0] = 0.0  # padding
    return model


class OnnxPairs:
    """The graph in onnxruntime, after the check for untrusted graphs."""

    def __init__(self, model: PairNetwork) -> None:
        main, forms = pair_graph(model)
        for graph in (main, forms):
            if graph is not None:
                check_graph(graph)
        self._session = session(main)
        self._forms = None if forms is None else FormScorer(session(forms))
        self.inputs = [given.name for given in self._session.get_inputs()]

    def __call__(self, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        given = dict(batch)
        counts = np.diff(batch["bag.offsets"])
        given["bag.rows"] = np.repeat(np.arange(len(counts)), counts)
        if self._forms is not None:
            given["spelled"] = self._forms(batch)
        fed = {name: given[name] for name in self.inputs}
        scores, shares = self._session.run(["scores", "word_shares"], fed)
        return scores, shares


def session(graph: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def of_torch(model: PairNetwork, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    with inferring(model) as device:
        tensors = to_tensors(batch, device)
        found = model.pool(model.embed(tensors), tensors)
        return model.score(found.vectors, tensors).numpy(), found.words.numpy()


def compare(model: PairNetwork, exported: OnnxPairs, batch: Batch) -> None:
    (wanted, wanted_shares), (got, shares) = of_torch(model, batch), exported(batch)
    assert got.dtype == shares.dtype == np.float32
    assert got.shape == wanted.shape
    assert shares.shape == batch["mask"].shape
    np.testing.assert_allclose(got, wanted, atol=CLOSE)
    np.testing.assert_allclose(shares, wanted_shares, atol=CLOSE)
    assert not shares[~batch["mask"]].any()


@pytest.fixture(scope="module", params=MATCHINGS)
def pair(request: pytest.FixtureRequest) -> tuple[PairNetwork, OnnxPairs]:
    model = network(request.param)
    return model, OnnxPairs(model)


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), min_size=1, max_size=5),
    seed=st.integers(0, 10_000),
    most=st.integers(0, 4),
)
def test_onnx_equals_torch_on_ragged_pairs(
    pair: tuple[PairNetwork, OnnxPairs], texts: Any, lengths: list[tuple[int, int]], seed: int, most: int
) -> None:
    """The exported model must score as in training, also for one token, one pair or any padding."""
    compare(*pair, texts(lengths, seed=seed, most=most))


def test_the_order_of_rows_does_not_matter(pair: tuple[PairNetwork, OnnxPairs], texts: Any) -> None:
    batch = texts([(4, 2), (1, 7), (3, 3)], seed=2)
    order = np.array([5, 0, 3, 1, 4, 2])
    for name in ("lengths", "mask", "words"):
        batch[name] = batch[name][order]
    batch["places"] = np.argsort(order)[batch["places"]]
    compare(*pair, batch)


def test_scores_of_a_pair_do_not_depend_on_its_batch(
    pair: tuple[PairNetwork, OnnxPairs], texts: Any, text_alone: Any
) -> None:
    _, exported = pair
    batch = texts([(4, 2), (1, 7), (1, 1)], seed=3)
    scores, shares = exported(batch)
    for row in range(3):
        alone = text_alone(batch, row)
        own, own_shares = exported(alone)
        T = alone["mask"].shape[1]
        np.testing.assert_allclose(own[0], scores[row], atol=1e-5)
        np.testing.assert_allclose(own_shares, shares[batch["places"][row], :T], atol=1e-5)


@pytest.mark.parametrize("hidden", [0, 7])
@pytest.mark.parametrize("head", HEADS)
def test_every_head_is_exported(head: str, hidden: int, texts: Any) -> None:
    model = network(head=head, hidden=hidden)
    compare(model, OnnxPairs(model), texts([(4, 2), (1, 9), (3, 3)], seed=6))


def test_character_embeddings_are_exported(texts: Any) -> None:
    spelled = CharCNN(size=CHARS, width=4, filters=5, kernel=3, dropout=0.5)
    model = network(embedding=Stack([WordEmbedding(size=WORDS, width=WIDTH), spelled]))
    compare(model, OnnxPairs(model), texts([(4, 2), (1, 1)], seed=8))


def test_onnx_equals_torch_for_wide_layers_and_long_texts(texts: Any) -> None:
    """Kernels depend on width and batch size, so realistic sizes are compared too."""
    torch.manual_seed(0)
    encoder, composition = both(LSTM, WIDTH, 100), both(LSTM, 100, 100)
    matching = AlignedMatching(
        projection=Projection(width=800, hidden=100), composition=composition, pooling=mean_and_max(200)
    )
    model = PairNetwork(
        embedding=WordEmbedding(size=WORDS, width=WIDTH),
        encoder=encoder,
        matching=matching,
        hidden=Projection(width=matching.width, hidden=100),
        heads={LABEL: TextSoftmaxHead(scores=TextScores(width=100, num_labels=LABELS, direct={}))},
        word_dropout=nn.Identity(),
        input_dropout=nn.Identity(),
        output_dropout=nn.Identity(),
        dropout=nn.Identity(),
    )
    compare(model, OnnxPairs(model), texts([(200, 30), (1, 1), *[(17, 9)] * 40], seed=5))


def test_the_graph_has_only_the_inputs_the_model_reads() -> None:
    assert set(OnnxPairs(network(head="sigmoid")).inputs) == {"words", "mask", "lengths", "places"}


class Strange(nn.Linear):
    input_width = width = 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: setattr(m, "matching", Strange(1, 1)),
            "cannot export the matching Strange",
        ),
        (
            lambda m: setattr(m.matching, "composition", Strange(1, 1)),
            "cannot export the encoder Strange",
        ),
        (
            lambda m: m.heads.update({LABEL: Strange(1, 1)}),
            "cannot export the head Strange",
        ),
        (lambda m: setattr(m, "embedding", NoEmbedding()), "Bidirectional has no embedding to read"),
    ],
)
def test_a_part_that_cannot_be_exported_is_named(change: Callable[[PairNetwork], None], message: str) -> None:
    model = network()
    change(model)
    with pytest.raises(GonieError, match=message):
        pair_graph(model)


def test_a_network_without_input_is_refused() -> None:
    model = network()
    model.embedding, model.encoder = NoEmbedding(), NoEncoder(width=0)
    with pytest.raises(GonieError, match="without word vectors cannot be exported"):
        pair_graph(model)
