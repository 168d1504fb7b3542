"""Separation of two files: if this breaks, an uncertain model looks certain of foreign texts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from gonie.errors import InputError
from gonie.metrics.separation import measure_separation


def test_the_area_is_that_of_scikit_learn() -> None:
    generator = np.random.default_rng(0)
    inside, outside = generator.normal(size=120).round(1), generator.normal(1, size=80).round(1)
    found = measure_separation(inside, outside)
    labels = [0] * 120 + [1] * 80
    assert found.auroc == pytest.approx(roc_auc_score(labels, np.concatenate([inside, outside])))
    assert found.interval is not None
    assert found.interval[0] < found.auroc < found.interval[1]
    assert found.to_json()["outside"] == 80


def test_a_file_without_sentences_is_refused() -> None:
    with pytest.raises(InputError, match="scores on both sides, got 0 and 1"):
        measure_separation([], [1.0])


def test_no_resamples_give_no_interval() -> None:
    assert measure_separation([0.0], [1.0], bootstrap=0).interval is None
