"""The figure of a comparison: scores by swept value, and learning curves.

The upper row has a panel per swept key with the score at each of its values, over all other values and seeds.
The lower row shows the learning curves of the same values. Dev lines are solid and train lines dashed. Where
the two diverge, a model overfits; where both are low, it underfits. The colours suit colour-blind readers,
and text in the SVG is stored as text. Drawing is deterministic: the same comparison gives the same file.
"""

from __future__ import annotations

import io
import statistics
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gonie.experiments.comparison import Comparison, ComparisonRow
from gonie.experiments.drawing import OKABE_ITO, find_fonts, font_note
from gonie.experiments.grid import Axis
from gonie.experiments.outcome import CellScores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

MOST_PANELS = 6
MOST_CURVES = 8
MOST_TICKS = 12
LONGEST_LABEL = 24
TICK_ROOM = 36  # characters that fit side by side under a panel
LOG_SPAN = 30
"""From this ratio of the largest to the smallest positive value on, an axis is logarithmic."""

WIDTH, HEIGHT, DOTS = 4.4, 3.4, 150
DEV, TRAIN, *_ = OKABE_ITO


def draw(comparison: Comparison) -> tuple[bytes, bytes]:
    """Return the figure as PNG and as SVG."""
    with figure_style(_texts(comparison)):
        figure = build(comparison)
        return saved(figure, "png"), saved(figure, "svg")


def missing_fonts(comparison: Comparison) -> str:
    """Return a note about characters of the figure that no installed font has, or an empty text."""
    return font_note(find_fonts(_texts(comparison))[1])


def _texts(comparison: Comparison) -> list[str]:
    return [text for axis in comparison.axes for text in (axis.label, *axis.values)]


def build(comparison: Comparison) -> Figure:
    """Return the matplotlib figure, for example for a notebook."""
    from matplotlib.figure import Figure

    axes = comparison.axes[:MOST_PANELS]
    columns = max(1, len(axes))
    rows = 2 if axes else 1
    figure = Figure(figsize=(WIDTH * columns, HEIGHT * rows), dpi=DOTS, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey="row")
    for at, axis in enumerate(axes):
        _draw_values(panels[0, at], comparison, axis)
        _draw_curves(panels[1, at], comparison, axis)
    if not axes:
        _draw_seeds(panels[0, 0], comparison)
    for row in panels:
        row[0].set_ylabel(f"{comparison.metric} (%)")
    _explain(panels[0, 0])
    left = len(comparison.axes) - len(axes)
    if left:
        figure.suptitle(f"{left} more swept keys: see the table", fontsize="small")
    return figure


# --- scores by value -------------------------------------------------------------------------------------


def _draw_values(panel: Axes, comparison: Comparison, axis: Axis) -> None:
    """Draw mean and spread of train and dev at each value, and every cell as a faint dot."""
    places = axis.numbers or tuple(float(at) for at in range(len(axis.values)))
    by_value = sorted(zip(places, axis.values, strict=True))
    aside = 0.0 if axis.numbers else 0.05  # bars of categories are side by side
    for side, color, line, shift in (("dev", DEV, "-", -aside), ("train", TRAIN, "--", aside)):
        found = [(x + shift, _percents(comparison.rows_with(axis, value), side)) for x, value in by_value]
        known = [(x, values) for x, values in found if values]
        if not known:
            continue
        xs = [x for x, _ in known]
        means = [statistics.fmean(values) for _, values in known]
        spreads = [statistics.stdev(values) if len(values) > 1 else 0.0 for _, values in known]
        low = [mean - spread for mean, spread in zip(means, spreads, strict=True)]
        high = [mean + spread for mean, spread in zip(means, spreads, strict=True)]
        panel.plot(xs, means, line, color=color, marker="o", markersize=4, label=side)
        if axis.numbers:
            panel.fill_between(xs, low, high, color=color, alpha=0.15, linewidth=0)
        else:
            panel.vlines(xs, low, high, color=color, alpha=0.4, linewidth=2)
        dots = [(x, value) for x, values in known for value in values]
        panel.plot(*zip(*dots, strict=True), ".", color=color, alpha=0.3, markersize=4, markeredgewidth=0)
    _scale(panel, axis)
    panel.set_xlabel(short(axis.label))


def _percents(rows: Sequence[ComparisonRow], side: str) -> list[float]:
    spreads = (getattr(row, side) for row in rows)
    return [100 * spread.mean for spread in spreads if spread is not None]


def _scale(panel: Axes, axis: Axis) -> None:
    """Set the x axis: numbers at their values, logarithmic if they span much, and categories evenly."""
    if axis.numbers is None:
        panel.set_xticks(range(len(axis.values)), [short(value) for value in axis.values])
        if sum(map(len, axis.values)) > TICK_ROOM:
            panel.tick_params(axis="x", labelrotation=20)
        panel.margins(x=0.15)
        return
    positive = [number for number in axis.numbers if number > 0]
    if positive and min(axis.numbers) >= 0 and max(positive) >= LOG_SPAN * min(positive):
        if len(positive) == len(axis.numbers):
            panel.set_xscale("log")
        else:  # 0 is one step before the smallest
            panel.set_xscale("symlog", linthresh=min(positive), linscale=0.5)
    if len(axis.numbers) <= MOST_TICKS:
        panel.set_xticks(axis.numbers, [short(value) for value in axis.values])
        panel.set_xticks([], minor=True)


# --- scores by epoch -------------------------------------------------------------------------------------


def _draw_curves(panel: Axes, comparison: Comparison, axis: Axis) -> None:
    """Draw the mean learning curve at each value, or at some evenly spaced values if there are many."""
    chosen = _spaced(axis.values, MOST_CURVES)
    lines, names = [], []
    for value, color in zip(chosen, _colors(axis, len(chosen)), strict=True):
        runs = [scores for row in comparison.rows_with(axis, value) for scores in row.scores]
        if drawn := _draw_curve(panel, runs, color):
            lines.append(drawn[0])
            names.append(short(value))
    panel.set_xlabel("epoch")
    left = len(axis.values) - len(chosen)
    title = f"{short(axis.label)} ({left} more)" if left else short(axis.label)
    panel.legend(lines, names, title=title, fontsize="x-small", title_fontsize="x-small", ncols=2)
    _whole_epochs(panel)


def _draw_seeds(panel: Axes, comparison: Comparison) -> None:
    """Draw the curve of the single cell, with each of its seeds faintly, if no key is swept."""
    runs = [scores for row in comparison.rows for scores in row.scores]
    for scores in runs if len(runs) > 1 else []:
        _draw_curve(panel, [scores], DEV, alpha=0.25)
    _draw_curve(panel, runs, DEV)
    panel.set_xlabel("epoch")
    _whole_epochs(panel)


def _draw_curve(panel: Axes, runs: Sequence[CellScores], color: Any, *, alpha: float = 1.0) -> list[Line2D]:
    """Draw the mean curve of some runs on dev and on train. Return the lines."""
    drawn = []
    dev = [[100 * point.dev for point in scores.curve] for scores in runs]
    train = [[100 * point.train for point in s.curve if point.train is not None] for s in runs]
    for curves, line in ((dev, "-"), (train, "--")):
        mean = mean_curve([curve for curve in curves if curve])
        if mean:
            epochs = range(1, len(mean) + 1)
            drawn += panel.plot(epochs, mean, line, color=color, alpha=alpha, linewidth=1.4)
    return drawn


def mean_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean at each epoch. A run that stopped keeps its last value, so all runs count equally."""
    longest = max(map(len, curves), default=0)
    return [statistics.fmean(curve[min(at, len(curve) - 1)] for curve in curves) for at in range(longest)]


def _spaced(values: tuple[str, ...], most: int) -> list[str]:
    if len(values) <= most:
        return list(values)
    return [values[round(at * (len(values) - 1) / (most - 1))] for at in range(most)]


def _colors(axis: Axis, number: int) -> list[Any]:
    """Return colours: a ramp from dark to light for numbers, distinct colours for categories."""
    if axis.numbers is None:
        return list(OKABE_ITO[:number])
    from matplotlib import colormaps

    ramp = colormaps["viridis"]
    return [ramp(0.9 * at / max(1, number - 1)) for at in range(number)]


def _whole_epochs(panel: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.xaxis.set_major_locator(MaxNLocator(integer=True))


# --- looks -----------------------------------------------------------------------------------------------


def short(text: str) -> str:
    """Return a label that fits. Long labels, such as paths, are cut at the front."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LABEL else "…" + line[1 - LONGEST_LABEL :]


def _explain(panel: Axes) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=DEV, linestyle="-"), Line2D([], [], color=TRAIN, linestyle="--")]
    panel.legend(lines, ["dev", "train"], fontsize="x-small")


@contextmanager
def figure_style(texts: Sequence[str]) -> Iterator[None]:
    """Make matplotlib draw these texts in the same way on every machine, regardless of its settings."""
    from matplotlib import style

    fonts, _ = find_fonts(texts)
    settings: dict[Any, Any] = {
        "font.family": fonts,
        "font.size": 9,
        "svg.fonttype": "none",
        "svg.hashsalt": "gonie",
        "text.parse_math": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
    }
    with style.context(["default", settings]), warnings.catch_warnings():
        # A character without a font is a box in the PNG and text in the SVG (``missing_fonts``).
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        yield


def saved(figure: Figure, kind: str) -> bytes:
    """Return a figure as PNG or SVG, with nothing in it that changes from run to run."""
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": "gonie"})
    return file.getvalue()
