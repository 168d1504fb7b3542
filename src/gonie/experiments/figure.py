"""The figure of a comparison: where the best values lie, and whether models learn or learn by heart.

Above, a panel for each swept key: the score at each of its values, over all other values and seeds. Below,
the learning curves of the same values. Dev is drawn through, train dashed: where the two part, a model
overfits; where both are low, it underfits. Colours are told apart by colour-blind readers too; the text of
the SVG is text. Drawing has no clock and no chance in it: the same comparison is the same file.
"""

from __future__ import annotations

import io
import statistics
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gonie.experiments.colors import OKABE_ITO
from gonie.experiments.comparison import Comparison, ComparisonRow
from gonie.experiments.fonts import find_fonts
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
TICK_ROOM = 36  # letters that fit under a panel side by side
LOG_SPAN = 30
"""From this ratio of the largest to the smallest value above 0 on, an axis is logarithmic."""

WIDTH, HEIGHT, DOTS = 4.4, 3.4, 150
DEV, TRAIN, *_ = OKABE_ITO


def draw(comparison: Comparison) -> tuple[bytes, bytes]:
    """The figure as PNG and as SVG."""
    with _style([text for axis in comparison.axes for text in (axis.label, *axis.values)]):
        figure = build(comparison)
        return _saved(figure, "png"), _saved(figure, "svg")


def build(comparison: Comparison) -> Figure:
    """The figure itself, which a notebook shows."""
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
        figure.suptitle(f"{left} more swept keys are in the table", fontsize="small")
    return figure


# --- scores by value -------------------------------------------------------------------------------------


def _draw_values(panel: Axes, comparison: Comparison, axis: Axis) -> None:
    """Mean and spread of train and dev at each value, and every cell as a faint dot."""
    places = axis.numbers or tuple(float(at) for at in range(len(axis.values)))
    by_value = sorted(zip(places, axis.values, strict=True))
    aside = 0.0 if axis.numbers else 0.05  # bars of categories stand beside each other
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
    """Numbers where they stand, on a logarithmic scale if they span much; categories side by side."""
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
        else:  # a 0 stands one step before the smallest
            panel.set_xscale("symlog", linthresh=min(positive), linscale=0.5)
    if len(axis.numbers) <= MOST_TICKS:
        panel.set_xticks(axis.numbers, [short(value) for value in axis.values])
        panel.set_xticks([], minor=True)


# --- scores by epoch -------------------------------------------------------------------------------------


def _draw_curves(panel: Axes, comparison: Comparison, axis: Axis) -> None:
    """The mean learning curve at each value; of many values some, evenly spaced."""
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
    """Without a swept key: the curve of the one cell, and each of its seeds faintly."""
    runs = [scores for row in comparison.rows for scores in row.scores]
    for scores in runs if len(runs) > 1 else []:
        _draw_curve(panel, [scores], DEV, alpha=0.25)
    _draw_curve(panel, runs, DEV)
    panel.set_xlabel("epoch")
    _whole_epochs(panel)


def _draw_curve(panel: Axes, runs: Sequence[CellScores], color: Any, *, alpha: float = 1.0) -> list[Line2D]:
    """The mean curve of some runs, on dev and on train; the lines that there are."""
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
    """The mean at each epoch; a run that has stopped stays where it was, lest the last ones alone decide."""
    longest = max(map(len, curves), default=0)
    return [statistics.fmean(curve[min(at, len(curve) - 1)] for curve in curves) for at in range(longest)]


def _spaced(values: tuple[str, ...], most: int) -> list[str]:
    if len(values) <= most:
        return list(values)
    return [values[round(at * (len(values) - 1) / (most - 1))] for at in range(most)]


def _colors(axis: Axis, number: int) -> list[Any]:
    """For numbers a ramp from dark to light in their order, for categories colours without order."""
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
    """A label that fits: of a long one, such as a path, its end."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LABEL else "…" + line[1 - LONGEST_LABEL :]


def _explain(panel: Axes) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=DEV, linestyle="-"), Line2D([], [], color=TRAIN, linestyle="--")]
    panel.legend(lines, ["dev", "train"], fontsize="x-small")


@contextmanager
def _style(texts: Sequence[str]) -> Iterator[None]:
    """Within the block matplotlib draws these texts alike on every machine, whatever its own settings are."""
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
        # a letter that no font here has is a box in the PNG, and itself in the SVG
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        yield


def _saved(figure: Figure, kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": "gonie"})
    return file.getvalue()
