"""How `gonie tag` writes a document: for the eye, as columns, or as JSON."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from gonie.cli.stream_output import open_output, printer, put, safe
from gonie.data.results import json_line, tag_result
from gonie.data.schemes import IOB2, Scheme, from_spans, to_spans
from gonie.data.types import Document

Write = Callable[[Document], None]

OUTPUTS = ("pretty", "conll", "jsonl")
COLORS = ("cyan", "green", "magenta", "yellow", "blue", "red")


def writer(kind: str, scheme: Scheme) -> Write:
    """What writes a document to standard output."""
    open_output(kind, OUTPUTS)
    if kind == "jsonl":
        return lambda document: put(jsonl(document))
    if kind == "conll":
        return lambda document: put(conll(document, scheme))
    show, colors = printer(), Colors()
    return lambda document: show(pretty(document, scheme, colors))


def jsonl(document: Document) -> str:
    """One line: the text, its spans and its tokens, with offsets and scores."""
    return json_line(tag_result(document))


def conll(document: Document, scheme: Scheme) -> str:
    """A line for each token, word and tag; entities in IOB2, whatever the model's own scheme."""
    lines = []
    for start, end in document.sentences:
        tokens = document.tokens[start:end]
        tags = [token.tag or "O" for token in tokens]
        if scheme.has_spans:
            tags = from_spans(to_spans(tags, scheme), len(tags), IOB2)
        lines += [f"{token.text}\t{tag}" for token, tag in zip(tokens, tags, strict=True)] + [""]
    return "".join(f"{line}\n" for line in lines)


class Colors:
    """A colour for each label, in the order in which labels turn up."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __getitem__(self, label: str) -> str:
        return self._known.setdefault(label, COLORS[len(self._known) % len(COLORS)])


def pretty(document: Document, scheme: Scheme, colors: Colors) -> Text:
    """The document for the eye: ``[George PER 0.98] is happy``, or ``George/PROPN is/AUX happy/ADJ``."""
    return _marked(document, colors) if scheme.has_spans else _tagged(document, colors)


def _marked(document: Document, colors: Colors) -> Text:
    """The text with its spans in the colour of their label, which stands behind them with its score."""
    shown = Text()
    at = 0
    for span in document.spans:
        shown.append(safe(document.text[at : span.start]))
        color = colors[span.label]
        shown.append("[", style="dim")
        shown.append(safe(span.text), style=f"bold {color}")
        shown.append(f" {span.label}", style=color)
        shown.append("" if span.score is None else f" {span.score:.2f}", style="dim")
        shown.append("]", style="dim")
        at = span.end
    return shown.append(safe(document.text[at:]))


def _tagged(document: Document, colors: Colors) -> Text:
    """A sentence a line, each token with its tag in a colour of its own."""
    lines = []
    for start, end in document.sentences:
        line = Text()
        for token in document.tokens[start:end]:
            line.append(" " if line else "").append(safe(token.text))
            line.append(f"/{token.tag}", style=colors[token.tag or ""])
        lines.append(line)
    return Text("\n").join(lines)
