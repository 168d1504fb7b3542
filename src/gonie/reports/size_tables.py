"""The table of a comparison over training sizes, as text for the terminal, Markdown and the page."""

from __future__ import annotations

from gonie.messages import say
from gonie.metrics.score_curves import ScorePoint
from gonie.reports.size_comparison import ModelCost, SizeComparison, SizeLine

NOTHING = "–"
COSTS = ("tokens/s", "ms", "MB")


def size_header(found: SizeComparison) -> list[str]:
    """Return the column names: the model, every size, and the costs."""
    return ["model", *(f"{round(size):,}" for size in found.sizes), *COSTS]


def size_cells(found: SizeComparison, line: SizeLine) -> list[str]:
    """Return the row of a line, with scores in percent."""
    name = f"{line.name} ({say(origin(line, found.noun))})" if line.constant else line.name
    return [name, *(score_text(line.point(size)) for size in found.sizes), *_costs(line.cost)]


def origin(line: SizeLine, noun: str) -> str:
    """Return how a model that was not trained here was trained, as far as it is known."""
    return "trained before" if line.labelled is None else f"trained before on {line.labelled:,} {noun}"


def score_text(point: ScorePoint | None) -> str:
    """Return a score in percent with its standard deviation."""
    if point is None:
        return NOTHING
    return f"{100 * point.mean:.2f}" + ("" if point.sd is None else f" ± {100 * point.sd:.2f}")


def _costs(cost: ModelCost | None) -> list[str]:
    if cost is None:
        return [NOTHING] * len(COSTS)
    speed, time, size = cost
    return [
        NOTHING if speed is None else f"{speed:,.0f}",
        NOTHING if time is None else f"{time:.1f}",
        NOTHING if size is None else f"{size:,.1f}",
    ]


def size_note(found: SizeComparison) -> str:
    """Return a note on what the numbers mean."""
    spread = f" ± standard deviation over {found.seeds} seeds" if found.seeds > 1 else ""
    clear = " A difference is clear where the ranges of mean ± standard deviation do not overlap."
    text = (
        f"{found.metric} on {found.tested_on} in percent{spread}, by the number of labelled {found.noun} "
        "that a model is trained on, or that an in-context model chooses its shots from."
        f"{clear if found.seeds > 1 else ''} At a size and seed, all have the same {found.noun}. Larger "
        "samples contain smaller ones, and each has about the same share of every type or label. The dev and "
        "test data are the same at every size; dev selects the best epoch and is not counted. Costs are "
        "those of the exported model of the largest size, on one CPU thread of this machine, measured in "
        "turn: the median speed for many texts, the median milliseconds for one text alone, and the size of "
        "the files."
    )
    if len(found.compared) == len(found.lines):
        return text
    return f"{text} Models that were trained before, on any data, are shown for reference."
