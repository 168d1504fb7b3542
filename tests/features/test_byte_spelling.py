"""ELMo's byte ids of a word, compared with a loop over its bytes and with the published models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.features import byte_spelling
from gonie.features.byte_spelling import begin_row, end_row, spell_bytes


def by_hand(form: str, longest: int) -> list[int]:
    row = [259]
    for byte in form.encode()[: longest - 2]:
        row.append(byte + 1)
    row.append(260)
    while len(row) < longest:
        row.append(261)
    return row


@settings(deadline=None)
@given(st.lists(st.text()), st.integers(3, 12))
def test_each_row_of_the_table_is_the_spelling_of_its_word(forms: list[str], longest: int) -> None:
    table = spell_bytes(forms, longest=longest)
    assert table.dtype == np.int16
    assert table.shape == (len(forms), longest)
    assert table.tolist() == [by_hand(form, longest) for form in forms]
    assert spell_bytes([form.encode() for form in forms], longest=longest).tolist() == table.tolist()


def test_spelling_in_chunks_gives_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = [chr(97 + number) * (number % 7) for number in range(20)]
    whole = spell_bytes(forms, longest=5)
    monkeypatch.setattr(byte_spelling, "AT_ONCE", 3)
    assert spell_bytes(iter(forms), longest=5).tolist() == whole.tolist()


def test_ids_match_the_published_models() -> None:
    """Without the shift by one, the vectors would look right but be meaningless."""
    row = spell_bytes(["The"])[0]
    assert row.tolist() == [259, 85, 105, 102, 260, *[261] * 45]
    assert begin_row(6).tolist() == [259, 257, 260, 261, 261, 261]
    assert end_row(6).tolist() == [259, 258, 260, 261, 261, 261]
    assert spell_bytes([bytes(range(256))], longest=258)[0, 1:-1].tolist() == list(range(1, 257))


def test_a_long_word_keeps_its_end_mark() -> None:
    row = spell_bytes(["가" * 30])[0]
    assert (len(row), row[-1], row[-2]) == (50, 260, "가".encode()[2] + 1)


def test_a_length_without_room_for_a_byte_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 3 .*, got 2"):
        spell_bytes(["a"], longest=2)
