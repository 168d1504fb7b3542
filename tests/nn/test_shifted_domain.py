"""Tests that adapters alone fit a shifted domain, where a new head over the frozen encoder cannot.

A token's tag says whether its vector and the one before point to the same side. In the source domain the
side is in the first numbers of a vector, in the shifted domain in the others, which the encoder ignores.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn import LSTM, Adapted, LowRank, WordEmbedding

WIDTH, HIDDEN, STEPS = 8, 16, 200
SIDE = torch.tensor([1.0, -1.0, 1.0, -1.0])


def examples(*, shifted: bool) -> tuple[Tensor, Tensor]:
    """Return vectors (B, T, D) and tags (B, T)."""
    sides = torch.randint(0, 2, (64, 9)) * 2.0 - 1.0  # (B, T + 1)
    signal = sides.unsqueeze(2) * SIDE + 0.3 * torch.randn(64, 9, 4)
    parts = [torch.zeros_like(signal), signal] if shifted else [signal, torch.zeros_like(signal)]
    same = (sides[:, 1:] == sides[:, :-1]).long()
    return torch.cat(parts, 2)[:, 1:], same.where(torch.arange(8) > 0, 0)


def fit(
    encoder: nn.Module, parameters: Iterable[nn.Parameter], *, shifted: bool, decay: float = 0.0
) -> float:
    """Train the parameters and a new head. Return the accuracy on new sentences."""
    torch.manual_seed(1)
    head = nn.Linear(HIDDEN, 2)
    optimizer = torch.optim.AdamW([*parameters, *head.parameters()], lr=0.03, weight_decay=decay)
    mask = torch.ones(64, 8, dtype=torch.bool)
    for _ in range(STEPS):
        x, tags = examples(shifted=shifted)
        optimizer.zero_grad()
        F.cross_entropy(head(encoder(x, mask)).view(-1, 2), tags.view(-1)).backward()
        optimizer.step()
    x, tags = examples(shifted=shifted)
    with torch.no_grad():
        return float((head(encoder(x, mask)).argmax(2) == tags)[:, 1:].float().mean())


@pytest.fixture(scope="module")
def encoder() -> LSTM:
    """Return a frozen encoder of the source domain, with decayed weights for what it never saw."""
    torch.manual_seed(0)
    part = LSTM(width=WIDTH, hidden=HIDDEN)
    assert fit(part, part.parameters(), shifted=False, decay=0.7) > 0.95
    return part.requires_grad_(requires_grad=False)


def test_a_new_head_cannot_see_the_shifted_signal(encoder: LSTM) -> None:
    assert fit(encoder, [], shifted=True) < 0.65


@pytest.mark.parametrize("kind", ["low-rank", "bottleneck"])
def test_adapters_alone_fit_the_shifted_domain(kind: str, encoder: LSTM) -> None:
    before = {name: weight.clone() for name, weight in encoder.named_parameters()}
    part = LowRank(part=encoder, rank=2) if kind == "low-rank" else Adapted(encoder=encoder, hidden=8)
    trained = [weight for weight in part.parameters() if weight.requires_grad]
    assert fit(part, trained, shifted=True) > 0.95
    assert all(torch.equal(weight, before[name]) for name, weight in encoder.named_parameters())


def test_changes_of_word_vectors_separate_words_that_start_as_the_unknown_word() -> None:
    """Words 2 to 5 begin with the same vector, so nothing above the embedding can tell them apart."""
    torch.manual_seed(0)
    words = WordEmbedding(size=6, width=WIDTH, rank=2)
    words.weight.data[2:] = words.weight.data[1]
    words.weight.requires_grad_(requires_grad=False)
    batch, tags = {"words": torch.tensor([[2, 3, 4, 5]])}, torch.tensor([0, 1, 0, 1])
    head = nn.Linear(WIDTH, 2)
    trained = [weight for weight in [*words.parameters(), *head.parameters()] if weight.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=0.05)
    assert torch.equal(words(batch)[0, 0], words(batch)[0, 3])
    for _ in range(100):
        optimizer.zero_grad()
        F.cross_entropy(head(words(batch))[0], tags).backward()
        optimizer.step()
    assert head(words(batch))[0].argmax(1).tolist() == tags.tolist()
    assert not words.table()[0].any(), "padding stays 0"
