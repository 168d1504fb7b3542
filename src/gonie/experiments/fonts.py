"""Fonts that have the letters of a text: matplotlib's own has no Hangul, and would draw boxes."""

from __future__ import annotations

from collections.abc import Iterable

BASE = "DejaVu Sans"
"""The font that comes with matplotlib."""

BOXES = "Last Resort"
"""The name of a font that has a box for every character, which helps nobody."""


def find_fonts(texts: Iterable[str]) -> tuple[list[str], str]:
    """Font families that together draw ``texts``, in order of use; and the characters that none here has."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    left = {letter for text in texts for letter in text if letter.isprintable()}
    left -= _covered(findfont(FontProperties(family=BASE)), left)
    families = [BASE]
    if left:
        upright = {
            font.name: font.fname
            for font in fontManager.ttflist
            if font.style == "normal" and not font.name.startswith(BOXES)
        }
        ordered = sorted(upright, key=lambda name: ("Sans" not in name and "Gothic" not in name, name))
        has = {name: covered for name in ordered if (covered := _covered(upright[name], left))}
        while left and has:
            best = max(has, key=lambda name: len(has[name] & left))  # the first of equals
            if not has[best] & left:
                break
            left -= has.pop(best)
            families.append(best)
    return families, "".join(sorted(left))


def _covered(path: str, letters: set[str]) -> set[str]:
    """Which letters the font at ``path`` draws at any size; none if it cannot be read."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(path)
    except (OSError, RuntimeError):
        return set()
    if not font.scalable:  # pictures of fixed size: coloured emoji
        return set()
    return {letter for letter in letters if font.get_char_index(ord(letter))}
