"""Word vector files in every format, intact or damaged. A misread line would shift all later vectors."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features import vector_formats
from gonie.features.vectors import read_vectors

WORDS = ["the", ",", "서울", "2008", ". . .", "at name@domain.com", "\xa0", "a\x85b", "#", '"']


def numbers(count: int, width: int) -> NDArray[np.float32]:
    return np.random.default_rng(7).normal(size=(count, width)).astype(np.float32)


def rows(words: list[str], matrix: NDArray[np.float32], end: str = "\n") -> bytes:
    lines = zip(words, matrix, strict=True)
    return "".join(f"{word} {' '.join(map(str, row.tolist()))}{end}" for word, row in lines).encode()


def glove(words: list[str], matrix: NDArray[np.float32]) -> bytes:
    return rows(words, matrix)


def word2vec(words: list[str], matrix: NDArray[np.float32]) -> bytes:
    return f"{len(words)} {matrix.shape[1]}\n".encode() + rows(words, matrix)


def fasttext(words: list[str], matrix: NDArray[np.float32]) -> bytes:
    return f"{len(words)} {matrix.shape[1]}\n".encode() + rows(words, matrix, end=" \n")


def binary(words: list[str], matrix: NDArray[np.float32], end: bytes = b"\n") -> bytes:
    records = (
        w.encode() + b" " + struct.pack(f"<{len(row)}f", *row) + end
        for w, row in zip(words, matrix, strict=True)
    )
    return f"{len(words)} {matrix.shape[1]}\n".encode() + b"".join(records)


def google(words: list[str], matrix: NDArray[np.float32]) -> bytes:
    return binary(words, matrix, end=b"")


Writer = Callable[[list[str], NDArray[np.float32]], bytes]
WRITERS: list[tuple[Writer, str]] = [
    (glove, "glove"),
    (word2vec, "word2vec"),
    (fasttext, "word2vec"),
    (binary, "word2vec-binary"),
    (google, "word2vec-binary"),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("writer", "name"), WRITERS)
def test_every_format_is_read_exactly(tmp_path: Path, writer: Writer, name: str, packed: bool) -> None:
    words = [word for word in WORDS if " " not in word] if name == "word2vec-binary" else WORDS
    matrix = numbers(len(words), 7)
    content = writer(words, matrix)
    path = tmp_path / "vectors.anything"
    path.write_bytes(gzip.compress(content) if packed else content)
    vectors = read_vectors(path)
    assert vectors.format == name
    assert vectors.words == words
    assert vectors.matrix.dtype == np.float32
    assert np.array_equal(vectors.matrix, matrix)
    assert vectors.notes == ()
    first = read_vectors(path, limit=2)
    assert first.words == words[:2]
    assert np.array_equal(first.matrix, matrix[:2])
    assert first.notes == ()


@pytest.mark.parametrize(("writer", "name"), WRITERS)
def test_small_chunks_give_the_same_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Writer, name: str
) -> None:
    """Lines and records that cross the end of a chunk are joined."""
    words = [f"w{i}" for i in range(50)]
    matrix = numbers(50, 5)
    path = tmp_path / "vectors"
    path.write_bytes(writer(words, matrix))
    for chunk in (1, 13, 100):
        monkeypatch.setattr(vector_formats, "CHUNK", chunk)
        vectors = read_vectors(path)
        assert vectors.words == words
        assert np.array_equal(vectors.matrix, matrix)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\t "), min_size=1, max_size=6
        ),
        min_size=1,
        max_size=8,
        unique=True,
    ),
    st.integers(4, 9),
    st.sampled_from(WRITERS),
)
def test_any_word_is_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], width: int, writer: tuple[Writer, str]
) -> None:
    words = [
        word for word in words if word.encode().strip() == word.encode() and not word.startswith("\ufeff")
    ]
    words = words or ["w"]
    path = tmp_path_factory.mktemp("any") / "vectors"
    matrix = numbers(len(words), width)
    path.write_bytes(writer[0](words, matrix))
    vectors = read_vectors(path)
    assert vectors.format == writer[1]
    assert vectors.words == words
    assert np.array_equal(vectors.matrix, matrix)


def test_words_may_contain_numbers_and_spaces(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_text("the 1 2 3\n1 2 3 4 5\n2008 7 8 9\n")
    vectors = read_vectors(path)
    assert vectors.words == ["the", "1 2", "2008"]
    assert vectors.matrix.tolist() == [[1, 2, 3], [3, 4, 5], [7, 8, 9]]


def test_windows_line_endings_tabs_and_byte_order_mark_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(b"\xef\xbb\xbfthe\t1 2\r\n\r\nof 3  4 \r\n")
    assert read_vectors(path).words == ["the", "of"]
    path.write_bytes(b"\xef\xbb\xbf2 2\r\nthe 1 2\r\nof 3 4\r\n")
    vectors = read_vectors(path)
    assert (vectors.format, vectors.words) == ("word2vec", ["the", "of"])


def test_a_first_word_that_is_a_number_is_not_a_header(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_text("2008 5\n2009 6\n")
    vectors = read_vectors(path)
    assert (vectors.format, vectors.words, vectors.matrix.tolist()) == ("glove", ["2008", "2009"], [[5], [6]])


def test_a_repeated_word_keeps_its_first_vector_and_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_text("a 1 2\nb 3 4\na 5 6\n")
    vectors = read_vectors(path)
    assert vectors.words == ["a", "b"]
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]
    assert vectors.notes == ("1 repeated words: the first vector of each was kept",)


def test_a_wrong_count_in_the_header_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_text("5 2\na 1 2\nb 3 4\n")
    assert read_vectors(path).notes == ("the header declares 5 vectors, but the file has 2",)


def test_words_with_invalid_utf8_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(b"caf\xe9 1 2\nok 3 4\n")
    vectors = read_vectors(path)
    assert vectors.words == ["caf\ufffd", "ok"]
    assert vectors.notes == ("replaced invalid UTF-8 in 1 word",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a 1 2 3\nb 1 2 3\nc 1 2\n", r"vectors:3: expected a word and 3 numbers, got 3 fields: 'c 1 2'"),
        (b"a 1 2 3\nb 1 x 3\n", r"vectors:2: number 2 after the word is not finite: 'x'"),
        (
            b"a 1 2 3\n\nb 1 nan 3\n",
            r"vectors:3: number 2 after the word is not finite: 'nan'",
        ),
        (b"a 1 2 3\n 1 2 3\n", r"vectors:2: expected a word and 3 numbers, got 3 fields"),
        (b"2 3\na 1 2 3\nb 1 2\n", r"vectors:3: expected a word and 3 numbers, got 3 fields"),
        (b"2 3\na 1 2\nb 1 2 3\n", r"vectors:2: expected a word and 3 numbers, got 3 fields"),
        (b"2 3\n", r"vectors: the file has no vectors"),
        (b"", r"vectors: the file is empty"),
        (b" \n\n", r"vectors: the file is empty"),
        (b"once upon a time\nthere was\n", r"vectors:1: not a file of word vectors"),
        (b"word\n", r"vectors:1: not a file of word vectors"),
        (b"PK\x03\x04rest", r"it is a zip archive. Unpack it"),
        (b"\xba\x16\x4f\x2frest", r"it is a fastText .bin model. Use the .vec file"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_vectors(path)


def test_lines_after_the_limit_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_text("a 1 2\nb 3 4\nbroken\n")
    assert read_vectors(path, limit=2).words == ["a", "b"]
    with pytest.raises(InputError, match="vectors:3"):
        read_vectors(path, limit=3)


@pytest.mark.parametrize("cut", [1, 5, 30, 60])
@pytest.mark.parametrize("writer", [binary, google])
def test_a_truncated_binary_file_is_refused(tmp_path: Path, writer: Writer, cut: int) -> None:
    content = writer(["one", "two", "three"], numbers(3, 8))
    path = tmp_path / "vectors"
    path.write_bytes(content[: -cut - 1])
    with pytest.raises(
        InputError, match=r"header declares 3 vectors of 8 numbers, but the file has [012] and"
    ):
        read_vectors(path)


def test_a_binary_vector_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    matrix = numbers(3, 8)
    matrix[1, 2] = np.inf
    path = tmp_path / "vectors"
    path.write_bytes(binary(["one", "two", "three"], matrix))
    with pytest.raises(InputError, match="vector 2, of 'two', has numbers that are not finite"):
        read_vectors(path)


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:60] + b"\0" * 30 + data[90:]])
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "vectors.gz"
    path.write_bytes(damage(gzip.compress(glove([f"w{i}" for i in range(200)], numbers(200, 8)))))
    with pytest.raises(InputError, match="damaged file"):
        read_vectors(path)


def test_a_folder_or_a_missing_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputError, match=r"expected a file, got a folder|file not found"):
            read_vectors(path)


def test_a_limit_of_0_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 1, got 0"):
        read_vectors(tmp_path / "vectors", limit=0)


def test_an_endless_line_is_refused_before_it_fills_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_formats, "LONGEST", 100)
    monkeypatch.setattr(vector_formats, "CHUNK", 50)
    path = tmp_path / "vectors"
    path.write_bytes(b"a 1 2\n" + b"b" * 1000)
    with pytest.raises(InputError, match="line longer than 100 bytes"):
        read_vectors(path)
