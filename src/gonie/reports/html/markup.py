"""HTML elements that always escape text.

``element`` escapes every child and attribute that is not ``Markup`` already. Only this module turns strings
into markup, so corpus text is inert wherever it ends up.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from gonie.messages import say

Child = object
"""``Markup`` is inserted as it is, None is omitted, and anything else is escaped as text."""


VOID = frozenset({"input", "meta"})
"""Elements without content and without an end tag."""


class Markup(str):
    """A string that is already HTML."""

    __slots__ = ()


def escape(value: object) -> Markup:
    """Return text as inert HTML.

    Control characters become visible symbols and lone surrogates the replacement character, because neither
    can be stored in a file. "://" is written with entities: the page looks the same, but a search of the file
    for URLs finds none.
    """
    shown = "".join(map(_visible, str(value)))
    return Markup(html.escape(shown).replace("://", ":&#47;&#47;"))


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20 and character not in "\t\n":
        return chr(0x2400 + code)
    return "\N{REPLACEMENT CHARACTER}" if code == 0x7F or 0xD800 <= code <= 0xDFFF else character


def fragment(*children: Child) -> Markup:
    """Concatenate children."""
    shown = (child for child in children if child is not None)
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in shown))


def join(children: Iterable[Child], between: str = "") -> Markup:
    """Concatenate children with ``between`` between them."""
    return Markup(escape(between).join(fragment(child) for child in children))


def element(tag: str, /, *children: Child, **attributes: object) -> Markup:
    """Return ``<tag name="value">children</tag>``. ``class_`` is class, ``a_b`` is a-b, None is omitted."""
    shown = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{shown}>" if tag in VOID else f"<{tag}{shown}>{fragment(*children)}</{tag}>")


def shown(text: Child) -> Child:
    """Return a text of gonie in the language of the user, and anything else as it is."""
    return say(text) if isinstance(text, str) and not isinstance(text, Markup) else text


def language(text: str) -> str | None:
    """Return ``ko`` for text that contains Hangul, so that a browser chooses a font that has it."""
    return "ko" if any("가" <= letter <= "힣" or "ㄱ" <= letter <= "ㆎ" for letter in text) else None


def row(*cells: Child, head: int = 1, names: Sequence[str] = (), **attributes: object) -> Markup:
    """Return a table row whose first ``head`` cells are headers.

    ``names`` are the headers of all columns, for a table of class ``stack``: on a narrow screen each cell
    shows its own.
    """
    own: Sequence[str | None] = [say(name) for name in names] or [None] * len(cells)
    made = (
        cell
        if isinstance(cell, Markup) and cell.startswith(("<td", "<th"))
        else element("th", cell, scope="row")
        if at < head
        else element("td", cell, data_name=name)
        for at, (cell, name) in enumerate(zip(cells, own, strict=True))
    )
    return element("tr", *made, **attributes)


def table(
    *, caption: str, header: Iterable[Child], rows: Iterable[Markup], class_: str = "figures"
) -> Markup:
    """Return a captioned table with column headers, in a box that scrolls on narrow screens.

    The caption and headers are texts of gonie. Labels as headers are passed as ``Markup``.
    """
    caption = say(caption)
    columns = element("tr", *(element("th", shown(name), scope="col") for name in header))
    inner = element(
        "table",
        element("caption", caption),
        element("thead", columns),
        element("tbody", *rows),
        class_=class_,
    )
    return element("div", inner, class_="scroll", tabindex="0", role="group", aria_label=caption)
