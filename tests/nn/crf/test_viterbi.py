"""Viterbi on what enumeration cannot reach, against what must hold of any best path."""

from __future__ import annotations

import torch

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.path_score import path_score
from gonie.nn.crf.viterbi import viterbi


def test_the_score_is_that_of_the_path_and_no_single_change_betters_it(device: str) -> None:
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


def test_without_a_chain_it_is_the_best_tag_of_each_token() -> None:
    chain = Chain(torch.zeros(4, 4), torch.zeros(4), torch.zeros(4))
    emissions, mask = torch.randn(3, 6, 4), torch.arange(6) < torch.tensor([[6], [2], [4]])
    tags, _ = viterbi(emissions, mask, chain)
    assert torch.equal(tags, emissions.argmax(2).masked_fill(~mask, -1))
