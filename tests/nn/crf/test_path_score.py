"""Compares the scores of given paths with the brute-force reference."""

from __future__ import annotations

import torch

from gonie.nn.crf import brute_force as brute
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.path_score import log_likelihood, path_score
from gonie.nn.crf.scan import log_partition


def test_path_scores_equal_the_reference(device: str) -> None:
    lengths = [5, 1, 3]
    chain = Chain(*(torch.randn(*shape, dtype=torch.float64) for shape in ((4, 4), (4,), (4,))))
    emissions, tags = torch.randn(3, 6, 4, dtype=torch.float64), torch.randint(0, 4, (3, 6))
    mask = torch.arange(6) < torch.tensor(lengths).unsqueeze(1)
    there = Chain(*(part.to(device) for part in chain))
    got = path_score(emissions.to(device), tags.to(device), mask.to(device), there).cpu()
    for row, n in enumerate(lengths):
        expected = brute.path_score(emissions[row, :n], tuple(tags[row, :n].tolist()), chain)
        torch.testing.assert_close(got[row], expected)
    torch.testing.assert_close(
        log_likelihood(emissions, tags, mask, chain), got - log_partition(emissions, mask, chain)
    )
