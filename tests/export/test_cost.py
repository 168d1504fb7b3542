"""Tests the cost of a bundle, which is measured in a new process."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import GonieError
from gonie.export.cost import Cost, measure_cost


def test_the_cost_excludes_what_this_process_has_loaded(toy_run: Path) -> None:
    """torch alone takes 200 MB. The cost is that of an installation without torch."""
    cost = measure_cost(toy_run / "bundle", "Anna lives in Seoul.")
    assert min(cost[:3]) > 0
    assert 10e6 < cost.memory < 250e6


def test_the_cost_is_summarised_in_one_line() -> None:
    text = str(Cost(imported=0.1, loaded=0.25, answered=0.05, memory=92_400_000))
    assert "first prediction after 0.40 s" in text
    assert "0.25 s of it to load" in text
    assert "92 MB" in text


def test_a_bundle_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GonieError, match=r"a new process failed to use it: .*folder not found"):
        measure_cost(tmp_path / "nothing", "a text")
