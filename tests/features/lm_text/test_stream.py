"""Token streams in a folder: they survive writing and reading, and a damaged folder is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.features.byte_spelling import begin_row, end_row, spell_bytes
from gonie.features.lm_text import build_stream
from gonie.features.lm_text.stream import BEGIN, END, FIRST, UNKNOWN, StreamWriter, TokenStream, spell_stream

FORMS = ["the", "나비", "\U0001f98b"]


def wrote(folder: Path) -> TokenStream:
    writer = StreamWriter(folder)
    writer.append(np.array([BEGIN, 3, 4, END], dtype=np.int32))
    writer.append(np.array([BEGIN, 3, 5, 3, END], dtype=np.int32))
    counts = np.array([2, 2, 0, 3, 1, 1])
    return writer.finish(
        [form.encode() for form in FORMS], counts, language="ko", unit="eojeol", fingerprint="f00"
    )


def test_a_stream_is_reopened_memory_mapped(tmp_path: Path) -> None:
    made = wrote(tmp_path)
    for stream in (made, TokenStream.open(tmp_path)):
        assert stream.tokens.tolist() == [0, 3, 4, 1, 0, 3, 5, 3, 1]
        assert stream.tokens.dtype == np.int32
        assert isinstance(stream.tokens, np.memmap)
        assert stream.counts.tolist() == [2, 2, 0, 3, 1, 1]
        assert (stream.sentences, stream.words) == (2, 5)
        assert (stream.language, stream.unit, stream.fingerprint) == ("ko", "eojeol", "f00")
    assert np.where(made.tokens < 4, made.tokens, UNKNOWN).tolist() == [0, 3, 2, 1, 0, 3, 2, 3, 1]


def test_forms_are_looked_up_by_id(tmp_path: Path) -> None:
    forms = wrote(tmp_path).forms
    assert len(forms) == FIRST + len(FORMS)
    assert list(forms)[FIRST:] == FORMS
    assert [forms[id] for id in range(len(forms))] == list(forms)
    for id in (-1, len(forms)):
        with pytest.raises(IndexError, match="out of range: 0 to 5"):
            forms[id]


@pytest.mark.parametrize("name", ["tokens", "counts", "form_bytes", "form_offsets"])
@pytest.mark.parametrize("damage", ["gone", "shorter", "longer"])
def test_a_damaged_array_is_refused(tmp_path: Path, name: str, damage: str) -> None:
    wrote(tmp_path)
    path = tmp_path / f"{name}.bin"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[: len(data) // 2] if damage == "shorter" else data * 2)
    with pytest.raises(InputError, match=r"cannot read tokenised text.*Tokenise the text again"):
        TokenStream.open(tmp_path)


@pytest.mark.parametrize("name", ["counts", "form_offsets"])
def test_an_array_of_another_stream_is_refused(tmp_path: Path, name: str) -> None:
    """The file has the right size, but was copied by hand or restored incompletely."""
    wrote(tmp_path)
    path = tmp_path / f"{name}.bin"
    path.write_bytes(path.read_bytes()[::-1])
    with pytest.raises(InputError, match="cannot read tokenised text"):
        TokenStream.open(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99},
        {"unit": None, "more": 1},
        {"arrays": {}},
        {"arrays": {"tokens": ["<i8", 9]}},
    ],
)
def test_an_invalid_index_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    wrote(tmp_path)
    index = json.loads((tmp_path / "stream.json").read_text())
    (tmp_path / "stream.json").write_text(json.dumps({**index, **change}))
    with pytest.raises(InputError, match="cannot read tokenised text"):
        TokenStream.open(tmp_path)


def test_tokens_of_another_type_are_refused(tmp_path: Path) -> None:
    wrote(tmp_path)
    index = json.loads((tmp_path / "stream.json").read_text())
    index["arrays"]["tokens"] = ["<u4", 9]
    (tmp_path / "stream.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match="<u4"):
        TokenStream.open(tmp_path)


def test_an_unfinished_stream_is_refused(tmp_path: Path) -> None:
    wrote(tmp_path)
    StreamWriter(tmp_path).append(np.zeros(3, dtype=np.int32))
    with pytest.raises(InputError, match="cannot read tokenised text"):
        TokenStream.open(tmp_path)


def test_every_id_has_its_row_of_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("나비 saw incomprehensibilities .", "utf-8")
    stream = build_stream([tmp_path / "a"], tmp_path / "s", language="en", unit="word", note=print)
    table = spell_stream(stream, longest=8)
    assert table.shape == (len(stream.forms), 8)
    assert table[0].tolist() == begin_row(8).tolist()
    assert table[1].tolist() == end_row(8).tolist()
    assert table[2].tolist() == [259, *[261] * 6, 260]
    assert table[FIRST:].tolist() == spell_bytes(list(stream.forms)[FIRST:], longest=8).tolist()
