"""Compares the objectives with the likelihoods of the CRF layer, and with explicit sums for a softmax."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gonie.nn import CRF, CRFHead, Scores, SoftmaxHead
from gonie.nn.crf import layer
from gonie.nn.crf.chain import Constraints
from gonie.nn.heads.objectives import AnyOf, Exact, Weighted

K = 3
OPTIONS = torch.tensor(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], dtype=torch.bool
)  # each tag alone, one of the first two tags, any tag


@pytest.fixture
def batch() -> dict[str, Tensor]:
    tags = torch.tensor([[4, 3, 2, 0], [3, 4, 77, -1]])  # tags at padding are ignored
    return {"tags": tags, "mask": torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]).bool()}


def scores_of() -> Scores:
    return Scores(width=2, num_tags=K, direct={})


def refuse(*args: object, **kwargs: object) -> None:
    raise AssertionError("a training step checks its batch, which waits for a GPU")


@pytest.mark.parametrize("constrain", [False, True])
def test_a_crf_head_uses_the_unchecked_likelihoods_of_the_layer(
    batch: dict[str, Tensor], constrain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The losses are identical to those of the checked methods that users call."""
    torch.manual_seed(0)
    moves = torch.ones(K, K, dtype=torch.bool)
    moves[0, 1] = False
    ends = torch.ones(K, dtype=torch.bool)
    crf = CRF(K, allowed=Constraints(moves, ends, ends), constrain_training=constrain)
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    scores, mask, weights = torch.randn(2, 4, K), batch["mask"], torch.tensor([1.0, 2.0, 5.0])
    exact = batch | {"tags": torch.tensor([[0, 2, 1, 1], [2, 0, 77, -1]])}
    options = OPTIONS[batch["tags"].where(mask, 0)]
    cases = [
        (Exact(), exact, crf.log_likelihood(scores, exact["tags"], mask)),
        (AnyOf(OPTIONS), batch, crf.partial_log_likelihood(scores, options, mask)),
        (
            Weighted(weights),
            exact,
            crf.weighted_log_likelihood(scores, exact["tags"], mask, tag_weights=weights),
        ),
    ]
    for check in [name for name in vars(layer) if name.startswith("check_")]:
        monkeypatch.setattr(layer, check, refuse)
    for objective, given, expected in cases:
        head = CRFHead(scores=scores_of(), crf=crf, objective=objective)
        assert torch.equal(head.loss(scores, given), -expected.mean())


def test_the_softmax_sums_the_probabilities_of_all_options(batch: dict[str, Tensor]) -> None:
    torch.manual_seed(0)
    head = SoftmaxHead(scores=scores_of(), objective=AnyOf(OPTIONS))
    scores = torch.randn(2, 4, K)
    p = scores.softmax(2)
    total = sum(
        -p[row, t][OPTIONS[batch["tags"][row, t]]].sum().log()
        for row, length in enumerate((4, 2))
        for t in range(length)
    )
    torch.testing.assert_close(head.loss(scores, batch), torch.as_tensor(total) / 2)


@pytest.mark.parametrize("kind", ["crf", "softmax"])
def test_fully_known_tags_give_the_plain_loss(kind: str) -> None:
    torch.manual_seed(0)
    scores, mask = torch.randn(3, 5, K), torch.arange(5) < torch.tensor([[5], [1], [3]])
    batch = {"tags": torch.randint(0, K, (3, 5)), "mask": mask}
    losses = []
    for objective in (Exact(), AnyOf(OPTIONS), Weighted(torch.ones(K))):
        if kind == "crf":
            head: CRFHead | SoftmaxHead = CRFHead(scores=scores_of(), crf=CRF(K), objective=objective)
        else:
            head = SoftmaxHead(scores=scores_of(), objective=objective)
        losses.append(head.loss(scores, batch))
    for other in losses[1:]:
        torch.testing.assert_close(other, losses[0])


def test_the_weight_of_a_tag_multiplies_its_loss() -> None:
    """For a softmax, the loss is the weighted sum over tokens."""
    torch.manual_seed(0)
    scores, mask = torch.randn(2, 3, K), torch.tensor([[1, 1, 1], [1, 0, 0]]).bool()
    tags, weights = torch.tensor([[0, 2, 1], [2, 99, -1]]), torch.tensor([1.0, 2.0, 5.0])
    batch = {"tags": tags, "mask": mask}
    p = scores.log_softmax(2)
    expected = -(p[0, 0, 0] + 5 * p[0, 1, 2] + 2 * p[0, 2, 1] + 5 * p[1, 0, 2]) / 2
    head = SoftmaxHead(scores=scores_of(), objective=Weighted(weights))
    torch.testing.assert_close(head.loss(scores, batch), expected)


def test_options_are_not_saved_with_the_model() -> None:
    """Options belong to the corpus, and a model is loaded without them."""
    head = CRFHead(scores=scores_of(), crf=CRF(K), objective=AnyOf(OPTIONS))
    assert head.state_dict().keys() == CRFHead(scores=scores_of(), crf=CRF(K)).state_dict().keys()
