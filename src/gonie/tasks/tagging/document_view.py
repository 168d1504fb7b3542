"""Documents on the terminal: the text with its labels, or words and tags in columns (CoNLL)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from gonie.reports.explanations.alternatives import differing
from gonie.reports.terminal import safe
from gonie.text.jamo import to_letters
from gonie.text.schemes import IOB2, Scheme, from_spans, to_spans
from gonie.text.tokenizers.morphemes import format_morphemes
from gonie.text.types import Document, Span, Token

COLORS = ("cyan", "green", "magenta", "yellow", "blue", "red")


def conll(document: Document, scheme: Scheme, *, morphemes: bool = False) -> str:
    """Return one line per token with word and tag. Entities are in IOB2, in any scheme of the model.

    ``morphemes`` adds a column before the tag: 하/VV+었/EP, or ``_`` for none.
    """
    lines = []
    for start, end in document.sentences:
        tokens = document.tokens[start:end]
        tags = [token.tag or "O" for token in tokens]
        if scheme.has_spans:
            tags = from_spans(to_spans(tags, scheme), len(tags), IOB2)
        columns = [[token.text, *_analysis(token, wanted=morphemes)] for token in tokens]
        lines += ["\t".join([*own, tag]) for own, tag in zip(columns, tags, strict=True)] + [""]
    return "".join(f"{line}\n" for line in lines)


def _analysis(token: Token, *, wanted: bool) -> list[str]:
    return [to_letters(format_morphemes(token.morphemes)) or "_"] if wanted else []


class Colors:
    """Assigns a colour to each label, in order of first use."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __getitem__(self, label: str) -> str:
        return self._known.setdefault(label, COLORS[len(self._known) % len(COLORS)])


def pretty(document: Document, scheme: Scheme, colors: Colors) -> Text:
    """Format a document: ``[George PER 0.98] is happy``, or ``George/PROPN is/AUX happy/ADJ``.

    With n-best taggings, each has its own line.
    """
    if document.nbest is not None:
        return Text("\n").join(_listed(document, scheme, colors))
    if scheme.has_spans:
        return _marked(document.text, document.spans, colors)
    sentences = [document.tokens[start:end] for start, end in document.sentences]
    return Text("\n").join(_tagged(tokens, [token.tag for token in tokens], colors) for tokens in sentences)


def _listed(document: Document, scheme: Scheme, colors: Colors) -> Iterator[Text]:
    """Yield the n-best taggings of each sentence, with differences to the best, then an empty line."""
    for (start, end), (best, *others) in zip(document.sentences, document.nbest or (), strict=True):
        tokens = document.tokens[start:end]
        for rank, candidate in enumerate((best, *others), start=1):
            line = Text.assemble((f"{rank:>3}.", "dim"), (f" {_percent(candidate.probability):>8}  ", "bold"))
            if scheme.has_spans:
                sentence = document.text[: tokens[-1].end]
                line.append(_marked(sentence, candidate.spans, colors, at=tokens[0].start))
            else:
                line.append(_tagged(tokens, candidate.tags, colors))
            changes = differing([token.text for token in tokens], best, candidate)
            changed = ", ".join(f"{word}: {one} → {other}" for word, one, other in changes)
            yield line.append(f"  ({safe(changed)})" if changed else "", style="yellow")
        yield Text()


def _percent(chance: float) -> str:
    """Format a probability with two decimals, or in scientific notation if these would be zero."""
    return f"{chance:.2%}" if chance >= 0.0001 else f"{100 * chance:.1e}%"


def _marked(text: str, spans: Sequence[Span], colors: Colors, *, at: int = 0) -> Text:
    """Return the text from ``at`` on, with spans in colour, followed by their label and score."""
    shown = Text()
    for span in spans:
        shown.append(safe(text[at : span.start]))
        color = colors[span.label]
        shown.append("[", style="dim")
        shown.append(safe(span.text), style=f"bold {color}")
        shown.append(f" {span.label}", style=color)
        shown.append("" if span.score is None else f" {span.score:.2f}", style="dim")
        shown.append("]", style="dim")
        at = span.end
    return shown.append(safe(text[at:]))


def _tagged(tokens: Sequence[Token], tags: Sequence[str | None], colors: Colors) -> Text:
    """Return the tokens of a sentence, each with its tag in colour."""
    line = Text()
    for token, tag in zip(tokens, tags, strict=True):
        line.append(" " if line else "").append(safe(token.text))
        line.append(f"/{tag}", style=colors[tag or ""])
    return line
