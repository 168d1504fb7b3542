"""The spelling of a stream: a row for every id, those that are no forms included."""

from __future__ import annotations

from pathlib import Path

from gonie.features.byte_spelling import begin_row, end_row, spell_bytes
from gonie.features.lm_text import FIRST, build_stream, spell_stream


def test_every_id_has_its_row(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("나비 saw incomprehensibilities .", "utf-8")
    stream = build_stream([tmp_path / "a"], tmp_path / "s", language="en", unit="word", note=print)
    table = spell_stream(stream, longest=8)
    assert table.shape == (len(stream.forms), 8)
    assert table[0].tolist() == begin_row(8).tolist()
    assert table[1].tolist() == end_row(8).tolist()
    assert table[2].tolist() == [259, *[261] * 6, 260]
    assert table[FIRST:].tolist() == spell_bytes(list(stream.forms)[FIRST:], longest=8).tolist()
