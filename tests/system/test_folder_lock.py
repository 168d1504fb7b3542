"""A hold on a folder: for one at a time, and gone with its holder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import OutputError
from gonie.system.folder_lock import folder_lock


def test_a_second_hold_is_refused_and_a_later_one_not(tmp_path: Path) -> None:
    refusal = OutputError("taken")
    hold = folder_lock(tmp_path, refusal=refusal)
    with folder_lock(tmp_path, refusal=refusal), pytest.raises(OutputError, match="taken"):
        hold.__enter__()
    with folder_lock(tmp_path, refusal=refusal):
        assert list(tmp_path.iterdir()) == [], "a hold leaves no file"
