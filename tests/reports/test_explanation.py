"""Explanations are values: two of the same content are equal, and none can be changed by who shows it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from gonie.reports.explanation import Faithfulness


def test_an_explanation_is_a_value() -> None:
    one = Faithfulness("erasure", 0.5, 0.1, 10)
    assert one == Faithfulness("erasure", 0.5, 0.1, 10)
    with pytest.raises(FrozenInstanceError):
        one.texts = 3  # type: ignore[misc]
