"""A long list with search, filters and sorting.

The list is complete without its script. The script shows the controls, and then only the first items, with a
button for more. Filters name kinds and labels by number, so that no data of a corpus is part of a selector.
The search ignores case and, inside marked text, the labels of the marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gonie.messages import say
from gonie.reports.html.markup import Markup, element, fragment

FIRST, MORE = 25, 100
"""The number of items shown at first, and added by the button."""
SHOWN, FOUND, TOTAL = "?", "??", "???"
"""The places of the numbers in the line that the script writes. Question marks are translated as numbers."""


class ListItem(NamedTuple):
    """An item: its content, what it can be filtered by, and its place when sorted by file.

    ``kinds`` are texts of gonie and ``labels`` data.
    """

    content: Markup
    kinds: Sequence[str]
    labels: Sequence[str]
    confidence: float
    order: int


def filtered_list(items: Sequence[ListItem], *, sorting: str = "most confident first") -> Markup:
    """Render the items in the given order, which ``sorting`` names, with controls above them."""
    kinds = _distinct(item.kinds for item in items)
    labels = _distinct(item.labels for item in items)
    return element(
        "div",
        _controls([say(kind) for kind in kinds], labels, sorting),
        element(
            "p",
            class_="note showing",
            role="status",
            data_all=say(f"Showing {SHOWN} of {TOTAL}."),
            data_some=say(f"Showing {SHOWN} of {FOUND} matches, out of {TOTAL}."),
            hidden="",
        ),
        element("div", *(_item(item, kinds, labels) for item in items), class_="items"),
        element("button", say("Show more"), type="button", class_="more", hidden=""),
        class_="listing",
        data_first=FIRST,
        data_more=MORE,
    )


def _distinct(names: Iterable[Sequence[str]]) -> list[str]:
    return sorted({name for each in names for name in each})


def _item(item: ListItem, kinds: Sequence[str], labels: Sequence[str]) -> Markup:
    return element(
        "article",
        item.content,
        class_="passage",
        data_kinds=_numbers(item.kinds, kinds),
        data_labels=_numbers(item.labels, labels),
        data_confidence=f"{item.confidence:.6g}",
        data_order=item.order,
    )


def _numbers(names: Sequence[str], among: Sequence[str]) -> str:
    return " ".join(str(among.index(name)) for name in sorted(set(names)))


def _controls(kinds: Sequence[str], labels: Sequence[str], sorting: str) -> Markup:
    orders = {"": say(sorting), "up": say("least confident first"), "file": say("as in the file")}
    return element(
        "div",
        _labelled(say("Search"), element("input", type="search", autocomplete="off", data_by="text")),
        _choice(say("Kind of error"), "kinds", [("", say("all")), *_counted(kinds)])
        if len(kinds) > 1
        else None,
        _choice(say("Label"), "labels", [("", say("all")), *_counted(labels)]) if len(labels) > 1 else None,
        _choice(say("Order"), "order", orders.items()),
        class_="controls",
        hidden="",
    )


def _counted(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(str(at), name) for at, name in enumerate(names)]


def _choice(name: str, by: str, options: Iterable[tuple[str, str]]) -> Markup:
    shown = (element("option", text, value=value) for value, text in options)
    return _labelled(name, element("select", *shown, data_by=by))


def _labelled(name: str, control: Markup) -> Markup:
    return element("label", fragment(name, control))


SCRIPT = """
for (const listing of document.querySelectorAll('.listing')) {
  const box = listing.querySelector('.items'), more = listing.querySelector('.more')
  const controls = [...listing.querySelectorAll('[data-by]')]
  const line = listing.querySelector('.showing'), step = Number(listing.dataset.more)
  const plain = text => text.normalize('NFKC').toLowerCase().replace(/\\s+/g, ' ')
  const items = [...box.children].map((node, rank) => {
    const copy = node.cloneNode(true)
    copy.querySelectorAll('mark small, .w i').forEach(each => each.remove())
    return { node, rank, text: plain(copy.textContent + ' ' + node.textContent),
             kinds: node.dataset.kinds.split(' '), labels: node.dataset.labels.split(' '),
             confidence: Number(node.dataset.confidence), order: Number(node.dataset.order) }
  })
  const orders = { '': (a, b) => a.rank - b.rank, up: (a, b) => a.confidence - b.confidence,
                   file: (a, b) => a.order - b.order }
  let most = Number(listing.dataset.first)
  const show = () => {
    const by = Object.fromEntries(controls.map(each => [each.dataset.by, each.value]))
    const wanted = plain(by.text).trim()
    const found = items.filter(item => item.text.includes(wanted)
      && (!by.kinds || item.kinds.includes(by.kinds)) && (!by.labels || item.labels.includes(by.labels)))
    found.sort(orders[by.order])
    const shown = new Set(found.slice(0, most))
    items.forEach(item => { item.node.hidden = !shown.has(item) })
    box.append(...found.map(item => item.node))
    const counts = [shown.size, found.length, items.length]
    const told = found.length === items.length ? line.dataset.all : line.dataset.some
    line.textContent = told.replace(/[?]+/g, mark => counts[mark.length - 1].toLocaleString('en'))
    more.hidden = shown.size === found.length
    return found
  }
  const restart = () => { most = Number(listing.dataset.first); show() }
  controls.forEach(each => each.addEventListener('input', restart))
  more.addEventListener('click', () => {
    const before = most
    most += step
    const node = show()[before].node
    node.tabIndex = -1
    node.focus()
  })
  listing.querySelector('.controls').hidden = line.hidden = false
  show()
}
"""
"""Runs when the page has been read. It never inserts markup: it only moves, hides and counts items."""
