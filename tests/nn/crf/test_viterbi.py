"""Tests Viterbi on sentences that are too long for enumeration."""

from __future__ import annotations

import torch

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.path_score import path_score
from gonie.nn.crf.viterbi import viterbi


def test_no_single_tag_change_improves_the_best_path(device: str) -> None:
    torch.manual_seed(3)
    chain = Chain(*(torch.randn(*shape, device=device) for shape in ((7, 7), (7,), (7,))))
    lengths = torch.tensor([[40], [1], [23]], device=device)
    emissions, mask = torch.randn(3, 40, 7, device=device), torch.arange(40, device=device) < lengths
    tags, scores = viterbi(emissions, mask, chain)
    torch.testing.assert_close(path_score(emissions, tags, mask, chain), scores)
    for at in range(40):
        for tag in range(7):
            other = tags.clone()
            other[:, at] = tag
            assert (path_score(emissions, other, mask, chain) <= scores + 1e-4).all()


def test_with_zero_transitions_each_token_gets_its_best_tag() -> None:
    chain = Chain(torch.zeros(4, 4), torch.zeros(4), torch.zeros(4))
    emissions, mask = torch.randn(3, 6, 4), torch.arange(6) < torch.tensor([[6], [2], [4]])
    tags, _ = viterbi(emissions, mask, chain)
    assert torch.equal(tags, emissions.argmax(2).masked_fill(~mask, -1))
