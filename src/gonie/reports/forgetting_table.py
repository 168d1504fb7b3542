"""The table of forgetting on HTML pages: the scores on old data before and after training on new data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gonie.messages import say
from gonie.reports.html.frame import facts, note
from gonie.reports.html.markup import Markup, fragment, row, table

COLUMNS = ("run", "label", "score", "before", "after", "change")


def forgetting_part(found: Mapping[str, Any]) -> Markup:
    """Render the content of forgetting.json: the scores of each earlier run, and new and dropped labels."""
    named = {"new labels": found["new"], "dropped labels": found["dropped"]}
    labels = {name: ", ".join(own) for name, own in named.items() if own}
    caption = "Scores in percent on the held-out data of earlier runs"
    rows = (each for old in found["old"] for each in _rows(old))
    return fragment(
        table(caption=caption, header=COLUMNS, rows=rows, class_="stack"),
        note("Before: the model that training started from. After: the new model."),
        facts(labels) if labels else None,
    )


def _rows(old: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield the rows of a run: all its labels together, then each of them."""
    together = (say("all"), say(old["metric"]), *_cells(old["overall"]))
    yield row(old["run"], *together, names=COLUMNS, class_="total")
    for label, change in old["labels"].items():
        yield row(old["run"], label, "F1", *_cells(change), names=COLUMNS)


def _cells(change: Mapping[str, float]) -> tuple[str, str, str]:
    before, after, difference = (100 * change[key] for key in ("before", "after", "change"))
    return f"{before:.2f}", f"{after:.2f}", f"{difference:+z.2f}"
