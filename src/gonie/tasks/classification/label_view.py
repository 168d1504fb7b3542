"""Labels of texts on the terminal: one line per text, or all labels of one text."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from gonie.reports.terminal import one_line
from gonie.text.types import Classification

NONE = "–"  # for a text without labels


def pretty(found: Classification) -> Text:
    """Return one line: ``positive 0.982  A good film.``, or all predicted labels."""
    shown = Text()
    for label in found.labels or (NONE,):
        shown.append(one_line(label), style="bold green")
        shown.append(f" {found.scores[label]:.3f}  " if label in found.scores else "  ", style="dim")
    return shown.append(one_line(found.text))


def all_scores(found: Classification) -> Text:
    """Return one line per label, the most probable first, with predicted labels in colour."""
    ranked = sorted(found.scores.items(), key=lambda item: -item[1])
    names = {label: one_line(label) for label in found.scores}
    width = max(map(cell_len, names.values()))  # a Hangul syllable takes two columns
    return Text("\n").join(
        Text.assemble(
            (names[label], "bold green" if label in found.labels else ""),
            f"{' ' * (width - cell_len(names[label]))}  {score:.3f}",
        )
        for label, score in ranked
    )
