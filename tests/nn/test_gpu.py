"""Tests that need a GPU: steps without synchronisation, deterministic mode, and equality with the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn import (
    CRF,
    LSTM,
    AdditiveAttention,
    BatchNorm,
    Bidirectional,
    CharCNN,
    CharLSTM,
    Constraints,
    Convolution,
    CRFHead,
    DotAttention,
    Elman,
    FeatureEmbedding,
    Joined,
    Last,
    Max,
    Mean,
    MultiLabelHead,
    Normalized,
    PeepholeLSTM,
    Scores,
    SoftmaxHead,
    Stack,
    TextScores,
    TextSigmoidHead,
    TextSoftmaxHead,
    VariationalDropout,
    WordDropout,
    WordEmbedding,
)
from gonie.nn.heads.objectives import AnyOf, Objective, Weighted
from gonie.nn.heads.text_objectives import OneOf

Batch = dict[str, Tensor]
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def objectives() -> list[Objective]:
    """Return the objectives of a CRF head other than exact tags."""
    options = torch.eye(5, dtype=torch.bool)
    options[:, 0] = True  # each tag or tag 0, which is allowed everywhere
    return [AnyOf(options), Weighted(torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]))]


def crf_head(objective: Objective) -> CRFHead:
    """Return a head that forbids transitions to higher tags, except from tag 0."""
    moves, ends = torch.ones(5, 5).tril().bool(), torch.ones(5, dtype=torch.bool)
    moves[0] = True
    crf = CRF(5, allowed=Constraints(moves, ends, ends))
    return CRFHead(scores=Scores(width=10, num_tags=5, direct={}), crf=crf, objective=objective)


class Model(nn.Module):
    """A model with every part. Each sentence is also a text."""

    def __init__(self) -> None:
        super().__init__()
        parts = [
            WordEmbedding(size=12, width=6, singletons=torch.arange(12) > 5, singleton_rate=0.5),
            CharCNN(size=20, width=5, filters=7, kernel=3, dropout=0.5),
            CharLSTM(size=20, width=5, hidden=4, dropout=0.5),
            FeatureEmbedding(group="spelling", size=9, width=6),
        ]
        self.embedding = Stack(parts)
        self.dropout = nn.Sequential(WordDropout(0.1), VariationalDropout(0.3))
        layers = [LSTM, PeepholeLSTM, Elman]
        self.encoders = nn.ModuleList(
            Bidirectional(ahead=layer(width=27, hidden=5), back=layer(width=27, hidden=5)) for layer in layers
        )
        self.encoders.append(Convolution(width=27, hidden=5, kernels=(2, 3), dropout=0.5))
        poolings = [
            AdditiveAttention(width=10, hidden=4, heads=2),
            DotAttention(width=10),
            Mean(width=10),
            Max(width=10),
            Last(width=10, both_ways=True),
        ]
        self.pooling = Normalized(pooling=Joined(poolings), norm=BatchNorm(width=60))
        crf = CRFHead(scores=Scores(width=10, num_tags=5, direct={"spelling": 9}), crf=CRF(5))
        softmax = SoftmaxHead(scores=Scores(width=10, num_tags=5, direct={}))
        self.heads = nn.ModuleList([crf, softmax, *map(crf_head, objectives())])
        weighted = OneOf(weights=torch.tensor([1.0, 2.0]), smoothing=0.1)
        self.text_heads = nn.ModuleList(
            [
                TextSoftmaxHead(scores=TextScores(width=60, num_labels=2, direct={"bag": 9})),
                TextSigmoidHead(scores=TextScores(width=60, num_labels=1, direct={}), objective=weighted),
            ]
        )
        self.labels_head = MultiLabelHead(scores=TextScores(width=60, num_labels=2, direct={}))

    def loss(self, batch: Batch) -> Tensor:
        vectors = self.dropout(self.embedding(batch))
        states = torch.stack([encoder(vectors, batch["mask"]) for encoder in self.encoders]).sum(0)
        losses = [head.loss(head.score(states, batch), batch) for head in self.heads]
        texts, _ = self.pooling(states, batch["mask"])
        losses += [head.loss(head.score(texts, batch), batch) for head in self.text_heads]
        several = {"labels": batch["several"]}
        losses.append(self.labels_head.loss(self.labels_head.score(texts, several), several))
        return torch.stack(losses).sum()


@pytest.fixture
def batch(make_batch: Callable[..., Batch]) -> Batch:
    texts = {
        "labels": torch.tensor([0, 1, 1, 0]),
        "several": torch.tensor([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]),
        "bag.ids": torch.randint(0, 9, (8,)),
        "bag.offsets": torch.tensor([0, 3, 3, 7, 8]),
    }
    return {name: value.cuda() for name, value in {**make_batch([9, 3, 7, 1]), **texts}.items()}


@pytest.fixture
def deterministic() -> Iterator[None]:
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("low", [False, True], ids=["float32", "bf16"])
def test_a_training_step_does_not_synchronise_with_the_gpu(batch: Batch, low: bool) -> None:
    model = Model().cuda()
    for waiting in ("default", "error"):  # the first step may initialise libraries
        torch.cuda.set_sync_debug_mode(waiting)
        try:
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=low):
                loss = model.loss(batch)
            loss.backward()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    assert loss.isfinite()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())


def test_the_crf_refuses_the_same_input_on_gpu_and_cpu() -> None:
    """The kernels detect an invalid row, and the error must name it."""
    crf, emissions = CRF(3).cuda(), torch.zeros(2, 4, 3, device="cuda")
    tags = torch.zeros(2, 4, dtype=torch.int64, device="cuda")
    good = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]], device="cuda").bool()
    empty, stray = good.clone(), good.clone()
    empty[1], stray[0, 2] = False, False
    for mask, text in ((empty, "no token in row 1"), (stray, "a token after padding in row 0")):
        for ask in (
            lambda mask=mask: crf.log_likelihood(emissions, tags, mask),
            lambda mask=mask: crf.log_partition(emissions, mask),
            lambda mask=mask: crf.viterbi(emissions, mask),
            lambda mask=mask: crf.marginals(emissions, mask),
        ):
            with pytest.raises(InputError, match=text):
                ask()
    tags[1, 1] = 3
    with pytest.raises(InputError, match="3 in row 1 at token 1"):
        crf.log_likelihood(emissions, tags, good)
    tags[1, 1], tags[1, 3] = 0, 99  # at padding, where it does not matter
    assert crf.log_likelihood(emissions, tags, good).isfinite().all()
    emissions[0, 0, 0] = torch.inf  # the mask is valid, so this is no error
    assert crf.log_partition(emissions, good)[1].isfinite()


@pytest.mark.usefixtures("deterministic")
def test_deterministic_mode_repeats_every_gradient_exactly(batch: Batch) -> None:
    runs = []
    for _ in range(2):
        torch.manual_seed(5)
        model = Model().cuda()
        model.loss(batch).backward()
        runs.append([weight.grad for weight in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*runs, strict=True))


def test_cpu_and_gpu_give_the_same_loss_and_gradients(batch: Batch) -> None:
    """Dropout is off, but the model is in training mode, as cuDNN has no gradients in evaluation mode."""
    model = Model().double()
    for part in model.modules():
        if isinstance(part, (nn.Dropout, VariationalDropout, WordDropout, WordEmbedding)):
            part.eval()
    results = []
    for device in ("cpu", "cuda"):
        model.to(device).zero_grad()
        loss = model.loss({name: value.to(device) for name, value in batch.items()})
        loss.backward()
        results.append([loss.detach().cpu(), *(weight.grad.cpu().clone() for weight in model.parameters())])
    for cpu, gpu in zip(*results, strict=True):
        torch.testing.assert_close(gpu, cpu)
