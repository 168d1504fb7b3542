"""Weights over a text on the terminal: as colours, or as numbers if there are no colours.

Words that support a prediction are underlined and words that oppose it are italic, so colour is not the only
sign. Coloured text is black on a light colour, which is readable on dark and light terminals.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.color import Color
from rich.style import Style
from rich.text import Text

from gonie.messages import say
from gonie.reports.explanation import TokenWeights
from gonie.reports.explanations.heat import Rows, sentence_number
from gonie.reports.explanations.layout import TextPiece
from gonie.reports.explanations.shades import is_share, sentence_shades, shades
from gonie.reports.terminal import safe

FOR, AGAINST, SHARE = (64, 148, 214), (240, 150, 40), (40, 180, 130)
FAINT = 0.08
"""Words with a smaller shade are not coloured."""
BLOCKS = 6
"""The maximum length of the bar of a sentence."""


def heat_text(rows: Rows, weights: TokenWeights, *, colours: bool) -> Text:
    """Return the original text with its weights. Several sentences are on separate lines, with bars."""
    drawn = shades(weights)
    lines = [
        Text.assemble(*(_piece(piece, weights, at, drawn[at], colours) for piece in pieces))
        for at, pieces in enumerate(rows)
    ]
    if len(rows) == 1:
        return lines[0]
    bars = [_bar(weights, at, shade) for at, shade in enumerate(sentence_shades(weights))]
    return Text("\n").join(
        Text.assemble(bar, " ", line[: len(line.plain.rstrip())])
        for bar, line in zip(bars, lines, strict=True)
    )


def key_text(*, shares: bool = True) -> Text:
    """Return the legend of the colours, with that of attention if ``shares`` are shown."""
    return Text.assemble(
        (say("share of attention") if shares else "", coloured(0.7, SHARE)),
        " " if shares else "",
        (say("supports the prediction"), coloured(0.7, FOR) + Style(underline=True)),
        " ",
        (say("opposes it"), coloured(0.7, AGAINST) + Style(italic=True)),
    )


def coloured(shade: float, tone: tuple[int, int, int]) -> Style:
    """Return black on a colour that gets deeper with the shade. The faintest is not white, which glares."""
    depth = 0.3 + 0.7 * shade
    red, green, blue = (round(255 - depth * (255 - part)) for part in tone)
    return Style(color="black", bgcolor=Color.from_rgb(red, green, blue))


def side(shade: float) -> tuple[int, int, int]:
    """Return the colour of a signed weight."""
    return FOR if shade > 0 else AGAINST


def _piece(piece: TextPiece, weights: TokenWeights, at: int, drawn: Sequence[float], colours: bool) -> Text:
    text = safe(f"[{piece.text}]" if piece.added else piece.text)
    shade = 0.0 if piece.token is None else drawn[piece.token]
    if piece.token is None or abs(shade) < FAINT:
        return Text(text)
    if not colours:
        value = weights.words[at][piece.token]
        return Text(text + (f"({value:.2g})" if is_share(weights) else f"({value:+.3f})"))
    if is_share(weights):
        return Text(text, coloured(shade, SHARE))
    sign = Style(underline=True) if shade > 0 else Style(italic=True)
    return Text(text, coloured(abs(shade), side(shade)) + sign)


def _bar(weights: TokenWeights, at: int, shade: float) -> Text:
    blocks = "█" * max(1 if shade else 0, round(BLOCKS * min(abs(shade), 1.0)))
    return Text(f"{sentence_number(weights, at):>7} {blocks:<{BLOCKS}}", "dim")
