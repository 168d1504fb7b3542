"""The building blocks of every HTML page: the file with its content policy, sections, facts and details.

Plain strings for the names of sections and facts, for notes and for page titles are texts of gonie, in the
language of the user. Data is passed as ``Markup``.

A page refers to nothing outside itself. A content security policy in its head allows only gonie's own style
sheet and script, by their hashes, so that hostile text stays text. A page is complete without its script,
which only makes long lists easier to use. Markup has no ``style`` attributes, because the policy blocks them.
Each page decides its own content and order in its own module.
"""

from __future__ import annotations

from collections.abc import Mapping

from gonie.messages import language, say
from gonie.reports.html.markup import Markup, element, fragment, shown
from gonie.reports.html.policy import content_policy
from gonie.reports.html.style import STYLE

LONG = 24
"""A fact with more characters has a line of its own."""


def page(title: str, *sections: Markup | None, style: str = "", script: str = "") -> str:
    """Return the complete HTML file.

    ``style`` is appended to the common style sheet. ``script`` is run when the page has been read.
    """
    return "<!DOCTYPE html>\n" + element(
        "html",
        _meta(title, STYLE + style, script),
        element("body", element("main", *sections), element("script", Markup(script)) if script else None),
        lang=language(),
    )


def _meta(title: str, style: str, script: str) -> Markup:
    policy = content_policy(styles=[style], scripts=[script] if script else [])
    return element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width,initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        element("title", say(title)),
        element("style", Markup(style)),
    )


def section(name: str, *children: object, anchor: str | None = None) -> Markup:
    """Render a part of the page under its heading. ``anchor`` is its name in links."""
    return element("section", element("h2", say(name)), *children, id_=anchor)


def chapters(parts: Mapping[str, Markup | None]) -> Markup:
    """Render links to the parts of a page, then each part under its heading. None is left out."""
    shown = [(f"part-{at}", name, part) for at, (name, part) in enumerate(parts.items()) if part is not None]
    links = (element("a", say(name), href=f"#{anchor}") for anchor, name, _ in shown)
    return fragment(
        element("nav", *links, class_="contents", aria_label=say("Contents")) if len(shown) > 1 else None,
        *(section(name, part, anchor=anchor) for anchor, name, part in shown),
    )


def facts(values: Mapping[str, object]) -> Markup:
    """Render single values under their names, side by side."""
    return element("dl", *(_fact(name, value) for name, value in values.items()), class_="facts")


def _fact(name: str, value: object) -> Markup:
    kind = "wide" if len(str(value)) > LONG else None
    return element("div", element("dt", say(name)), element("dd", value), class_=kind)


def note(text: str) -> Markup:
    """Render a remark in small print."""
    return element("p", say(text), class_="note")


def folded(name: object, *children: object) -> Markup:
    """Render collapsed details under a name."""
    return element("details", element("summary", shown(name)), *children)
