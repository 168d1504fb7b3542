"""The HTML page of explained classified texts: one heat map per method, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.messages import say
from gonie.reports.explanation import Faithfulness, LayerShares, TextExplanation
from gonie.reports.explanations.alternatives import agreement, answer
from gonie.reports.explanations.heat import strip, strongest_words
from gonie.reports.explanations.layer_shares import layer_section
from gonie.reports.explanations.layout import lay_out
from gonie.reports.explanations.page import ATTENTION, bars, heading, how_to_read, key
from gonie.reports.explanations.shades import is_share
from gonie.reports.explanations.style import STYLE
from gonie.reports.explanations.verdict import PROBABILITY
from gonie.reports.html.frame import folded, page
from gonie.reports.html.markup import Markup, element, fragment


def render_texts(
    explanations: Sequence[TextExplanation],
    faithfulness: Sequence[Faithfulness],
    *,
    title: str,
    warning: str = ATTENTION,
    noun: str = "text",
    quantity: str = PROBABILITY,
    notes: Sequence[str] = (),
    layers: Sequence[LayerShares] = (),
) -> str:
    """Render the page: the first text, how to read its weights, then the others. ``notes`` help to read them.

    ``noun`` is what an item is, a text or a pair, and ``quantity`` what removing words lowers.
    """
    used = [weights for each in explanations for weights in each.weights]
    shares, sides = any(map(is_share, used)), not all(map(is_share, used))
    legend = key(shares=shares, sides=sides) if used else None
    return page(
        title,
        heading(title),
        *(_text(each, legend) for each in explanations[:1]),
        how_to_read(warning, faithfulness, noun=noun, quantity=quantity, notes=notes),
        *(_text(each) for each in explanations[1:]),
        layer_section(layers) if layers else None,
        style=STYLE,
    )


def _text(each: TextExplanation, legend: Markup | None = None) -> Markup:
    rows = lay_out(each.text, each.passage.sentences)
    strips = [strip(rows, weights) for weights in each.weights]
    return element(
        "article",
        _answer(each),
        bars(each.probabilities, given=each.given, gold=each.gold) if each.probabilities else None,
        legend,
        element("div", *strips, class_="strips") if strips else _plain(each.text),
        folded("Words with the largest weights", strongest_words(rows, each.weights)) if strips else None,
        class_="explained",
    )


def _answer(each: TextExplanation) -> Markup:
    labels = [fragment(element("bdi", label), told) for label, told in answer(each)]
    separated = [part for label in labels for part in (", ", label)][1:]
    right = say(agreement(each))
    return element(
        "h2", *separated, " ", element("span", right, class_="verdict") if right else None, _place(each)
    )


def _place(each: TextExplanation) -> Markup | None:
    passage = each.passage
    return element("span", f" {passage.path}:{passage.line}", class_="place") if passage.path else None


def _plain(text: str) -> Markup:
    return element("div", element("p", text), class_="heat", dir="auto")
