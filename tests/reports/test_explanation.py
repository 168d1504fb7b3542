"""Explanations are value objects: compared by content, and immutable."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from gonie.reports.explanation import Faithfulness


def test_an_explanation_is_compared_by_content_and_immutable() -> None:
    one = Faithfulness("erasure", 0.5, 0.1, 10)
    assert one == Faithfulness("erasure", 0.5, 0.1, 10)
    with pytest.raises(FrozenInstanceError):
        one.texts = 3  # type: ignore[misc]
