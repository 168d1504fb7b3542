"""The CSS classes of colours, which are in the common style sheet (``style.py``).

A label has one of ``c0`` … ``c9``, so that different labels look different. A weight has one of ``h0`` …
``h10`` or ``n1`` … ``n10``.
"""

from __future__ import annotations

from collections.abc import Iterable

CLASSES = tuple(f"c{number}" for number in range(10))
"""The classes, the easiest to tell apart first."""


STEPS = 10
"""The number of shades of a weight, on each side of zero."""


def label_classes(labels: Iterable[str]) -> dict[str, str]:
    """Return the CSS class of each label, in alphabetical order.

    The order and number of repetitions of ``labels`` do not matter, so every page that is given all labels
    of a model has the same colours. Labels share a colour only if there are more labels than classes.
    """
    return {label: CLASSES[at % len(CLASSES)] for at, label in enumerate(sorted(set(labels)))}


def heat_class(shade: float) -> str:
    """Return the class of a shade in -1..1: ``h10`` for 1, ``n10`` for -1, ``h0`` for next to nothing."""
    step = min(STEPS, round(STEPS * abs(shade)))
    return f"n{step}" if shade < 0 and step else f"h{step}"
