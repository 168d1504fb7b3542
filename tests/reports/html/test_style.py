"""If this breaks, a page fetches something, or cannot be read in the dark."""

import re

from gonie.reports.html.style import STYLE


def test_the_style_sheet_loads_nothing_and_has_a_dark_half():
    assert not re.search(r"https?:|@import|url\(|@font-face", STYLE)
    names = r"(--[a-z-]+):"
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    assert set(re.findall(names, dark.split("} }")[0])) <= set(re.findall(names, light))
    assert STYLE.count("{") == STYLE.count("}")
