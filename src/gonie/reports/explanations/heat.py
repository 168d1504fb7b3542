"""One method's weights over a text, as HTML: the text as written, each word on the colour of its weight.

Colour is never the only sign: words that speak against an answer are underlined otherwise than those that
speak for it, and every word's number appears when it is pointed at, tapped or reached by the keyboard. The
keyboard stops at the strongest words alone; a text of a thousand words would be a prison otherwise. All of it
is done by the style sheet.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from gonie.reports.explanation import TokenWeights
from gonie.reports.explanations.layout import TextPiece
from gonie.reports.explanations.shades import is_share, sentence_shades, shades, strongest
from gonie.reports.html.markup import Markup, element, fragment, language, row, table

STOPS = 12
"""How many words of a text the keyboard stops at."""
UNDERLINED = 0.12
"""Words of a smaller shade have no line beneath: they would only be noise."""
MOST = 10
"""How many words the table of the strongest has."""

Rows = Sequence[Sequence[TextPiece]]
"""A text laid out: the pieces of each sentence."""


class HeatWord(NamedTuple):
    """How one token is drawn."""

    shade: float
    number: str
    stop: bool
    inside: bool


def strip(rows: Rows, weights: TokenWeights, *, inside: Container[int] = ()) -> Markup:
    """The text under the name of the method; tokens ``inside`` a span are outlined.

    A text of several sentences has a bar before each.
    """
    text = "".join(piece.text for pieces in rows for piece in pieces)
    kind = "share" if is_share(weights) else "sides"
    return element(
        "section",
        element("h4", weights.method, element("span", f", {about(weights)}")),
        element("div", _rows(rows, weights, inside), class_=f"heat {kind}", lang=language(text), dir="auto"),
        class_="strip",
    )


def about(weights: TokenWeights) -> str:
    """What the weights are of, and how much they leave unexplained where that is known."""
    if is_share(weights):
        return "share of the text"
    return f"for {weights.label}" + ("" if weights.gap is None else f"; {weights.gap:z.4f} unexplained")


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
        "w": True,
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
        style=f"--a:{size:.2f}" if size >= 0.005 else None,
        tabindex=0 if word.stop else -1,
    )


def number(weights: TokenWeights, at: int, token: int) -> str:
    """A token's weight in words: of attention its share, of the text and of its sentence."""
    value = weights.words[at][token]
    if not is_share(weights):
        return f"{value:+.4f}"
    share = weights.sentences[at]
    if len(weights.words) == 1 or not share:
        return f"{value:.4f}"
    return f"{value:.4f} of the text, {value / share:.4f} of its sentence"


def sentence_number(weights: TokenWeights, at: int) -> str:
    """A sentence's weight, short enough to stand before it."""
    value = weights.sentences[at]
    return f"{value:.3f}" if is_share(weights) else f"{value:+.3f}"


def _bar(shade: float, told: str) -> Markup:
    kind = "weight against" if shade < 0 else "weight"
    return element("span", told, class_=kind, style=f"--p:{abs(shade):.3f}")


def strongest_words(rows: Rows, weights: Sequence[TokenWeights]) -> Markup:
    """The words of most weight by each method, side by side."""
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
    return table(caption="Words of most weight", header=header, rows=lines, class_="strongest")


def _named(word: str, told: str) -> Markup:
    return fragment(element("bdi", word), " ", element("span", told))
