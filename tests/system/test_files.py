"""Reading lines with exact line numbers, and writing files atomically."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import random
import re
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import GonieError, InputError, OutputError
from gonie.system import files
from gonie.system.files import (
    atomic_file,
    atomic_path,
    atomic_write,
    is_stream,
    is_utf8,
    lines,
    remove_leftovers,
)


def wrote(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


# --- reading ---


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.xz"])
def test_lines_of_plain_and_compressed_files_are_numbered(tmp_path: Path, name: str) -> None:
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(Path(name).suffix, bytes)
    path = wrote(tmp_path / name, pack("하나\n\nthree".encode()))
    assert list(lines(path)) == [(1, "하나"), (2, ""), (3, "three")]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.xz"])
def test_reading_reports_progress_in_stored_bytes(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size of the decompressed text is not known before the end."""
    monkeypatch.setattr(files, "BLOCK", 1000)
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(Path(name).suffix, bytes)
    path = wrote(tmp_path / name, pack(random.Random(0).randbytes(150_000).hex("\n").encode()))
    told: list[int] = []
    assert sum(1 for _ in lines(path, reached=told.append)) == 150_000
    assert told == sorted(told)
    assert len(set(told)) > 3
    assert told[-1] == path.stat().st_size


def test_bom_and_crlf_are_removed_and_other_line_separators_kept(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a", "\ufeffa\tO\r\n\r\nb\u2028c\x85d\x0b\n".encode())
    assert list(lines(path)) == [(1, "a\tO"), (2, ""), (3, "b\u2028c\x85d\x0b")]


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("a\n나".encode())))
    assert list(lines("-")) == [(1, "a"), (2, "나")]


@settings(deadline=None, max_examples=60)
@given(
    texts=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), max_size=9), max_size=30
    ),
    block=st.integers(1, 40),
    last=st.booleans(),
)
def test_blocks_of_any_size_give_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int, last: bool
) -> None:
    """Characters and line endings at the edge of a block must not be lost."""
    content = "\n".join(texts) + ("\n" if last else "")
    path = wrote(tmp_path_factory.mktemp("blocks") / "a", content.encode())
    expected = content.removeprefix("\ufeff").split("\n")
    if expected[-1] == "":
        expected.pop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK", block)
        got = list(lines(path))
    assert got == list(enumerate(expected, 1))


@pytest.mark.parametrize(
    ("data", "line", "byte", "encoding"),
    [
        ("ok\nOslo\tO\nMünchen\tB-LOC\nKöln\tB-LOC\n".encode("latin1"), 3, "0xfc", "LATIN1"),
        ("“quoted”\n".encode("cp1252"), 1, "0x93", "WINDOWS-1252"),
        ("ok\n서울\tB-LC\n".encode("cp949"), 2, "0xbc", "CP949"),
        ("뷁 처럼 넓은 글자\n".encode("cp949"), 1, "0x94", "CP949"),
        ("Ärger für\n".encode("latin1"), 1, "0xc4", "LATIN1"),
        ("text\n".encode("utf-16"), 1, "0xff", "UTF-16"),
    ],
)
def test_invalid_utf8_is_refused_with_its_line_and_a_fix(
    tmp_path: Path, data: bytes, line: int, byte: str, encoding: str
) -> None:
    path = wrote(tmp_path / "a b.conll", data)
    with pytest.raises(InputError) as caught:
        list(lines(path))
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: invalid UTF-8: {byte}")
    assert f"iconv -f {encoding} -t UTF-8 '{path}'" in message


@pytest.mark.parametrize(
    "data",
    [
        "서울은 맑다\n부산은 흐리다\n".encode()[:-3] + b"\n",  # a syllable lost its last byte
        "서울은 맑다\n".encode().replace("맑".encode(), b"\xeb"),
    ],
)
def test_a_damaged_character_is_not_taken_for_another_encoding(tmp_path: Path, data: bytes) -> None:
    """Converting the file would make all its other non-ASCII characters unreadable."""
    with pytest.raises(InputError, match=r"invalid UTF-8.*damaged character\. Correct the line") as caught:
        list(lines(wrote(tmp_path / "a", data)))
    assert "iconv" not in str(caught.value)


def test_a_binary_file_is_not_taken_for_text_of_another_encoding(tmp_path: Path) -> None:
    """Random bytes, whose first line has no byte 0 by chance."""
    data = b"\x93ok\n" + random.Random(1).randbytes(500)
    with pytest.raises(InputError, match="The file is binary or damaged"):
        list(lines(wrote(tmp_path / "a", data)))


def test_a_single_foreign_byte_is_damage_or_another_encoding(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Correct the character, or if the encoding is LATIN1, run: iconv"):
        list(lines(wrote(tmp_path / "a", b"a fine day\nat the caf\xe9\n")))


def test_invalid_utf8_after_many_blocks_has_the_right_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK", 64)
    path = wrote(tmp_path / "a", b"word\tO\n" * 500 + b"caf\xe9\tO\n")
    with pytest.raises(InputError, match=r"a:501: .*0xe9 at byte 4 of the line"):
        list(lines(path))


def test_nul_bytes_are_refused_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a:2: NUL byte in a text file"):
        list(lines(wrote(tmp_path / "a", b"fine\nb\0d\n")))


@pytest.mark.parametrize(
    ("name", "meant"),
    [("train.tsv", "train.conll"), ("trian.conll.gz", "train.conll"), ("nope.conll", ""), ("nope.txt", "")],
)
def test_only_a_similar_name_before_the_suffix_is_suggested(tmp_path: Path, name: str, meant: str) -> None:
    for other in ("train.conll", "dev.conll", "k.txt"):
        wrote(tmp_path / other, b"")
    fix = f"Did you mean {tmp_path / meant}?" if meant else "Check the name"
    with pytest.raises(InputError, match=re.escape(f"file not found. {fix}")):
        list(lines(tmp_path / name))


def test_a_missing_file_is_refused_with_a_similar_name(tmp_path: Path) -> None:
    wrote(tmp_path / "train.conll", b"")
    with pytest.raises(InputError, match=r"trian\.conll: file not found\. Did you mean .*train\.conll\?"):
        list(lines(tmp_path / "trian.conll"))
    with pytest.raises(InputError, match=r"folder .*nowhere does not exist"):
        list(lines(tmp_path / "nowhere" / "x"))


def test_a_folder_is_refused_with_its_files(tmp_path: Path) -> None:
    wrote(tmp_path / "train.conll", b"")
    with pytest.raises(InputError, match=r"got a folder.*train\.conll"):
        list(lines(tmp_path))


def test_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root may read any file, so a mode bit would not do
    with pytest.raises(InputError, match="permission denied"):
        list(lines(tmp_path / "a"))


@pytest.mark.parametrize(
    "data", [b"not gzip at all", gzip.compress(b"word\tO\n" * 1000, mtime=0)[:-20]], ids=["other", "cut"]
)
def test_a_damaged_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError, match="damaged compressed file"):
        list(lines(wrote(tmp_path / "a.gz", data)))


def test_an_endless_line_is_refused_before_it_fills_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK", 1000)
    monkeypatch.setattr(files, "LONGEST_LINE", 5000)
    with pytest.raises(InputError, match="line longer than"):
        list(lines(wrote(tmp_path / "a", b"x" * 10_000)))


# --- writing ---


def left(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_text_and_bytes_are_written(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", "하나\n")
    atomic_write(tmp_path / "b", b"\xff")
    with atomic_file(tmp_path / "c") as file:
        file.write("x\ny")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "하나\n"
    assert (tmp_path / "b").read_bytes() == b"\xff"
    assert (tmp_path / "c").read_bytes() == b"x\ny"
    assert left(tmp_path) == ["a", "b", "c"]


def test_a_file_is_replaced_only_at_the_end(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", "old")
    with atomic_file(tmp_path / "a") as file:
        file.write("new")
        file.flush()
        assert (tmp_path / "a").read_text() == "old"
    assert (tmp_path / "a").read_text() == "new"


@pytest.mark.parametrize("error", [RuntimeError("bug"), KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
def test_a_failure_keeps_the_old_file_and_leaves_no_other(tmp_path: Path, error: BaseException) -> None:
    atomic_write(tmp_path / "a", "old")

    def half_way() -> None:
        with atomic_file(tmp_path / "a") as file:
            file.write("half")
            raise error

    with pytest.raises((type(error), GonieError)):
        half_way()
    assert (tmp_path / "a").read_text() == "old"
    assert left(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EACCES, "no permission to write in"),
        (errno.EROFS, "is read-only"),
        (errno.EDQUOT, "quota"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_system_errors_become_clear_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    atomic_write(tmp_path / "a", "old")

    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=words) as caught:
        atomic_write(tmp_path / "a", "new")
    assert f"cannot write {tmp_path / 'a'}" in str(caught.value)
    assert "unchanged" in str(caught.value)
    assert (tmp_path / "a").read_text() == "old"
    assert left(tmp_path) == ["a"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")
def test_a_full_device_gives_a_clear_message() -> None:
    with pytest.raises(OutputError, match="the disk is full"):
        atomic_write("/dev/full", b"x" * 100_000)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)  # the device was not replaced by a file


def test_paths_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="it is a folder"):
        atomic_write(tmp_path, "x")
    with pytest.raises(OutputError, match=r"does not exist\. Run: mkdir -p"):
        atomic_write(tmp_path / "no" / "a", "x")
    atomic_write(tmp_path / "file", "x")
    with pytest.raises(OutputError, match="is not a folder"):
        atomic_write(tmp_path / "file" / "a", "x")
    with pytest.raises(OutputError, match="mode"):
        atomic_file(tmp_path / "a", "a").__enter__()
    assert left(tmp_path) == ["file"]


def test_an_error_about_another_file_is_not_changed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "a"):
        (tmp_path / "other").read_bytes()
    assert left(tmp_path) == []


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    atomic_write(tmp_path / "real", "old")
    os.chmod(tmp_path / "real", 0o640)
    os.symlink("real", tmp_path / "link")
    atomic_write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE(os.stat(tmp_path / "real").st_mode) == 0o640


def write_half(path: Path) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def test_a_path_for_other_libraries_is_replaced_atomically(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", "old")
    with atomic_path(tmp_path / "a") as temporary:
        temporary.write_text("new")
        assert (tmp_path / "a").read_text() == "old"
    assert (tmp_path / "a").read_text() == "new"
    with pytest.raises(KeyboardInterrupt):
        write_half(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "new"
    assert left(tmp_path) == ["a"]


@pytest.mark.parametrize(("place", "words"), [("", "it is a folder"), ("pipe", "a device or a pipe")])
def test_folders_and_pipes_are_not_replaced(tmp_path: Path, place: str, words: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match=words):
        atomic_path(tmp_path / place).__enter__()
    assert left(tmp_path) == ["pipe"]


def test_a_read_only_file_stays_read_only_when_replaced(tmp_path: Path) -> None:
    """The temporary file must be writable, but give others no further permissions."""
    atomic_write(tmp_path / "a", "old")
    os.chmod(tmp_path / "a", 0o440)
    with atomic_path(tmp_path / "a") as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o640
        temporary.write_text("new")
    assert (tmp_path / "a").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o440


def test_only_files_left_by_a_killed_writer_are_removed(tmp_path: Path) -> None:
    """A process killed during a write leaves a temporary file as large as the model."""
    atomic_write(tmp_path / "kept", "x")
    (tmp_path / ".gonie-mine.txt").write_text("x")
    writer = atomic_file(tmp_path / "unfinished")
    writer.__enter__().write("half")
    assert len(left(tmp_path)) == 3
    remove_leftovers(tmp_path)
    assert left(tmp_path) == [".gonie-mine.txt", "kept"]


def test_standard_input_and_pipes_are_streams(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("x")
    streams = {"-": True, tmp_path / "pipe": True, tmp_path / "file": False, tmp_path / "none": False}
    assert {path: is_stream(path) for path in streams} == streams


def test_names_with_invalid_utf8_are_recognised() -> None:
    assert is_utf8("가\x00")
    assert not is_utf8(os.fsdecode(b"caf\xe9"))
