"""What a bundle costs is measured where nothing else is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import GonieError
from gonie.export.cost import Cost, measure_cost


def test_a_new_process_pays_for_nothing_of_this_one(toy_run: Path) -> None:
    """torch alone would be 200 MB: what is told is what someone without it pays."""
    cost = measure_cost(toy_run / "bundle", "Anna lives in Seoul.")
    assert min(cost[:3]) > 0
    assert 10e6 < cost.memory < 250e6


def test_the_line_a_user_reads() -> None:
    text = str(Cost(imported=0.1, loaded=0.25, answered=0.05, memory=92_400_000))
    assert "first prediction after 0.40 s" in text
    assert "0.25 s of it to load" in text
    assert "92 MB" in text


def test_a_bundle_that_does_not_answer_is_told_of_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(GonieError, match=r"a new process failed to use it: .*folder not found"):
        measure_cost(tmp_path / "nothing", "a text")
