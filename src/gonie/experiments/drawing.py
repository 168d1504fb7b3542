"""Colours and fonts of figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gonie.text.report import count

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Colours for colour-blind readers (Okabe & Ito 2008). The most distinct come first, and grey last."""

BASE = "DejaVu Sans"
"""The font that comes with matplotlib. It has no Hangul."""

BOXES = "Last Resort"
"""The name of a font with a placeholder box for every character, which is not useful."""


HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\ua960-\ua97f가-\ud7ff]")


def font_note(unknown: str) -> str:
    """Say which of a figure's characters no installed font has, and what to install. Empty if there are none.

    ``unknown`` comes from ``find_fonts``.
    """
    if not unknown:
        return ""
    hangul = "".join(HANGUL.findall(unknown))
    missing = hangul or unknown
    lines = [
        f"No installed font has {count(len(missing), 'character')} of the figure: {missing[:20]}.",
        "A PNG shows boxes for them, an SVG uses the fonts of its viewer.",
        "Install a Korean font, such as the package fonts-nanum, and draw the figure again."
        if hangul
        else "",
    ]
    return " ".join(filter(None, lines))


def find_fonts(texts: Iterable[str]) -> tuple[list[str], str]:
    """Return the font families that cover ``texts``, in order of use, and the characters that none covers.

    Fonts that were installed after matplotlib listed the fonts of this machine are added to its list.
    """
    from matplotlib.font_manager import FontProperties, findfont

    left = {letter for text in texts for letter in text if letter.isprintable()}
    left -= _covered(findfont(FontProperties(family=BASE)), left)
    families = [BASE]
    if left:
        families += _further_fonts(left)
    if left and _add_new_fonts():
        families += _further_fonts(left)
    return families, "".join(sorted(left))


def _further_fonts(left: set[str]) -> list[str]:
    """Return families of known fonts that cover most of ``left``, and remove what they cover from it."""
    from matplotlib.font_manager import fontManager

    upright = {
        font.name: font.fname
        for font in fontManager.ttflist
        if font.style == "normal" and not font.name.startswith(BOXES)
    }
    ordered = sorted(upright, key=lambda name: ("Sans" not in name and "Gothic" not in name, name))
    has = {name: covered for name in ordered if (covered := _covered(upright[name], left))}
    families = []
    while left and has:
        best = max(has, key=lambda name: len(has[name] & left))  # the first on ties
        if not has[best] & left:
            break
        left -= has.pop(best)
        families.append(best)
    return families


def _add_new_fonts() -> int:
    """Add installed fonts that matplotlib does not list yet. Return their number."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    listed = {Path(font.fname).resolve() for font in fontManager.ttflist}
    added = 0
    for path in sorted(findSystemFonts()):
        if Path(path).resolve() not in listed:
            with suppress(OSError, RuntimeError, TypeError, ValueError):  # fonts that matplotlib cannot read
                fontManager.addfont(path)
                added += 1
    return added


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
