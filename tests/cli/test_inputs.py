"""Tests the input of commands: every format gives its sentences in order, others are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.cli.inputs import read_sentences
from gonie.errors import InputError
from gonie.text.tokenizers import tokenizer

ENGLISH = tokenizer(language="en", unit="word")


def read(kind: str, content: str, folder: Path) -> list[tuple[str, ...]]:
    file = folder / "given"
    file.write_text(content, "utf-8")
    return list(read_sentences(ENGLISH, text=None, files=[file], kind=kind))


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("text", "It rains. We stay.\n\nGo!\n", [("It", "rains", "."), ("We", "stay", "."), ("Go", "!")]),
        ("tokens", "It  rains.\n\nGo !\n", [("It", "rains."), (), ("Go", "!")]),
        ("jsonl", '{"text": "It rains."}\n\n{"text": ""}\n', [("It", "rains", ".")]),
        ("conll", "It\tO\nrains\tO\n\nGo\tO\n", [("It", "rains"), ("Go",)]),
    ],
)
def test_each_input_format_gives_its_sentences(
    tmp_path: Path, kind: str, content: str, expected: list[tuple[str, ...]]
) -> None:
    assert read(kind, content, tmp_path) == expected


def test_text_is_split_by_the_given_tokenizer() -> None:
    korean = tokenizer(language="ko", unit="syllable")
    (words,) = read_sentences(korean, text="집에 가자", files=[], kind="text")
    assert words == ("집", "에", "가", "자")


def test_unsupported_formats_and_contradicting_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--input csv is not supported\. Use text, tokens, jsonl, conll"):
        read("csv", "", tmp_path)
    with pytest.raises(InputError, match="TEXT and --file cannot be combined"):
        read_sentences(ENGLISH, text="a", files=[Path("b")], kind="text")
    with pytest.raises(InputError, match="--input conll cannot be combined with TEXT"):
        list(read_sentences(ENGLISH, text="a", files=[], kind="conll"))
    with pytest.raises(InputError, match="given:1: expected a JSON object"):
        read("jsonl", "[]\n", tmp_path)


def test_several_files_are_read_in_the_given_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_text(f"{name}\tO\nx\tO\n\ny\tO\n")
    files = [tmp_path / "b", tmp_path / "a"]
    found = list(read_sentences(ENGLISH, text=None, files=files, kind="conll"))
    assert found == [("b", "x"), ("y",), ("a", "x"), ("y",)]
