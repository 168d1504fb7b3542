"""If this breaks, a page of explanations fetches something or has no dark half; a browser judges the rest."""

from __future__ import annotations

import re

from gonie.reports.explanations.style import STYLE


def test_the_style_sheet_loads_nothing_and_has_a_dark_half() -> None:
    assert not re.search(r"https?:|@import|url\(|@font-face", STYLE)
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    tones = {"--for:", "--against:", "--share:", "--deep:"}
    assert all(tone in light and tone in dark for tone in tones)
    assert STYLE.count("{") == STYLE.count("}")
