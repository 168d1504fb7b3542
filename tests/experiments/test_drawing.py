"""Tests the choice of fonts, so that figures show Korean and other scripts instead of boxes."""

from __future__ import annotations

from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties, findfont, get_font

from gonie.experiments.drawing import BASE, find_fonts, font_note


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


def font_file(path: Path, family: str, letters: str) -> Path:
    """Write a font that has a square for each letter."""
    names = [".notdef", *(f"uni{ord(letter):04X}" for letter in letters)]
    pen = TTGlyphPen(None)
    for at, corner in enumerate([(0, 0), (0, 500), (500, 500), (500, 0)]):
        (pen.moveTo if at == 0 else pen.lineTo)(corner)
    pen.closePath()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(letter): name for letter, name in zip(letters, names[1:], strict=True)})
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return path


@pytest.fixture
def no_korean_font(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave matplotlib the fonts that come with it."""
    own = [font for font in font_manager.fontManager.ttflist if font.name.startswith("DejaVu")]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)


@pytest.mark.usefixtures("no_korean_font")
def test_without_a_korean_font_the_note_counts_hangul_and_names_a_package() -> None:
    families, unknown = find_fonts(["서울 서울", "Seoul 漢"])
    assert families == [BASE]
    assert unknown == "漢서울"
    note = font_note(unknown)
    assert note.startswith("No installed font has 2 characters of the figure: 서울.")
    assert "fonts-nanum" in note


def test_other_characters_are_named_without_a_korean_package() -> None:
    assert font_note("") == ""
    assert font_note("漢").startswith("No installed font has 1 character of the figure: 漢.")
    assert "fonts-nanum" not in font_note("漢")


@pytest.mark.usefixtures("no_korean_font")
def test_a_font_installed_later_is_found_by_its_glyphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matplotlib keeps its list of fonts. The first font is called Gothic, but has no Hangul."""
    (tmp_path / "broken.ttf").write_bytes(b"not a font")
    files = [
        font_file(tmp_path / "a.ttf", "Gonie Gothic", "xyz"),
        font_file(tmp_path / "b.ttf", "Plain", "서울"),
        tmp_path / "broken.ttf",
    ]
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(file) for file in files])
    assert find_fonts(["서울", "Seoul"]) == ([BASE, "Plain"], "")
