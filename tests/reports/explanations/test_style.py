"""The style sheet of explanation pages. test_page_in_browser checks the appearance."""

from __future__ import annotations

import re

from gonie.reports.explanations.style import STYLE
from gonie.reports.html.style import STYLE as COMMON


def test_the_style_sheet_loads_nothing_and_its_colours_are_in_the_common_one() -> None:
    assert not re.search(r"https?:|@import|url\(|@font-face", STYLE)
    used = set(re.findall(r"var\((--[a-z-]+)", STYLE))
    assert used <= set(re.findall(r"(--[a-z-]+):", COMMON + STYLE))
    assert STYLE.count("{") == STYLE.count("}")
