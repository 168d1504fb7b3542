"""Tokenised text as a plain file: reading it gives the same tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gonie.features.lm_text import build_stream, plain
from gonie.features.lm_text.plain import write_plain
from gonie.system.files import lines

TEXT = "Anna lives in Seoul. She doesn't ski!\nIt rains.\n삼성 전자는 좋다.\n"


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_a_stream_survives_writing_and_reading(
    suffix: str, at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "AT_ONCE", at_once)
    (tmp_path / "raw.txt").write_text(TEXT, "utf-8")
    out = tmp_path / f"tokens.txt{suffix}"
    raw = build_stream([tmp_path / "raw.txt"], tmp_path / "one", language="en", unit="word", note=print)
    write_plain(raw, out)
    again = build_stream([out], tmp_path / "two", language="en", unit="word", tokenised=True, note=print)
    np.testing.assert_array_equal(raw.tokens, again.tokens)
    assert list(raw.forms) == list(again.forms)
    assert [text for _, text in lines(out)][:2] == ["Anna lives in Seoul .", "She does n't ski !"]
