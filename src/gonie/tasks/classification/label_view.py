"""Labels of texts on the terminal: a line for each text, or every label of one text."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from gonie.reports.terminal import one_line
from gonie.text.types import Classification

NONE = "–"  # where a text has none of several labels


def pretty(found: Classification) -> Text:
    """One line: ``positive 0.982  A good film.``, or the labels given of several."""
    shown = Text()
    for label in found.labels or (NONE,):
        shown.append(one_line(label), style="bold green")
        shown.append(f" {found.scores[label]:.3f}  " if label in found.scores else "  ", style="dim")
    return shown.append(one_line(found.text))


def all_scores(found: Classification) -> Text:
    """A line a label, the most probable first, those given in colour."""
    ranked = sorted(found.scores.items(), key=lambda item: -item[1])
    names = {label: one_line(label) for label in found.scores}
    width = max(map(cell_len, names.values()))  # a letter of Hangul takes two columns
    return Text("\n").join(
        Text.assemble(
            (names[label], "bold green" if label in found.labels else ""),
            f"{' ' * (width - cell_len(names[label]))}  {score:.3f}",
        )
        for label, score in ranked
    )
