"""The style sheet of pages: it loads nothing, has a dark mode, and label colours are legible."""

import itertools
import re

import pytest

from gonie.reports.html.style import DARK, LIGHT, STYLE

SIGHT = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.01182, 0.04294, 0.968881),
    ),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
}
"""How linear RGB is seen with red-green blindness (Machado, Oliveira & Fernandes 2009, severity 1)."""
THEMES = {"light": (LIGHT, 0), "dark": (DARK, 1)}


def tokens(name):
    """Return the values of a token in light and dark mode."""
    return re.findall(rf"--{name}: ([^;]+);", STYLE)


def rgb(text):
    if text.startswith("#"):
        text = text[1:] if len(text) == 7 else "".join(letter * 2 for letter in text[1:])
        return tuple(int(text[at : at + 2], 16) for at in (0, 2, 4))
    return tuple(map(int, text.split()))


def linear(color):
    return [part / 3294.6 if part <= 10.3 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]


def contrast(one, other):
    light = sorted(sum(map(lambda w, v: w * v, (0.2126, 0.7152, 0.0722), linear(c))) for c in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def over(top, share, under):
    return tuple(share * one + (1 - share) * other for one, other in zip(top, under, strict=True))


def lab(color, sight):
    seen = linear(color)
    r, g, b = (min(1, max(0, sum(w * v for w, v in zip(row, seen, strict=True)))) for row in SIGHT[sight])
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
    )
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_the_style_sheet_loads_nothing_and_has_a_dark_mode():
    assert not re.search(r"https?:|@import|url\(|@font-face", STYLE)
    names = r"(--[a-z-]+):"
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    assert set(re.findall(names, dark.split("} }")[0])) <= set(re.findall(names, light))
    assert STYLE.count("{") == STYLE.count("}")


@pytest.mark.parametrize("theme", THEMES)
def test_text_on_the_colour_of_a_label_is_legible(theme):
    colors, at = THEMES[theme]
    tint = float(tokens("tint")[at])
    for tone, ink in colors:
        for page in ("bg", "box"):
            under = over(rgb(tone), tint, rgb(tokens(page)[at]))
            assert contrast(rgb(ink), under) >= 4.5
            assert contrast(rgb(tokens("fg")[at]), under) >= 7
        assert contrast(rgb(tone), rgb(tokens("bg")[at])) >= 3  # the line under a mark


@pytest.mark.parametrize("theme", THEMES)
def test_text_and_controls_have_enough_contrast(theme):
    at = THEMES[theme][1]
    color = {
        name: rgb(tokens(name)[at]) for name in ("bg", "fg", "soft", "box", "field", "accent", "on-accent")
    }
    for page in ("bg", "box"):
        assert all(contrast(color[name], color[page]) >= 4.5 for name in ("fg", "soft", "accent"))
        assert contrast(color["field"], color[page]) >= 3
    assert contrast(color["on-accent"], color["accent"]) >= 4.5


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("theme", THEMES)
def test_the_colours_of_labels_are_distinct_for_colour_blind_readers_too(theme, sight):
    tones = [lab(rgb(tone), sight) for tone, _ in THEMES[theme][0]]
    least = min(
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
        for one, other in itertools.combinations(tones, 2)
    )
    assert least >= (40 if sight == "normal" else 15)
