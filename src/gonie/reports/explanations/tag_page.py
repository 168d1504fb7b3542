"""The HTML page of explained tagged sentences: spans, their alternatives and word weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gonie.messages import say
from gonie.reports.explanation import Faithfulness, LayerShares, SpanExplanation, TagExplanation, Transitions
from gonie.reports.explanations.alternatives import differing, likeliest
from gonie.reports.explanations.asked import asked_answer, named_words
from gonie.reports.explanations.heat import strip
from gonie.reports.explanations.layer_shares import layer_section
from gonie.reports.explanations.layout import TextPiece, lay_out_sentence
from gonie.reports.explanations.page import heading, how_to_read, key
from gonie.reports.explanations.style import STYLE
from gonie.reports.explanations.transition_table import transition_section
from gonie.reports.html.colors import label_classes
from gonie.reports.html.frame import folded, note, page
from gonie.reports.html.markup import Markup, element, fragment, join, language, row, table
from gonie.text.types import Candidate

WARNING = (
    "The weights are a method's estimate of which words a span depends on, not the model's reasons. Methods "
    "disagree; the scores below show which are faithful to this model. Probabilities are those of the model."
)
OPEN = 4
"""With more spans than this, the weights of each span are collapsed."""
TOP = 3
"""The number of visible tags per token."""


def render_tags(
    explanations: Sequence[TagExplanation],
    transitions: Transitions | None,
    faithfulness: Sequence[Faithfulness],
    *,
    title: str,
    notes: Sequence[str] = (),
    layers: Sequence[LayerShares] = (),
) -> str:
    """Render the page: the first sentence, how to read its weights, then the others.

    ``notes`` help to read them.
    """
    colors = label_classes(
        label for each in explanations for label in (*each.types, *(span.label for span in each.spans))
    )
    weighted = [
        at for at, each in enumerate(explanations) if any(span.weights for span in (*each.asked, *each.spans))
    ]
    legends = {at: key(shares=False, sides=True) for at in weighted[:1]}
    sentences = [_sentence(each, colors, legends.get(at)) for at, each in enumerate(explanations)]
    return page(
        title,
        heading(title),
        *sentences[:1],
        how_to_read(WARNING, faithfulness, noun="span", notes=notes),
        *sentences[1:],
        None if transitions is None else transition_section(transitions),
        layer_section(layers) if layers else None,
        style=STYLE,
    )


Colors = Mapping[str, str]
"""The CSS class of each label (``label_classes``)."""


def _sentence(each: TagExplanation, colors: Colors, legend: Markup | None) -> Markup:
    pieces = lay_out_sentence(each.sentence)
    return element(
        "article",
        *(_asked(pieces, each, span, legend if at == 0 else None) for at, span in enumerate(each.asked)),
        _tagged(pieces, each, colors),
        None if each.asked else legend,
        *_spans(pieces, [span for span in each.spans if span.weights], colors),
        folded("Probabilities of the tags", _marginals(each)),
        folded("Most probable tag sequences", _candidates(each)) if each.candidates else None,
        class_="explained",
    )


def _asked(
    pieces: Sequence[TextPiece], each: TagExplanation, span: SpanExplanation, legend: Markup | None
) -> Markup:
    """Render what the model prefers to a span, the words that speak against it, and all weights."""
    assert span.asked is not None
    stretch = _stretch(pieces, span)
    words, inside = _text(pieces[stretch.start : stretch.stop]), range(span.start, span.end)
    told = [line for weights in span.weights for line in named_words(each.sentence.words, weights)]
    return element(
        "section",
        element("h2", element("bdi", say(asked_answer(words, span.label, span.probability, span.asked)))),
        *(element("p", element("bdi", say(line))) for line in told),
        *map(note, span.asked.notes),
        legend,
        element("div", *(strip([pieces], own, inside=inside) for own in span.weights), class_="strips"),
        class_="asked",
    )


def _tagged(pieces: Sequence[TextPiece], each: TagExplanation, colors: Colors) -> Markup:
    """Render the sentence with its spans marked, or with a tag after each word if there are no spans."""
    spans = each.spans or _outside(each)
    shown = _marked(pieces, each.spans, colors) if spans else _words(pieces, each, colors)
    return element("p", *shown, class_="tagged", lang=language(_text(pieces)), dir="auto")


def _outside(each: TagExplanation) -> bool:
    return all(tag == "O" for tag in each.tags)


def _marked(
    pieces: Sequence[TextPiece], spans: Sequence[SpanExplanation], colors: Colors
) -> Iterator[Markup | str]:
    at = 0
    for span in sorted(spans, key=lambda span: span.start):
        stretch = _stretch(pieces, span)
        yield _text(pieces[at : stretch.start])
        words = _text(pieces[stretch.start : stretch.stop])
        yield _mark(words, f"{span.label} {span.probability:.3f}", colors[span.label])
        at = stretch.stop
    yield _text(pieces[at:])


def _stretch(pieces: Sequence[TextPiece], span: SpanExplanation) -> range:
    """Return the pieces from the first token of the span to its last."""
    inside = range(span.start, span.end)
    places = [at for at, piece in enumerate(pieces) if piece.token is not None and piece.token in inside]
    return range(places[0], places[-1] + 1)


def _text(pieces: Sequence[TextPiece]) -> str:
    return "".join(piece.text for piece in pieces)


def _words(pieces: Sequence[TextPiece], each: TagExplanation, colors: Colors) -> Iterator[Markup | str]:
    for piece in pieces:
        tag = None if piece.token is None else each.tags[piece.token]
        yield piece.text if tag is None else _mark(piece.text, tag, colors.get(tag))


def _mark(text: str, label: str, color: str | None) -> Markup:
    return element("mark", element("bdi", text), element("small", label), class_=color)


def _marginals(each: TagExplanation) -> Markup:
    header = ("token", "predicted", *(f"{rank}." for rank in range(1, TOP + 1)), "others")
    rows = [
        row(element("bdi", word), tag, *_chances(chances), names=header)
        for word, tag, chances in zip(each.sentence.words, each.tags, each.marginals, strict=True)
    ]
    caption = "Marginal probabilities of the tags of each token"
    return table(caption=caption, header=header, rows=rows, class_="marginals stack")


def _chances(chances: Mapping[str, float]) -> list[Markup | str]:
    """Return a text for each of the most probable tags, and one with the rest collapsed."""
    ordered = [f"{tag} {chance:.4f}" for tag, chance in likeliest(chances)]
    first, rest = ordered[:TOP], ordered[TOP:]
    others = folded(f"{len(rest)} more", ", ".join(rest)) if rest else ""
    return [*first, *[""] * (TOP - len(first)), others]


def _candidates(each: TagExplanation) -> Markup:
    best = each.candidates[0]
    header = ("", "probability", "tags that differ from the first")
    rows = [
        row(
            rank,
            f"{other.probability:.4f}",
            _differences(each.sentence.words, best, other),
            names=header,
        )
        for rank, other in enumerate(each.candidates, start=1)
    ]
    caption = "Tag sequences by probability"
    return table(caption=caption, header=header, rows=rows, class_="candidates stack")


def _differences(words: Sequence[str], best: Candidate, other: Candidate) -> Markup:
    found = [
        fragment(element("bdi", word), f": {one} → {two}") for word, one, two in differing(words, best, other)
    ]
    return join(found, ", ") if found else fragment("–")


def _spans(pieces: Sequence[TextPiece], spans: Sequence[SpanExplanation], colors: Colors) -> list[Markup]:
    """Render each span under its heading. If there are many, they are collapsed."""
    if len(spans) <= OPEN:
        return [_under(*_span(pieces, span, colors)) for span in spans]
    title = element("h2", say("Word weights for each span"), class_="span")
    return [title, *(folded(*_span(pieces, span, colors)) for span in spans)]


def _under(name: Markup, strips: Markup) -> Markup:
    return element("section", element("h2", name, class_="span"), strips)


def _span(pieces: Sequence[TextPiece], span: SpanExplanation, colors: Colors) -> tuple[Markup, Markup]:
    """Return the heading of one span and its weights by each method. The words of the span are outlined."""
    stretch = _stretch(pieces, span)
    words, inside = _text(pieces[stretch.start : stretch.stop]), range(span.start, span.end)
    return (
        _mark(words, f"{span.label} {span.probability:.3f}", colors[span.label]),
        element("div", *(strip([pieces], each, inside=inside) for each in span.weights), class_="strips"),
    )
