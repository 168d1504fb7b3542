"""The building blocks of every HTML page: the file with its content policy, sections, facts and details.

Plain strings for the names of sections and facts, for notes and for page titles are texts of gonie, in the
language of the user. Data is passed as ``Markup``.

A page has no scripts and refers to nothing outside itself. A content security policy in its head forbids
both, so that hostile text stays text. Each page decides its own content and order in its own module.
"""

from __future__ import annotations

from collections.abc import Mapping

from gonie.messages import language, say
from gonie.reports.html.markup import Markup, element, shown
from gonie.reports.html.style import STYLE


def page(title: str, *sections: Markup | None, style: str = "") -> str:
    """Return the complete HTML file. ``style`` is appended to the common style sheet."""
    return "<!DOCTYPE html>\n" + element(
        "html", _meta(title, style), element("body", element("main", *sections)), lang=language()
    )


def _meta(title: str, style: str) -> Markup:
    return element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width,initial-scale=1">'),
        Markup('<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'),
        Markup("style-src 'unsafe-inline'\">"),
        element("title", say(title)),
        element("style", Markup(STYLE + style)),
    )


def section(name: str, *children: object) -> Markup:
    """Render a part of the page under its heading."""
    return element("section", element("h2", say(name)), *children)


def facts(values: Mapping[str, object]) -> Markup:
    """Render single values under their names, side by side."""
    return element("dl", *(_fact(name, value) for name, value in values.items()), class_="facts")


def _fact(name: str, value: object) -> Markup:
    return element("div", element("dt", say(name)), element("dd", value))


def note(text: str) -> Markup:
    """Render a remark in small print."""
    return element("p", say(text), class_="note")


def folded(name: object, *children: object) -> Markup:
    """Render collapsed details under a name."""
    return element("details", element("summary", shown(name)), *children)
