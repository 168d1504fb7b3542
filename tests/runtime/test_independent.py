"""Tags that do not depend on each other: the shortcut must give what the search and the sums give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gonie.runtime.chain import ChainWeights
from gonie.runtime.decoder import Decoder

SETTINGS = settings(deadline=None, max_examples=100)


@st.composite
def batches(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw the scores of a ragged batch, whose sums are exact, so that ties are ties, and its lengths."""
    B, T, K = draw(st.integers(1, 3)), draw(st.integers(1, 12)), draw(st.integers(1, 5))
    size = draw(st.sampled_from([8, 160, 24000]))
    emissions = draw(hnp.arrays(np.int64, (B, T, K), elements=st.integers(-size, size))) / 8
    return emissions, np.array(draw(st.lists(st.integers(1, T), min_size=B, max_size=B)))


def both(K: int) -> tuple[Decoder, Decoder]:
    """Return a decoder without weights, and one that does not know that there are none."""
    nothing: dict[str, Any] = {"transitions": np.zeros((K, K)), "start": np.zeros(K), "end": np.zeros(K)}
    fast, general = Decoder(**nothing), Decoder(**nothing)
    assert fast.chain.independent
    general.chain.independent = False
    return fast, general


@SETTINGS
@given(batches())
def test_the_best_tags_are_the_same(batch: tuple[np.ndarray, np.ndarray]) -> None:
    fast, general = both(batch[0].shape[2])
    for one, other in zip(fast.viterbi(*batch), general.viterbi(*batch), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(fast.nbest(*batch, 3), general.nbest(*batch, 3), strict=True):
        np.testing.assert_array_equal(one, other)
    (tags, _), found = fast.viterbi(*batch), fast.best_of(fast.forward_backward(*batch))
    np.testing.assert_array_equal(found, tags)


@SETTINGS
@given(batch=batches(), data=st.data())
def test_the_probabilities_are_the_same(batch: tuple[np.ndarray, np.ndarray], data: st.DataObject) -> None:
    emissions, lengths = batch
    fast, general = (decoder.forward_backward(*batch) for decoder in both(emissions.shape[2]))
    close: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(fast.marginals(), general.marginals(), **close)
    np.testing.assert_allclose(fast.log_partition(), general.log_partition(), **close)
    row = data.draw(st.integers(0, len(lengths) - 1))
    start = data.draw(st.integers(0, lengths[row] - 1))
    end = data.draw(st.integers(start + 1, lengths[row]))
    tag = st.integers(0, emissions.shape[2] - 1)
    tags = data.draw(st.lists(tag, min_size=end - start, max_size=end - start))
    one, other = (lattice.path_probability(row, start, end, tags) for lattice in (fast, general))
    assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    product = np.prod(fast.marginals()[row, range(start, end), tags])
    assert one == pytest.approx(product, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("changed", ["transitions", "start", "end"])
def test_a_weight_or_a_forbidden_tag_makes_tags_depend_on_each_other(changed: str) -> None:
    parts = {"transitions": np.zeros((2, 2)), "start": np.zeros(2), "end": np.zeros(2)}
    assert ChainWeights(**parts).independent
    masks = {name: np.ones_like(part, dtype=bool) for name, part in parts.items()}
    assert ChainWeights(**parts, allowed=tuple(masks.values())).independent
    masks[changed].flat[1] = False
    assert not ChainWeights(**parts, allowed=tuple(masks.values())).independent
    parts[changed].flat[1] = 1e-9
    assert not ChainWeights(**parts).independent
