"""Folder locks: one holder at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import OutputError
from gonie.system.folder_lock import folder_lock


def test_a_second_lock_is_refused_until_the_first_is_released(tmp_path: Path) -> None:
    refusal = OutputError("taken")
    hold = folder_lock(tmp_path, refusal=refusal)
    with folder_lock(tmp_path, refusal=refusal), pytest.raises(OutputError, match="taken"):
        hold.__enter__()
    with folder_lock(tmp_path, refusal=refusal):
        assert list(tmp_path.iterdir()) == [], "a hold leaves no file"
