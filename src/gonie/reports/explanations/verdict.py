"""One sentence on which method to trust, written by rule from the figures.

A method beats chance if it is better than every control on both measures, at the digits that are shown: so
the sentence never says more than the table beside it. Among those, the most faithful is the one whose
comprehensiveness exceeds its sufficiency by most.
"""

from __future__ import annotations

from collections.abc import Sequence

from gonie.reports.explanation import RANDOM, UNIFORM, Faithfulness
from gonie.text.report import count

CONTROLS = (RANDOM, UNIFORM)
DIGITS = 3
FEW = 30
"""Over fewer texts than this, the sentence warns that the figures may be luck."""


def verdict(found: Sequence[Faithfulness], *, noun: str = "text") -> str:
    """What the figures say; ``noun`` is what was measured on, a text or a span."""
    methods = [each for each in found if not is_control(each)]
    controls = [each for each in found if is_control(each)]
    if not methods or not controls:
        return "How far these weights can be trusted on this model was not measured."
    good = [method for method in methods if beats(method, controls)]
    return _sentence(methods, good, controls) + _caution(found, noun)


def is_control(each: Faithfulness) -> bool:
    """Is it what methods are held against, and not a method?"""
    return each.method in CONTROLS


def beats(method: Faithfulness, controls: Sequence[Faithfulness]) -> bool:
    """Is the method better than every control on both measures?"""
    return all(
        _shown(method.comprehensiveness) > _shown(control.comprehensiveness)
        and _shown(method.sufficiency) < _shown(control.sufficiency)
        for control in controls
    )


def standing(each: Faithfulness, controls: Sequence[Faithfulness]) -> str:
    """Where a line of the table stands, in a word or two."""
    if is_control(each):
        return "control"
    if not controls:
        return ""
    return "beats chance" if beats(each, controls) else "no better than chance"


def measured_on(found: Sequence[Faithfulness], noun: str) -> str:
    """How many texts or spans the figures are means over."""
    fewest, most = min(each.texts for each in found), max(each.texts for each in found)
    return count(most, noun) if fewest == most else f"{fewest:,} to {count(most, noun)}"


def _sentence(
    methods: Sequence[Faithfulness], good: Sequence[Faithfulness], controls: Sequence[Faithfulness]
) -> str:
    if not good:
        named = _listed([each.method for each in methods])
        return (
            f"On this model no method beats chance on both measures ({named}): do not take the coloured "
            "words for the reasons of its answers."
        )
    best = max(good, key=lambda each: each.comprehensiveness - each.sufficiency)
    chance = max(controls, key=lambda each: each.comprehensiveness)
    told = (
        f"Most faithful on this model: {best.method}. Without the words it names, the answer's probability "
        f"falls by {best.comprehensiveness:z.{DIGITS}f}; without as many taken by chance, by "
        f"{chance.comprehensiveness:z.{DIGITS}f}."
    )
    poor = [each.method for each in methods if each not in good]
    return told + (f" Not better than chance on both measures: {_listed(poor)}." if poor else "")


def _caution(found: Sequence[Faithfulness], noun: str) -> str:
    fewest = min(each.texts for each in found)
    if fewest >= FEW:
        return ""
    return f" Measured on {count(fewest, noun)} only: so few can mislead."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _shown(value: float) -> float:
    return round(value, DIGITS)
