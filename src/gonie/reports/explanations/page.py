"""The parts that explanation pages share: how to read them, the legend, and bars of probabilities.

A page begins with the answer. Attention looks like an explanation but need not be one, so a line below the
first answer says how far to trust the weights. The faithfulness scores are folded below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.messages import say
from gonie.reports.explanation import Faithfulness
from gonie.reports.explanations.alternatives import likeliest
from gonie.reports.explanations.verdict import (
    DIGITS,
    PROBABILITY,
    beats,
    is_control,
    measured_on,
    short_verdict,
    standing,
    verdict,
)
from gonie.reports.html.frame import folded, note
from gonie.reports.html.markup import Markup, element, fragment, row, table

ATTENTION = (
    "Attention is not by itself an explanation: it shows where the model looked, not why it made a "
    "prediction. Other attention weights can lead to the same prediction (Jain & Wallace 2019), and what "
    "that means is disputed (Wiegreffe & Pinter 2019)."
)
WEIGHTS = (
    "The weights are a method's estimate of which words a prediction depends on, not the model's reasons. "
    "Methods disagree; the scores below show which are faithful to this model."
)
"""The warning for models without attention."""
MEASURES = (
    "Comprehensiveness: the drop in {quantity} when the words with the largest weights are removed (higher "
    "is better). Sufficiency: the drop when only these words are kept (lower is better). Both are means over "
    "several shares of the words (AOPC, DeYoung et al. 2020). A method must beat the controls."
)
REFERENCES = (
    "Jain & Wallace 2019, Attention is not Explanation (NAACL)",
    "Wiegreffe & Pinter 2019, Attention is not not Explanation (EMNLP)",
    "DeYoung et al. 2020, ERASER: A Benchmark to Evaluate Rationalized NLP Models (ACL)",
    "Sundararajan, Taly & Yan 2017, Axiomatic Attribution for Deep Networks (ICML)",
    "Yang et al. 2016, Hierarchical Attention Networks for Document Classification (NAACL)",
)
MOST_LABELS = 8
"""The number of labels with a visible bar. The rest are collapsed."""


CAVEAT = "Word weights are estimates, not the model's reasons."


def heading(title: str) -> Markup:
    """Render the title of the page."""
    return element("header", element("h1", element("bdi", say(title))))


def how_to_read(
    warning: str,
    faithfulness: Sequence[Faithfulness],
    *,
    noun: str,
    quantity: str = PROBABILITY,
    notes: Sequence[str] = (),
) -> Markup:
    """Render one line on how far to trust the weights. The whole is folded below it.

    That is the warning, the verdict, the faithfulness table, the notes and the references. ``quantity`` is
    what removing words lowers.
    """
    return element(
        "aside",
        element("p", say(CAVEAT), " ", say(short_verdict(faithfulness, noun=noun))),
        folded(
            "How to read this",
            element("p", say(warning)),
            element("p", element("b", say(verdict(faithfulness, noun=noun, quantity=quantity)))),
            faithfulness_table(faithfulness, noun=noun, quantity=quantity) if faithfulness else None,
            *map(note, notes),
            references(),
        ),
        class_="reading-help",
        aria_label=say("How to read this"),
    )


def faithfulness_table(found: Sequence[Faithfulness], *, noun: str, quantity: str = PROBABILITY) -> Markup:
    """Render one row per method, then the controls. Methods that beat the controls are bold and say so."""
    controls = [each for each in found if is_control(each)]
    ordered = [*(each for each in found if not is_control(each)), *controls]
    header = ("", "comprehensiveness\u00a0↑", "sufficiency\u00a0↓")
    rows = [_figures(each, controls) for each in ordered]
    measures = MEASURES.format(quantity=quantity)
    caption = f"Faithfulness on this model, over {measured_on(found, noun)}"
    return fragment(table(caption=caption, header=header, rows=rows, class_="faith"), note(measures))


def _figures(each: Faithfulness, controls: Sequence[Faithfulness]) -> Markup:
    return row(
        fragment(say(each.method), " ", element("small", say(standing(each, controls)))),
        f"{each.comprehensiveness:z.{DIGITS}f}",
        f"{each.sufficiency:z.{DIGITS}f}",
        class_="control" if is_control(each) else "best" if beats(each, controls) else None,
    )


def references() -> Markup:
    """Render the references of the methods and their critics."""
    return folded("References", *map(note, REFERENCES))


def key(*, shares: bool, sides: bool) -> Markup:
    """Render the legend of the colours."""
    parts = [
        element("span", element("span", say("share of attention"), class_="w h7"), class_="share")
        if shares
        else None,
        element(
            "span",
            element("span", say("supports the prediction"), class_="w line h7"),
            " ",
            element("span", say("opposes it"), class_="w line against n7"),
            class_="sides",
        )
        if sides
        else None,
    ]
    shown = [fragment(part, " ") for part in parts if part is not None]
    told = (
        "Colours are relative to the largest weight of the same text and method. Point at a word, tap it or "
        "tab to it to see its weight."
    )
    return element("p", *shown, say(told), class_="note key")


def bars(probabilities: Mapping[str, float], *, given: Sequence[str], gold: Sequence[str]) -> Markup:
    """Render the probability of each label as a bar and a number, highest first."""
    ordered = likeliest(probabilities)
    first, rest = ordered[:MOST_LABELS], ordered[MOST_LABELS:]
    return fragment(
        _bars(first, given, gold),
        folded(f"{len(rest):,} more labels", _bars(rest, given, gold)) if rest else None,
    )


def _bars(items: Sequence[tuple[str, float]], given: Sequence[str], gold: Sequence[str]) -> Markup:
    return element("dl", *(_line(*item, given, gold) for item in items), class_="bars")


def _line(label: str, chance: float, given: Sequence[str], gold: Sequence[str]) -> Markup:
    told = say(" (gold)") if label in gold else ""
    return bar(fragment(element("bdi", label), told), chance, strong=label in given)


def bar(name: object, share: float, *, strong: bool = False) -> Markup:
    """Render one row of a ``dl`` of class ``bars``: a name, a bar and its number."""
    width = f"{100 * min(max(share, 0), 1):.2f}"
    line = element(
        "svg",
        element("rect", width=width, height=1),
        viewBox="0 0 100 1",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return fragment(
        element("dt", name, class_="chosen" if strong else None),
        element("dd", line, class_="line", aria_hidden="true"),
        element("dd", f"{share:.4f}"),
    )
