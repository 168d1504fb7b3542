"""How `gonie classify` writes a label: for the eye, or as JSON."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len
from rich.text import Text

from gonie.cli.inputs.classify import LabelledInput
from gonie.cli.views.stream_output import one_line, open_output, printer, put
from gonie.formats.results import json_line, text_result
from gonie.text.types import Classification

Write = Callable[[LabelledInput], None]

OUTPUTS = ("pretty", "jsonl")
NONE = "–"  # where a text has none of several labels


def writer(kind: str, *, several: bool, alone: bool) -> Write:
    """What writes a label to standard output; a text that comes ``alone`` is shown with every score."""
    open_output(kind, OUTPUTS)
    if kind == "jsonl":
        return lambda labelled: put(jsonl(labelled, several=several))
    show = printer()
    if alone:
        return lambda labelled: show(all_scores(labelled.found))
    return lambda labelled: show(pretty(labelled.found))


def jsonl(labelled: LabelledInput, *, several: bool) -> str:
    """One line: the object that was given, or the text, with the label and every label's probability."""
    return json_line(text_result(labelled.found, labelled.given.record, several=several))


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
