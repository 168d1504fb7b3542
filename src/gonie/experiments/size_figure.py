"""The chart of a comparison over training sizes as PNG and SVG: a line per model, with a logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gonie.experiments.drawing import OKABE_ITO, find_fonts, font_note
from gonie.experiments.figure import DOTS, figure_style, saved
from gonie.reports.size_comparison import SizeComparison, SizeLine
from gonie.reports.size_tables import origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 7.2, 4.4
MARKERS = "os^Dv<>P"


def draw_sizes(found: SizeComparison) -> tuple[bytes, bytes]:
    """Return the figure as PNG and as SVG."""
    with figure_style(_texts(found)):
        figure = build_sizes(found)
        return saved(figure, "png"), saved(figure, "svg")


def missing_size_fonts(found: SizeComparison) -> str:
    """Return a note about characters of the figure that no installed font has, or an empty text."""
    return font_note(find_fonts(_texts(found))[1])


def _texts(found: SizeComparison) -> Sequence[str]:
    return [_label(found, line) for line in found.lines]


def _label(found: SizeComparison, line: SizeLine) -> str:
    return f"{line.name} ({origin(line, found.noun)})" if line.constant else line.name


def build_sizes(found: SizeComparison) -> Figure:
    """Return the matplotlib figure, for example for a notebook."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DOTS, layout="constrained")
    panel = figure.subplots()
    for at, line in enumerate(found.lines):
        _draw(panel, line, at, _label(found, line))
    panel.set_xscale("log")
    panel.set_xticks(found.sizes, [f"{round(size):,}" for size in found.sizes])
    panel.set_xticks([], minor=True)
    panel.set_xlabel(f"labelled training {found.noun}")
    panel.set_ylabel(f"{found.metric} (%)")
    panel.legend(fontsize="small")
    return figure


def _draw(panel: Axes, line: SizeLine, at: int, label: str) -> None:
    """Draw the means of a line, and a band of one standard deviation."""
    color = OKABE_ITO[at % len(OKABE_ITO)]
    points = line.curve.points
    sizes = [point.size for point in points]
    marker = "" if line.constant else MARKERS[at % len(MARKERS)]
    style = "--" if line.constant else "-"
    panel.plot(sizes, [100 * point.mean for point in points], style, color=color, marker=marker, label=label)
    low, high = ([100 * getattr(point.band, end) for point in points] for end in ("low", "high"))
    panel.fill_between(sizes, low, high, color=color, alpha=0.15, linewidth=0)
