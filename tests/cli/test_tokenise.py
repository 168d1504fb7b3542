"""`gonie data tokenise`: what it writes, what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]


def test_a_sentence_a_line_tokens_apart_by_blanks(gonie: Command, tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_text("Anna skis. She doesn't mind.\n", "utf-8")
    done = gonie("data", "tokenise", tmp_path / "raw.txt", "--out", tmp_path / "out.txt")
    assert done.code == 0
    assert "2 sentences, 8 tokens" in done.out
    assert (tmp_path / "out.txt").read_text("utf-8") == "Anna skis .\nShe does n't mind .\n"
    assert {path.name for path in tmp_path.iterdir()} == {"raw.txt", "out.txt"}


def test_what_cannot_be_read_or_written_is_said_in_a_sentence(gonie: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"caf\xe9\n")
    assert gonie("data", "tokenise", bad, "--out", tmp_path / "out.txt").refused("bad.txt:1")
    assert gonie("data", "tokenise", bad, "--out", tmp_path / "no" / "out.txt").refused("folder")
    assert gonie("data", "tokenise", bad, "--language", "xx", "--out", tmp_path / "o").refused("xx/word")
    assert {path.name for path in tmp_path.iterdir()} == {"bad.txt"}
