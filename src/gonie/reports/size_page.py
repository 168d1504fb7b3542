"""The page of a comparison over training sizes: the answer in a sentence, a chart and a table."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.messages import say
from gonie.reports.html.frame import folded, note, page
from gonie.reports.html.markup import Markup, element, fragment, row, table
from gonie.reports.report_style import STYLE
from gonie.reports.size_chart import size_chart
from gonie.reports.size_comparison import SizeComparison
from gonie.reports.size_style import SIZE_STYLE
from gonie.reports.size_tables import COSTS, size_cells, size_header, size_note
from gonie.reports.size_verdict import verdict


def render_sizes(
    found: SizeComparison, *, title: str, told: Sequence[str] = (), warnings: Sequence[str] = ()
) -> str:
    """Render the page. ``told`` are notes about the models, ``warnings`` also those about the data."""
    summary = say(verdict(found))
    return page(
        title,
        element("header", element("h1", say(title)), element("p", summary, class_="answer")),
        fragment(*(element("p", say(line), class_="warning") for line in warnings)) if warnings else None,
        element(
            "div",
            size_chart(found, summary),
            class_="scroll",
            tabindex="0",
            role="group",
            aria_label=say("Scores by training size"),
        ),
        _table(found),
        note(size_note(found)),
        folded("Notes", element("ul", *(element("li", say(line)) for line in told))) if told else None,
        style=STYLE + SIZE_STYLE,
    )


def _table(found: SizeComparison) -> Markup:
    names = size_header(found)
    header = [names[0], *(Markup(name) for name in names[1 : -len(COSTS)]), *COSTS]
    best = {size: _best(found, size) for size in found.sizes}
    rows = []
    for line in found.lines:
        name, *cells = size_cells(found, line)
        shown: list[object] = list(cells)
        for at, size in enumerate(found.sizes):
            point = line.point(size)
            if not line.constant and point is not None and point.mean == best[size]:
                shown[at] = element("b", cells[at])
        rows.append(row(name, *shown))
    return table(
        caption=f"{found.metric} in percent by labelled training {found.noun}, and costs",
        header=header,
        rows=rows,
    )


def _best(found: SizeComparison, size: float) -> float | None:
    """Return the highest score of the compared models at a size."""
    return max(
        (point.mean for line in found.compared if (point := line.point(size)) is not None), default=None
    )
