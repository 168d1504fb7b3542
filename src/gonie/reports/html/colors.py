"""The colours of labels: one CSS class for each, so that different labels look different.

The classes ``c0`` … ``c9`` are in the common style sheet (``style.py``).
"""

from __future__ import annotations

from collections.abc import Iterable

CLASSES = tuple(f"c{number}" for number in range(10))
"""The classes, the easiest to tell apart first."""


def label_classes(labels: Iterable[str]) -> dict[str, str]:
    """Return the CSS class of each label, in alphabetical order.

    The order and number of repetitions of ``labels`` do not matter, so every page that is given all labels
    of a model has the same colours. Labels share a colour only if there are more labels than classes.
    """
    return {label: CLASSES[at % len(CLASSES)] for at, label in enumerate(sorted(set(labels)))}
