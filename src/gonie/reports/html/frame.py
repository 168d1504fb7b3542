"""What every HTML page is built of: the file with its policy, sections, facts and folded details.

The page holds no script and refers to nothing outside itself; a content policy in its head forbids both, so
that even text meant to break out stays text. What a page says, and in which order, is its own file's.
"""

from __future__ import annotations

from collections.abc import Mapping

from gonie.reports.html.markup import Markup, element
from gonie.reports.html.style import STYLE


def page(title: str, *sections: Markup | None, style: str = "") -> str:
    """The whole file; ``style`` is added to the style sheet that all pages have."""
    return "<!DOCTYPE html>\n" + element(
        "html", _meta(title, style), element("body", element("main", *sections)), lang="en"
    )


def _meta(title: str, style: str) -> Markup:
    return element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width,initial-scale=1">'),
        Markup('<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'),
        Markup("style-src 'unsafe-inline'\">"),
        element("title", title),
        element("style", Markup(STYLE + style)),
    )


def section(name: str, *children: object) -> Markup:
    """A part of the page under its heading."""
    return element("section", element("h2", name), *children)


def facts(values: Mapping[str, object]) -> Markup:
    """Single values under their names, side by side."""
    return element("dl", *(_fact(name, value) for name, value in values.items()), class_="facts")


def _fact(name: str, value: object) -> Markup:
    return element("div", element("dt", name), element("dd", value))


def note(text: str) -> Markup:
    """A remark in small print."""
    return element("p", text, class_="note")


def folded(name: object, *children: object) -> Markup:
    """What only some readers want, behind its name."""
    return element("details", element("summary", name), *children)
