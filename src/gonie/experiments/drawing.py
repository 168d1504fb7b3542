"""Colours and fonts of figures."""

from __future__ import annotations

from collections.abc import Iterable

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Colours for colour-blind readers (Okabe & Ito 2008). The most distinct come first, and grey last."""

BASE = "DejaVu Sans"
"""The font that comes with matplotlib. It has no Hangul."""

BOXES = "Last Resort"
"""The name of a font with a placeholder box for every character, which is not useful."""


def find_fonts(texts: Iterable[str]) -> tuple[list[str], str]:
    """Return the font families that cover ``texts``, in order of use, and the characters that none covers."""
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
            best = max(has, key=lambda name: len(has[name] & left))  # the first on ties
            if not has[best] & left:
                break
            left -= has.pop(best)
            families.append(best)
    return families, "".join(sorted(left))


def _covered(path: str, letters: set[str]) -> set[str]:
    """Return the characters that the font at ``path`` covers at any size. Empty if it cannot be read."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(path)
    except (OSError, RuntimeError):
        return set()
    if not font.scalable:  # bitmap fonts of fixed size: coloured emoji
        return set()
    return {letter for letter in letters if font.get_char_index(ord(letter))}
