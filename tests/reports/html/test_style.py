"""The style sheet of reports: it loads nothing and has a dark mode."""

import re

from gonie.reports.html.style import STYLE


def test_the_style_sheet_loads_nothing_and_has_a_dark_mode():
    assert not re.search(r"https?:|@import|url\(|@font-face", STYLE)
    names = r"(--[a-z-]+):"
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    assert set(re.findall(names, dark.split("} }")[0])) <= set(re.findall(names, light))
    assert STYLE.count("{") == STYLE.count("}")
