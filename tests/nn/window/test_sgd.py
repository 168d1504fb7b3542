"""Compares per-window SGD with autograd, window by window in float64."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn import (
    CRF,
    CharCNN,
    CRFHead,
    Elman,
    FeatureEmbedding,
    Scores,
    SigmoidHead,
    SoftmaxHead,
    Stack,
    Window,
    WordEmbedding,
)
from gonie.nn.heads.objectives import Weighted
from gonie.nn.window.sgd import WindowSGD

Batch = dict[str, Tensor]
LENGTHS = [7, 1, 4]


def words(*, tuned: bool = True, fixed: int = 0) -> WordEmbedding:
    rows = torch.randperm(12) if fixed else None
    return WordEmbedding(size=12 - fixed, width=3, fixed=fixed, rows=rows, tuned=tuned)


def features() -> FeatureEmbedding:
    return FeatureEmbedding(group="spelling", size=9, width=2)


def softmax(width: int) -> SoftmaxHead:
    return SoftmaxHead(scores=Scores(width=width, num_tags=5, direct={}))


def sigmoid(width: int, outside: int = 0) -> SigmoidHead:
    return SigmoidHead(scores=Scores(width=width, num_tags=1, direct={}), outside=outside)


class Model(nn.Module):
    """The parts of a tagger as one model."""

    def __init__(self, embedding: nn.Module, head: nn.Module, *, size: int, layers: int = 1) -> None:
        super().__init__()
        self.embedding, self.head = embedding, head
        self.encoder = Window(width=int(embedding.width), hidden=6, size=size, layers=layers)  # type: ignore[arg-type]

    def score(self, batch: Batch) -> Tensor:
        return self.head.score(self.encoder(self.embedding(batch), batch["mask"]), batch)  # type: ignore[operator]

    def squares(self) -> Tensor:
        matrices = [layer.weight for layer in self.encoder.linear()] + [self.head.scores.weight]  # type: ignore[union-attr]
        return torch.stack([w.square().sum() for w in matrices]).sum()  # type: ignore[union-attr]


MODELS: dict[str, Callable[[], Model]] = {
    "one class": lambda: Model(words(), sigmoid(6), size=5),
    "one class, the first tag": lambda: Model(words(), sigmoid(6, outside=1), size=3),
    "many classes": lambda: Model(words(), softmax(6), size=5),
    "two layers": lambda: Model(words(), sigmoid(6), size=5, layers=2),
    "three layers, many classes": lambda: Model(words(), softmax(6), size=3, layers=3),
    "features beside words": lambda: Model(Stack([words(), features()]), softmax(6), size=5),
    "some vectors fixed": lambda: Model(Stack([features(), words(fixed=5)]), sigmoid(6), size=3),
    "all vectors fixed": lambda: Model(words(tuned=False, fixed=5), softmax(6), size=3),
    "a window of one": lambda: Model(words(), softmax(6), size=1),
    "wider than the sentences": lambda: Model(words(), softmax(6), size=19),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weight_decay", [0.0, 0.3])
def test_updates_equal_autograd_sgd_window_by_window(
    name: str,
    weight_decay: float,
    make_batch: Callable[..., Batch],
    scramble: Callable[[nn.Module], nn.Module],
) -> None:
    """Words repeat within a window. Each of their positions must contribute to the update."""
    model = scramble(MODELS[name]()).double()
    assert isinstance(model, Model)
    batch = make_batch(LENGTHS, tags=2 if isinstance(model.head, SigmoidHead) else 5)
    batch["words"] = torch.where(batch["mask"], batch["words"].clamp(max=4), 0)
    slow, rate = copy.deepcopy(model), 0.05

    torch.manual_seed(3)
    total = WindowSGD(embedding=model.embedding, encoder=model.encoder, head=model.head).step(
        batch, rate=rate, weight_decay=weight_decay
    )

    torch.manual_seed(3)
    places = batch["mask"].nonzero()[torch.randperm(sum(LENGTHS))]
    trained = [weight for weight in slow.parameters() if weight.requires_grad]
    expected = 0.0
    for row, at in places.tolist():
        log_p = slow.score(batch)[row, at].log_softmax(0)
        loss = -log_p[batch["tags"][row, at]]
        expected += float(loss.detach())
        gradients = torch.autograd.grad(loss + weight_decay / 2 * slow.squares(), trained, allow_unused=True)
        with torch.no_grad():
            for weight, gradient in zip(trained, gradients, strict=True):
                if gradient is not None:
                    weight.sub_(rate * gradient)

    assert total == pytest.approx(expected, rel=1e-12)
    for (label, fast), other in zip(model.state_dict().items(), slow.state_dict().values(), strict=True):
        assert torch.allclose(fast, other, rtol=1e-10, atol=1e-12), label


def test_words_seen_once_are_sometimes_replaced_by_the_unknown_word(make_batch: Callable[..., Batch]) -> None:
    """Otherwise the vector of the unknown word would never be trained."""
    part = WordEmbedding(size=12, width=3, singletons=torch.arange(12) > 1, singleton_rate=0.5)
    model = Model(part, softmax(6), size=3)
    before = part.weight.detach().clone()
    torch.manual_seed(0)
    sgd = WindowSGD(embedding=model.embedding, encoder=model.encoder, head=model.head)
    sgd.step(make_batch(LENGTHS, tags=5), rate=0.1)
    assert not torch.equal(part.weight[1], before[1])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"embedding": CharCNN(size=9, width=3, filters=3, kernel=3, dropout=0.0)},
            "support CharCNN: embeddings must be WordEmbedding",
        ),
        ({"encoder": Elman(width=3, hidden=6)}, "support Elman: the encoder must be Window"),
        (
            {"head": CRFHead(scores=Scores(width=6, num_tags=5, direct={}), crf=CRF(5))},
            "support CRFHead: the head must be SigmoidHead",
        ),
        (
            {"head": SoftmaxHead(scores=Scores(width=6, num_tags=5, direct={"spelling": 3}))},
            "no direct features",
        ),
        (
            {
                "head": SoftmaxHead(
                    scores=Scores(width=6, num_tags=5, direct={}), objective=Weighted(torch.ones(5))
                )
            },
            "support Weighted: the objective must be Exact",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_unsupported_model_is_refused(parts: dict[str, nn.Module], message: str) -> None:
    fine = {"embedding": words(), "encoder": Window(width=3, hidden=6, size=3), "head": softmax(6)}
    with pytest.raises(InputError, match=message):
        WindowSGD(**{**fine, **parts})
