"""If these fail, the alternatives shown for a sentence are not the best ones.

``test_decoder`` compares n-best decoding with enumeration.
"""

from __future__ import annotations

import numpy as np
import torch

from gonie.nn import CRF
from gonie.runtime.chain import ChainWeights
from gonie.runtime.nbest import nbest


def test_training_and_runtime_give_the_same_paths() -> None:
    torch.manual_seed(0)
    crf = CRF(4)
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    emissions, lengths = torch.randn(3, 6, 4), [6, 1, 4]
    mask = torch.arange(6) < torch.tensor(lengths).unsqueeze(1)
    wanted, scores = crf.nbest(emissions, mask, 7)
    transitions, start, end = (part.detach().numpy() for part in crf.chain())
    chain = ChainWeights(transitions=transitions, start=start, end=end)
    found, values = nbest(chain, emissions.numpy(), np.array(lengths), 7)
    assert found.tolist() == wanted.tolist()
    np.testing.assert_allclose(values, scores.detach().numpy(), atol=1e-5)


def test_long_sentences_are_decoded_exactly() -> None:
    """The second best differs from the best in one tag, by a thousandth, 3,000 tokens from the end."""
    chance = np.random.default_rng(0)
    emissions = np.where(chance.random((1, 4000, 1)) < 0.5, [[[1e3, 0.0]]], [[[0.0, 1e3]]])
    emissions[0, 1000] = [5.0, 5.001]
    chain = ChainWeights(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2))
    tags, scores = nbest(chain, emissions, np.array([4000]), 2)
    assert np.flatnonzero(tags[0, 0] != tags[0, 1]).tolist() == [1000]
    assert tags[0, :, 1000].tolist() == [1, 0]
    np.testing.assert_allclose(scores[0, 0] - scores[0, 1], 0.001, rtol=1e-4)


def test_no_sentences_give_no_paths() -> None:
    chain = ChainWeights(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2))
    tags, scores = nbest(chain, np.zeros((0, 3, 2)), np.zeros(0, dtype=np.int64), 4)
    assert (tags.shape, scores.shape) == ((0, 4, 3), (0, 4))
