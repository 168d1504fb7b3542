"""Lines as bytes: the pieces between cuts together have the lines of the whole file."""

from __future__ import annotations

import gzip
import lzma
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.system import raw_lines
from gonie.system.raw_lines import Cut, RawLine, cut_lines, read_raw_lines


def split(content: bytes) -> list[bytes]:
    """Split a file into lines in the simplest way."""
    lines = content.split(b"\n")
    return lines[:-1] if not lines[-1] else lines


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.lists(st.sampled_from([b"\n", b"a", b"\xff", b"bc", b"\n\n"])).map(b"".join),
    size=st.integers(1, 9),
    block=st.integers(1, 5),
)
def test_pieces_between_cuts_have_the_lines_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, size: int, block: int
) -> None:
    monkeypatch.setattr(raw_lines, "BLOCK", block)
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    cuts = cut_lines(path, size=size)
    lines = split(content)
    assert (cuts[0], cuts[-1]) == (Cut(0, 1), Cut(len(content), len(lines) + 1))
    for cut, after in pairwise(cuts):
        assert split(content[cut.byte : after.byte]) == lines[cut.line - 1 : after.line - 1]
        assert after == cuts[-1] or after.byte - cut.byte >= size
        read = list(read_raw_lines(path, start=cut))[: after.line - cut.line]
        assert [line.content for line in read] == lines[cut.line - 1 : after.line - 1]
        assert [line.number for line in read] == list(range(cut.line, after.line))


def test_the_byte_order_mark_and_line_endings_are_removed(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfa\r\nb\n\xef\xbb\xbfc"
    wanted = [RawLine(1, b"a"), RawLine(2, b"b"), RawLine(3, b"\xef\xbb\xbfc")]
    for name, pack in (("a", bytes), ("a.gz", gzip.compress), ("a.xz", lzma.compress)):
        (tmp_path / name).write_bytes(pack(content))
        assert list(read_raw_lines(tmp_path / name)) == wanted
        assert cut_lines(tmp_path / name, size=100)[-1] == Cut(len(content), 4)


def test_a_line_that_is_too_long_is_truncated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_lines, "LONGEST_LINE", 10)
    monkeypatch.setattr(raw_lines, "SHOWN", 3)
    monkeypatch.setattr(raw_lines, "BLOCK", 4)
    (tmp_path / "a").write_bytes(b"0123456789\n" + b"x" * 50 + b"\nshort\n")
    first, long, last = read_raw_lines(tmp_path / "a")
    assert (first.text(), last) == ("0123456789", RawLine(3, b"short"))
    assert long == RawLine(2, b"xxx", whole=False)
    with pytest.raises(InputError, match="line longer than"):
        long.text()


@pytest.mark.parametrize(("content", "reason"), [(b"caf\xe9", "0xe9 at byte 4"), (b"a\0b", "NUL byte")])
def test_a_line_that_is_not_text_is_refused_with_the_reason(content: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        RawLine(1, content).text()


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a\n" * 1000)[:-9])
    with pytest.raises(InputError, match="damaged compressed file"):
        cut_lines(tmp_path / "a.gz", size=10)
