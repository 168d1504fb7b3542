"""Log odds of labels: they must agree with the probabilities, or explanations are wrong."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import logit

from gonie.metrics.log_odds import label_log_odds, to_probabilities

scores = hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(2, 5)), elements=st.floats(-9, 9))


@given(scores, st.data())
def test_log_odds_agree_with_the_probabilities(values: np.ndarray, data: st.DataObject) -> None:
    labels = np.array([data.draw(st.integers(0, values.shape[1] - 1)) for _ in values])
    softmax = np.exp(values) / np.exp(values).sum(1, keepdims=True)
    own = softmax[np.arange(len(values)), labels]
    np.testing.assert_allclose(
        to_probabilities(label_log_odds(values, labels, multi_label=False)), own, atol=1e-12
    )
    sigmoid = 1 / (1 + np.exp(-values))[np.arange(len(values)), labels]
    np.testing.assert_allclose(
        to_probabilities(label_log_odds(values, labels, multi_label=True)), sigmoid, atol=1e-12
    )


@given(hnp.arrays(np.float64, 5, elements=st.floats(1e-6, 1 - 1e-6)))
def test_probabilities_survive_conversion_to_log_odds(probabilities: np.ndarray) -> None:
    np.testing.assert_allclose(to_probabilities(logit(probabilities)), probabilities, atol=1e-12)


def test_log_odds_of_certain_predictions_are_finite_and_distinct() -> None:
    """Both probabilities round to 1, but the log odds must still show which prediction is more confident."""
    sure = label_log_odds(np.array([[0.0, 60.0], [0.0, 80.0]]), np.array([1, 1]), multi_label=False)
    assert sure.tolist() == [60.0, 80.0]
