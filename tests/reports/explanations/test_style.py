"""The style sheet of explanation pages. test_page_in_browser checks the appearance."""

from __future__ import annotations

import re

from gonie.reports.explanations.style import STYLE


def test_the_style_sheet_loads_nothing_and_has_a_dark_mode() -> None:
    assert not re.search(r"https?:|@import|url\(|@font-face", STYLE)
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    tones = {"--for:", "--against:", "--share:", "--deep:"}
    assert all(tone in light and tone in dark for tone in tones)
    assert STYLE.count("{") == STYLE.count("}")
