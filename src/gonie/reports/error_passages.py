"""Incorrectly tagged sentences as HTML, with gold and predicted spans marked in the text.

A mark is recognisable by its label ("PER · missed") and its border, not only by its colour.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath

from gonie.messages import say
from gonie.metrics.mistakes import Mistake
from gonie.metrics.spans import overlap
from gonie.reports.html.markup import Markup, element, fragment, language
from gonie.text.report import count
from gonie.text.schemes import TokenSpan

LONG, AROUND, FIRST = 60, 12, 12
"""For a sentence of more than LONG words, only AROUND words around each of its FIRST errors are shown."""


MISSED, SPURIOUS, WRONG_TYPE, WRONG_BOUNDARY = "missed", "spurious", "wrong type", "wrong boundary"
"""The kinds of errors of spans."""

Colors = Mapping[str, str]
"""The CSS class of each label (``label_classes``)."""


def passage(mistake: Mistake, *, plain: bool, colors: Colors | None = None) -> Markup:
    """Render one sentence with its errors: one line for plain tags, a gold and a predicted line for spans."""
    shown = _shown_words(mistake)
    if plain:
        lines = [_line(mistake, _tag_marks(mistake), shown)]
    else:
        lines = [
            _named("gold", _line(mistake, _span_marks(mistake, shown, colors or {}, gold=True), shown)),
            _named("predicted", _line(mistake, _span_marks(mistake, shown, colors or {}, gold=False), shown)),
        ]
    return fragment(_place(mistake), *lines)


def kinds_of(mistake: Mistake) -> list[str]:
    """Return the kinds of errors of spans in one sentence, each once."""
    sides = ((mistake.gold, mistake.predicted, MISSED), (mistake.predicted, mistake.gold, SPURIOUS))
    wrong = (
        _kind(span, others, alone)
        for spans, others, alone in sides
        for span in spans
        if span not in mistake.correct
    )
    return sorted(set(wrong))


def wrong_labels(mistake: Mistake) -> list[str]:
    """Return the labels that only one side has at some place, each once."""
    return sorted({span[2] for span in set(mistake.gold) ^ set(mistake.predicted)})


def _kind(span: TokenSpan, others: Collection[TokenSpan], alone: str) -> str:
    """Return the kind of error of a span that the other side does not have."""
    if any(span[:2] == other[:2] for other in others):
        return WRONG_TYPE
    return WRONG_BOUNDARY if any(overlap(span, other) for other in others) else alone


def _place(mistake: Mistake) -> Markup:
    wrong = say(count(mistake.errors, "error"))
    file = f"{PurePath(mistake.path).name}:{mistake.line}" if mistake.path else None
    sure = (
        None if mistake.weight == mistake.errors else say(f"confidence {mistake.weight / mistake.errors:.2f}")
    )
    return element("p", " · ".join(part for part in (wrong, sure, file) if part), class_="place")


def _named(name: str, line: Markup) -> Markup:
    return element("div", element("span", say(name), class_="side"), line, class_="reading")


Mark = tuple[str, Markup | str]
"""The CSS class of a mark and its label."""


def _span_marks(
    mistake: Mistake, shown: Collection[int], colors: Colors, *, gold: bool
) -> dict[TokenSpan, Mark]:
    spans, others = (mistake.gold, mistake.predicted) if gold else (mistake.predicted, mistake.gold)
    alone, side = (MISSED, "due") if gold else (SPURIOUS, "given")
    marks = {}
    for span in spans:
        if span[0] in shown:
            right = span in mistake.correct
            state, color = "right" if right else side, colors.get(span[2], "")
            told = span[2] if right else f"{span[2]} · {say(_kind(span, others, alone))}"
            marks[span] = (f"{state} {color}".strip(), told)
    return marks


def _tag_marks(mistake: Mistake) -> dict[TokenSpan, Mark]:
    """Mark only the wrong tokens of plain tags, each with its gold and predicted tag."""
    return {
        due: ("given", f"{due[2]} → {given[2]}")
        for due, given in zip(mistake.gold, mistake.predicted, strict=True)
        if due != given
    }


def _shown_words(mistake: Mistake) -> Collection[int]:
    size = len(mistake.words)
    if size <= LONG:
        return range(size)
    ranges = sorted({(start, end) for start, end, _ in set(mistake.gold) ^ set(mistake.predicted)})
    near = {at for start, end in ranges[:FIRST] for at in range(start - AROUND, end + AROUND)}
    # Show a span completely or not at all, so that marks are never split.
    for start, end, _ in (*mistake.gold, *mistake.predicted):
        if not near.isdisjoint(range(start, end)):
            near.update(range(start, end))
    return near


def _line(mistake: Mistake, marks: Mapping[TokenSpan, Mark], shown: Collection[int]) -> Markup:
    korean = language("".join(mistake.words))
    return element("p", *_pieces(mistake, marks, shown), class_="text", lang=korean)


def _pieces(
    mistake: Mistake, marks: Mapping[TokenSpan, Mark], shown: Collection[int]
) -> Iterator[Markup | str]:
    """Yield the words in order. A marked span is one piece, and omitted words become an ellipsis."""
    starting = {span[0]: span for span in marks}
    at, cut = 0, False
    while at < len(mistake.words):
        if at not in shown:
            at, cut = at + 1, True
            continue
        if cut:
            yield "… "
            cut = False
        span = starting.get(at, (at, at + 1, ""))
        text = mistake.text(at, span[1])
        yield _mark(text, *marks[span]) if span in marks else text
        yield " " if mistake.spaces[span[1] - 1] else ""
        at = span[1]
    if cut:
        yield "…"


def _mark(text: str, kind: str, label: Markup | str) -> Markup:
    return element("mark", element("bdi", text), element("small", label), class_=kind)


def legend() -> Markup:
    """Render the meaning of the marks."""
    return fragment(
        element("mark", say("found"), element("small", say("TYPE")), class_="right neutral"),
        " ",
        element("mark", say("in gold only"), element("small", say("TYPE · why")), class_="due neutral"),
        " ",
        element(
            "mark", say("in the prediction only"), element("small", say("TYPE · why")), class_="given neutral"
        ),
    )
