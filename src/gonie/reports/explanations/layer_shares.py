"""Bars of how a model mixes the layers of its language model, with a note on how to read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gonie.messages import say
from gonie.reports.explanation import LayerShares
from gonie.reports.explanations.page import bar
from gonie.reports.html.frame import note, section
from gonie.reports.html.markup import Markup, element

TITLE = "Layers of the language model"
PLACES = {"input": "read by the encoder", "output": "appended to the encoder's output"}
"""The meaning of each place, by name."""
READING = "Lower layers capture more syntax, higher layers more semantics. "
SIZES = {
    True: "The layers were normalised first, so their shares can be compared.",
    False: "The scales of the layers differ, so their shares cannot be compared directly "
    "(normalize = true in the recipe makes them comparable).",
}
"""Whether shares can be compared, by whether the layers were normalised."""


def layer_section(found: Sequence[LayerShares]) -> Markup:
    """Render the bars of each place under one heading."""
    return section(TITLE, note(reading(found)), *map(_place, found))


def heading(each: LayerShares) -> str:
    """Return where the layers are used and their scale γ."""
    told = f" ({PLACES[each.place]})" if each.place in PLACES else ""
    return f"At the {each.place}{told}: γ = {each.scale:.4f}"


def lines(each: LayerShares) -> Iterator[tuple[str, float]]:
    """Yield the name and share of each layer, lowest first."""
    for number, share in enumerate(each.shares):
        yield (f"layer {number}" if number else "layer 0 (character-based words)"), share


def reading(found: Sequence[LayerShares]) -> str:
    """Return a note on how to read the shares."""
    return READING + SIZES[all(each.normalized for each in found)]


def _place(each: LayerShares) -> Markup:
    bars = element("dl", *(bar(say(name), share) for name, share in lines(each)), class_="bars")
    return element("section", element("h3", say(heading(each))), bars)
