"""Tests misspelt names of loss terms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(("typed", "meant"), [("adversay", "adversary"), ("start_l2", "start-l2")])
def test_a_misspelt_term_is_answered_with_the_one_that_was_meant(
    typed: str, meant: str, toy: Path, tmp_path: Path, gonie: Callable[..., Any]
) -> None:
    """By training and by a comparison, before anything is written."""
    answer = f"loss.{typed}: unknown loss term; did you mean '{meant}'?"
    for command in ("train", "compare"):
        outcome = gonie(
            command, toy / "toy.toml", "--set", f"loss.{typed}.weight=1", "--out", tmp_path / command
        )
        assert outcome.refused(answer)
        assert not (tmp_path / command).exists()
