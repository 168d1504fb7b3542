"""HTML of results for notebooks, with inline styles that are readable on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import chain
from zlib import crc32

HUES = (210, 30, 130, 280, 350, 175, 55, 245)
MOST = 20
"""The number of labels whose scores are shown."""


def marked_text(text: str, spans: Iterable[tuple[int, int, str, float | None]]) -> str:
    """Return the text with its spans (start, end, label, score) coloured. Their order is that of the text."""
    pieces, at = [], 0
    for start, end, label, score in spans:
        pieces += [escape(text[at:start]), _mark(text[start:end], label, score)]
        at = end
    inside = "".join([*pieces, escape(text[at:])])
    return f'<div style="line-height:2;white-space:pre-wrap" dir="auto">{inside}</div>'


def _mark(text: str, label: str, score: float | None) -> str:
    """Return a coloured span. A label always has the same colour."""
    hue = HUES[crc32(label.encode("utf-8", "replace")) % len(HUES)]
    style = f"background:hsla({hue},80%,55%,.3);border-radius:4px;padding:2px 4px"
    title = "" if score is None else f' title="{score:.4f}"'
    name = f'<b style="font-size:.75em;margin-left:.4em">{escape(label)}</b>'
    return f'<span style="{style}"{title}>{escape(text)}{name}</span>'


def score_bars(texts: Iterable[str], scores: Mapping[str, float], chosen: Iterable[str]) -> str:
    """Return texts, and a bar for the score of each label, the highest first."""
    marked = set(chosen)
    ranked = sorted(scores.items(), key=lambda each: -each[1])
    rows = (
        f'<div><span style="display:inline-block;width:12em;overflow:hidden">'
        f"{'<b>' if label in marked else ''}{escape(label)}{'</b>' if label in marked else ''}</span>"
        f'<span style="display:inline-block;height:.8em;width:{16 * score:.2f}em;'
        f'background:hsla(210,80%,55%,.6)"></span> {score:.4f}</div>'
        for label, score in ranked[:MOST]
    )
    more = [f"<div>and {len(ranked) - MOST:,} more labels</div>"] if len(ranked) > MOST else []
    shown = (f'<div style="white-space:pre-wrap" dir="auto">{escape(text)}</div>' for text in texts)
    return "".join(chain(shown, rows, more))
