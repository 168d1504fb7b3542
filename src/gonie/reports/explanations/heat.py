"""A heat map of one method's weights over a text, as HTML.

Colour is never the only sign. Words that oppose a prediction are underlined differently from words that
support it. The number of a word appears when the reader points at it, taps it or tabs to it. Only the
strongest words are tab stops, so that long texts stay navigable by keyboard. All of this is done in CSS.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from gonie.messages import say
from gonie.reports.explanation import TokenWeights
from gonie.reports.explanations.layout import TextPiece
from gonie.reports.explanations.shades import is_share, sentence_shades, shades, strongest
from gonie.reports.html.colors import heat_class
from gonie.reports.html.markup import Markup, element, fragment, language, row, table

STOPS = 12
"""The number of tab stops in a text."""
UNDERLINED = 0.12
"""Words with a smaller shade are not underlined, to avoid noise."""
MOST = 10
"""The number of rows in the table of strongest words."""

Rows = Sequence[Sequence[TextPiece]]
"""The layout of a text: the pieces of each sentence."""


class HeatWord(NamedTuple):
    """How one token is drawn."""

    shade: float
    number: str
    stop: bool
    inside: bool


def strip(rows: Rows, weights: TokenWeights, *, inside: Container[int] = ()) -> Markup:
    """Render the text under the name of the method. Tokens ``inside`` a span are outlined.

    In a text of several sentences, each sentence has a bar in front.
    """
    text = "".join(piece.text for pieces in rows for piece in pieces)
    kind = "share" if is_share(weights) else "sides"
    return element(
        "section",
        element("h3", say(weights.method), element("span", f", {say(about(weights))}")),
        element("div", _rows(rows, weights, inside), class_=f"heat {kind}", lang=language(text), dir="auto"),
        class_="strip",
    )


def about(weights: TokenWeights) -> str:
    """Return what the weights refer to, and how much they leave unexplained if known."""
    if is_share(weights):
        return "share of the text"
    if weights.gap is None:
        return f"for {weights.label}"
    return f"for {weights.label}; {weights.gap:z.4f} unexplained"


def _rows(rows: Rows, weights: TokenWeights, inside: Container[int]) -> Markup:
    drawn = shades(weights)
    stops = set(strongest(weights, STOPS))
    lines = []
    for at, pieces in enumerate(rows):
        words = [
            HeatWord(drawn[at][token], number(weights, at, token), (at, token) in stops, token in inside)
            for token in range(len(drawn[at]))
        ]
        lines.append(element("p", *(_piece(piece, words) for piece in pieces)))
    if len(rows) == 1:
        return fragment(*lines)
    bars = map(_bar, sentence_shades(weights), (sentence_number(weights, at) for at in range(len(rows))))
    return fragment(
        *(element("div", bar, line, class_="sentence") for bar, line in zip(bars, lines, strict=True))
    )


def _piece(piece: TextPiece, words: Sequence[HeatWord]) -> Markup | str:
    if piece.token is None:
        return piece.text
    word = words[piece.token]
    size = abs(word.shade)
    signs = {
        f"w {heat_class(word.shade)}": True,
        "against": word.shade < 0,
        "line": size >= UNDERLINED,
        "mark": piece.added,
        "in": word.inside,
    }
    return element(
        "span",
        piece.text,
        element("i", word.number),
        class_=" ".join(name for name, wanted in signs.items() if wanted),
        tabindex=0 if word.stop else -1,
    )


def number(weights: TokenWeights, at: int, token: int) -> str:
    """Return the weight of a token as text. For attention, its share of the text and of its sentence."""
    value = weights.words[at][token]
    if not is_share(weights):
        return f"{value:+.4f}"
    share = weights.sentences[at]
    if len(weights.words) == 1 or not share:
        return f"{value:.4f}"
    return say(f"{value:.4f} of the text, {value / share:.4f} of its sentence")


def sentence_number(weights: TokenWeights, at: int) -> str:
    """Return the weight of a sentence as short text."""
    value = weights.sentences[at]
    return f"{value:.3f}" if is_share(weights) else f"{value:+.3f}"


def _bar(shade: float, told: str) -> Markup:
    kind = "weight against" if shade < 0 else "weight"
    return element("span", told, class_=f"{kind} {heat_class(shade)}")


def strongest_words(rows: Rows, weights: Sequence[TokenWeights]) -> Markup:
    """Render a table of the strongest words of each method, side by side."""
    words = [{piece.token: piece.text for piece in pieces if piece.token is not None} for pieces in rows]
    columns = [
        [_named(words[at][token], number(each, at, token)) for at, token in strongest(each, MOST)]
        for each in weights
    ]
    lines = [
        row(rank + 1, *(column[rank] if rank < len(column) else "" for column in columns))
        for rank in range(max(map(len, columns), default=0))
    ]
    header = ("", *(each.method for each in weights))
    return table(caption="Words with the largest weights", header=header, rows=lines, class_="strongest")


def _named(word: str, told: str) -> Markup:
    return fragment(element("bdi", word), " ", element("span", told))
