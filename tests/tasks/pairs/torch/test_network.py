"""The pair network: its stages, its attention, and independence from the rest of the batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn import (
    LSTM,
    AdditiveAttention,
    Bidirectional,
    Joined,
    Max,
    Mean,
    TextScores,
    TextSoftmaxHead,
    VariationalDropout,
    WordDropout,
    WordEmbedding,
)
from gonie.nn.heads.text_value import TextValueHead
from gonie.nn.matching import AlignedMatching, PooledMatching, Projection
from gonie.tasks.classification.torch.network import LABEL
from gonie.tasks.pairs.torch.network import PairNetwork

WORDS, WIDTH, HIDDEN, LABELS = 20, 6, 4, 3
Batch = dict[str, Tensor]


def bilstm(width: int) -> Bidirectional:
    return Bidirectional(ahead=LSTM(width=width, hidden=HIDDEN), back=LSTM(width=width, hidden=HIDDEN))


def pooled() -> PooledMatching:
    return PooledMatching(pooling=AdditiveAttention(width=2 * HIDDEN, hidden=5))


def aligned() -> AlignedMatching:
    width = 2 * HIDDEN
    return AlignedMatching(
        projection=Projection(width=4 * width, hidden=5),
        composition=bilstm(5),
        pooling=Joined([Mean(width=width), Max(width=width)]),
        dropout=VariationalDropout(0.2),
    )


MATCHINGS = {"pooled": pooled, "aligned": aligned}


def network(kind: str = "aligned", **changes: Any) -> PairNetwork:
    torch.manual_seed(3)
    part = MATCHINGS[kind]()
    hidden = Projection(width=part.width, hidden=7)
    parts: dict[str, Any] = {
        "embedding": WordEmbedding(size=WORDS, width=WIDTH),
        "encoder": bilstm(WIDTH),
        "matching": part,
        "hidden": hidden,
        "heads": {LABEL: TextSoftmaxHead(scores=TextScores(width=7, num_labels=LABELS, direct={}))},
        "word_dropout": WordDropout(0.1),
        "input_dropout": VariationalDropout(0.2),
        "output_dropout": VariationalDropout(0.2),
        "dropout": nn.Dropout(0.2),
    }
    return PairNetwork(**{**parts, **changes})


def pairs(lengths: list[tuple[int, int]], seed: int = 0) -> Batch:
    """Return a batch whose rows are the texts of the pairs, first and second alternating."""
    generator = torch.Generator().manual_seed(seed)
    flat = torch.tensor(lengths).flatten()  # (B,)
    mask = torch.arange(int(flat.max())) < flat.unsqueeze(1)  # (B, T)
    return {
        "mask": mask,
        "words": torch.randint(1, WORDS, mask.shape, generator=generator).where(mask, 0),
        "places": torch.arange(len(flat)).view(-1, 2),
        "labels": torch.randint(0, LABELS, (len(lengths),), generator=generator),
    }


@pytest.fixture(params=MATCHINGS)
def model(request: pytest.FixtureRequest) -> PairNetwork:
    return network(request.param)


def test_scores_and_attention_have_the_right_shapes(model: PairNetwork) -> None:
    batch = pairs([(4, 2), (1, 6), (3, 3)])
    assert model(batch).shape == (3, LABELS)
    found = model.pool(model.embed(batch), batch)
    assert found.vectors.shape == (3, 7)
    assert found.words.shape == batch["mask"].shape
    assert not found.words[~batch["mask"]].any()
    torch.testing.assert_close(found.words.sum(1), torch.ones(6))
    assert model.loss(batch).shape == ()


def test_the_order_of_rows_does_not_matter(model: PairNetwork) -> None:
    """A batch may be sorted: ``places`` gives the rows of each pair, and attention stays with its row."""
    model.eval()
    batch, order = pairs([(4, 2), (1, 6), (3, 3)]), torch.tensor([5, 0, 3, 1, 4, 2])
    moved = {
        "mask": batch["mask"][order],
        "words": batch["words"][order],
        "places": order.argsort()[batch["places"]],
    }
    torch.testing.assert_close(model(moved), model(batch))
    shares, own = (model.pool(model.embed(each), each).words for each in (moved, batch))
    torch.testing.assert_close(shares, own[order])


def test_scores_of_a_pair_do_not_depend_on_its_batch(model: PairNetwork) -> None:
    model.eval()
    lengths = [(4, 2), (1, 6), (1, 1), (3, 3)]
    batch = pairs(lengths)
    scores, shares = model(batch), model.pool(model.embed(batch), batch).words
    for row, longest in enumerate(map(max, lengths)):
        own = slice(2 * row, 2 * row + 2)
        alone = {
            "mask": batch["mask"][own, :longest],
            "words": batch["words"][own, :longest],
            "places": torch.tensor([[0, 1]]),
        }
        torch.testing.assert_close(model(alone), scores[row : row + 1], atol=1e-5, rtol=1e-5)
        found = model.pool(model.embed(alone), alone).words
        torch.testing.assert_close(found, shares[own, :longest], atol=1e-5, rtol=1e-5)


def test_the_order_of_the_two_texts_matters(model: PairNetwork) -> None:
    """For example, entailment has a direction."""
    model.eval()
    batch = pairs([(4, 2), (1, 6)])
    swapped = {**batch, "places": batch["places"].flip(1)}
    assert not torch.allclose(model(batch), model(swapped), atol=1e-3)


def test_the_network_learns_whether_two_texts_share_a_word(model: PairNetwork) -> None:
    """A model that reads only one of the texts cannot learn this."""
    model.eval()  # no dropout: these layers are too narrow for it
    torch.manual_seed(0)
    left, right = torch.randint(1, 6, (2, 256, 1))
    batch = {
        "mask": torch.ones(512, 1, dtype=torch.bool),
        "words": torch.cat([left, right]),
        "places": torch.arange(512).view(2, 256).T,
        "labels": (left == right).long().squeeze(1),
    }
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        model.loss(batch).backward()
        optimizer.step()
    assert (model(batch).argmax(1) == batch["labels"]).float().mean() > 0.97


def test_a_value_head_can_be_trained() -> None:
    head = TextValueHead(scores=TextScores(width=7, num_labels=1, direct={}), low=0.0, high=5.0)
    model = network(heads={LABEL: head})
    batch = {**pairs([(4, 2), (1, 6)]), "labels": torch.tensor([0.5, 5.0])}
    assert model(batch).shape == (2, 1)
    model.loss(batch).backward()
    assert all(weight.grad is not None for weight in model.parameters())


def test_without_a_hidden_layer_the_head_reads_the_matching() -> None:
    part = aligned()
    heads = {LABEL: TextSoftmaxHead(scores=TextScores(width=part.width, num_labels=LABELS, direct={}))}
    model = network(hidden=None, heads=heads)
    batch = pairs([(4, 2)])
    assert model.pool(model.embed(batch), batch).vectors.shape == (1, part.width)
    assert model(batch).shape == (1, LABELS)


def test_squares_sum_all_weight_matrices_except_the_embedding(model: PairNetwork) -> None:
    named = [(name, weight) for name, weight in model.named_parameters() if not name.startswith("embedding.")]
    wanted = sum(weight.square().sum() for name, weight in named if "weight" in name.rpartition(".")[2])
    torch.testing.assert_close(model.squares(), wanted)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder": bilstm(5)}, "an encoder that takes width 6, got one that takes 5"),
        ({"matching": PooledMatching(pooling=Mean(width=3))}, "a matching that takes width 8, got one that"),
        ({"hidden": Projection(width=9, hidden=7)}, "a hidden layer that takes width 64, got one that"),
        ({"matching": object()}, "a matching that is a torch module, got object"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        network(**changes)


def test_an_unknown_head_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no such head: 'other'"):
        network().head("other")
