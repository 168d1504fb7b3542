from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest

from gonie.errors import GonieError, InputError
from gonie.serve.keys import ApiKeys, add_key


def test_a_new_key_is_valid_and_only_its_hash_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    first, second = add_key(path, "laptop"), add_key(path, "server")
    assert first != second
    text = path.read_text("utf-8")
    assert first not in text
    assert hashlib.sha256(first.encode()).hexdigest() in text
    keys = ApiKeys.read(path)
    for key in (first, second):
        assert keys.allow(b"Bearer " + key.encode())
        assert keys.allow(b"bearer  " + key.encode() + b" ")
        assert not keys.allow(key.encode())
        assert not keys.allow(b"Bearer " + key.encode()[:-1])
        assert not keys.allow(b"Basic " + key.encode())
    for wrong in (
        b"",
        b"Bearer",
        b"Bearer ",
        b"Bearer " + hashlib.sha256(first.encode()).hexdigest().encode(),
    ):
        assert not keys.allow(wrong)


def test_others_cannot_read_the_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    add_key(path, "laptop")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_all_known_keys_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a check must not tell which key was found."""
    compared = []
    monkeypatch.setattr("gonie.serve.keys.hmac.compare_digest", lambda a, b: compared.append(b) or a == b)
    hashes = {name: hashlib.sha256(name.encode()).hexdigest() for name in "abc"}
    for key in (b"a", b"c", b"wrong"):
        compared.clear()
        ApiKeys(hashes).allow(b"Bearer " + key)
        assert len(compared) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no API keys"),
        (b"# only a comment\n", "no API keys"),
        (b"laptop secret\n", "SHA-256"),
        (b"\nlaptop\n", "2"),
        (b"\xff\xfe", "cannot read"),
    ],
)
def test_invalid_files_of_keys(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "keys.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        ApiKeys.read(path)


def test_a_missing_file_of_keys(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the API keys"):
        ApiKeys.read(tmp_path / "none.txt")


def test_comments_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    key = add_key(path, "laptop")
    path.write_text(f"# keys of the team\n\n{path.read_text('utf-8')}", "utf-8")
    assert ApiKeys.read(path).allow(b"Bearer " + key.encode())


def test_a_file_without_a_last_line_end(tmp_path: Path) -> None:
    """An editor may leave it out. The next key must not be glued to the last one."""
    path = tmp_path / "keys.txt"
    first = add_key(path, "laptop")
    path.write_text(path.read_text("utf-8").rstrip("\n"), "utf-8")
    second = add_key(path, "server")
    keys = ApiKeys.read(path)
    assert keys.allow(b"Bearer " + first.encode())
    assert keys.allow(b"Bearer " + second.encode())


@pytest.mark.parametrize("name", ["", "two words", "#x", "a\nb"])
def test_invalid_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="name"):
        add_key(tmp_path / "keys.txt", name)


def test_a_name_is_given_once(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    add_key(path, "laptop")
    with pytest.raises(InputError, match="already"):
        add_key(path, "laptop")
    add_key(path, "lap")


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes(b"\xff")
    for path in (tmp_path, tmp_path / "none" / "keys.txt", damaged):
        with pytest.raises(GonieError):
            add_key(path, "laptop")
