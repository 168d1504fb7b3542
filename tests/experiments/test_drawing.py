"""Tests the choice of fonts, so that figures show Korean and other scripts instead of boxes."""

from __future__ import annotations

import pytest
from matplotlib.font_manager import FontProperties, findfont, get_font

from gonie.experiments.drawing import BASE, find_fonts


def has(family: str, letter: str) -> bool:
    font = get_font(findfont(FontProperties(family=[family]), fallback_to_default=False))
    return bool(font.get_char_index(ord(letter)))


def test_latin_and_cyrillic_letters_need_one_font() -> None:
    assert find_fonts(["Anna", "Éva", "Ядвига"]) == ([BASE], "")
    assert find_fonts([]) == ([BASE], "")


@pytest.mark.parametrize("letters", ["서울", "漢字", "ไทย", "𒀀𓀀", "서𒀀"])
def test_each_letter_has_a_font_or_is_named(letters: str) -> None:
    """The installed fonts vary by machine, but no letter may be overlooked."""
    families, unknown = find_fonts([letters, "Seoul"])
    assert families[0] == BASE, "western letters look the same in every company"
    assert len(set(families)) == len(families)
    for letter in letters:
        assert any(has(family, letter) for family in families) != (letter in unknown)
    assert all(any(has(family, letter) for letter in letters) for family in families[1:])
    assert not any("Last Resort" in family for family in families), "it draws a box for every letter"
