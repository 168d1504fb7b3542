"""The table of a comparison for the terminal, Markdown and TSV."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gonie.experiments.comparison import COSTS, Comparison, ComparisonRow, Spread
from gonie.experiments.outcome import Failure
from gonie.metrics.significance import SHUFFLES

NOTHING = "–"
BEST = "best"
UNREACHABLE = "unreachable"
COST_COLUMNS = {"cpu_seconds": "CPU seconds", "gpu_seconds": "GPU seconds"}
"""The costs in the table, by their names in ``RunCost``."""


def header(comparison: Comparison) -> list[str]:
    """Return the column names. Train, test and unreachable spans appear only if there are any."""
    scores = [f"dev {comparison.metric}", *(name for name in ("train", "test") if _has(comparison, name))]
    missed = [UNREACHABLE] if comparison.has_unreachable else []
    axes = [axis.label for axis in comparison.axes]
    costs = [COST_COLUMNS[name] for name in cost_columns(comparison)]
    return [*axes, *scores, *missed, "best epoch", "seconds", *costs, "p"]


def cost_columns(comparison: Comparison) -> list[str]:
    """Return the names of the costs in the table: seconds of CPUs and, if there is one, of a GPU."""
    return [name for name in COST_COLUMNS if name in comparison.costs]


def cells(comparison: Comparison, row: ComparisonRow) -> list[str]:
    """Return a row as text, with scores in percent and their spread over seeds and folds."""
    scores = [row.dev, *(getattr(row, name) for name in ("train", "test") if _has(comparison, name))]
    return [
        *row.values,
        *map(_percent, scores),
        *([unreachable(row)] if comparison.has_unreachable else []),
        NOTHING if row.best_epoch is None else f"{row.best_epoch.mean:.3g}",
        seconds(row.seconds),
        *(seconds(row.cost[name]) for name in cost_columns(comparison)),
        _standing(row),
    ]


def seconds(spread: Spread | None) -> str:
    """Return a mean number of seconds."""
    return NOTHING if spread is None else f"{spread.mean:.1f}"


def unreachable(row: ComparisonRow) -> str:
    """Return the number of gold spans that the tokens cannot express."""
    return NOTHING if row.unreachable is None else f"{row.unreachable.mean:,.0f}"


def note(comparison: Comparison) -> str:
    """Return a note on what the columns mean."""
    runs = {"folds": comparison.folds, "seeds": comparison.seeds}
    repeats = " and ".join(f"{number} {name}" for name, number in runs.items() if number > 1)
    spread = f"mean ± standard deviation over {repeats}; " if repeats else ""
    data = f"the {comparison.tested_on} data{' of all folds' if comparison.folds else ''}"
    missed = ""
    if comparison.has_unreachable:
        missed = f"{UNREACHABLE}: gold spans of {data} that do not match the tokens, counted as missed; "
    among = " of those that leave out the same domain" if comparison.left_out else ""
    among = " of those of the same size" if comparison.sizes else among
    return (
        f"Scores in percent; {spread}{missed}best: the cell with the highest dev score{among}; p: p-value "
        f"of the difference from it on {data} (paired approximate randomisation test, {SHUFFLES:,} shuffles, "
        "not corrected for multiple comparisons)."
    )


def failures(comparison: Comparison) -> list[str]:
    """Return one line per failed run."""
    return [
        f"{folder}: {' '.join(outcome.error.split())}"
        for row in comparison.rows
        for folder, outcome in zip(row.folders, row.outcomes, strict=True)
        if isinstance(outcome, Failure)
    ]


def markdown(comparison: Comparison) -> str:
    """Return the table with its note and failures in Markdown."""
    rows = [cells(comparison, row) for row in comparison.rows]
    lines = [*markdown_table(header(comparison), rows, left=len(comparison.axes)), "", note(comparison)]
    lines += _cost_table(comparison)
    if failed := failures(comparison):
        lines += ["", "Failed:", "", *(f"- {line}" for line in failed)]
    return "\n".join(lines) + "\n"


def _cost_table(comparison: Comparison) -> list[str]:
    """Return a table of everything that is known of the cost of a run, in the units of its names."""
    names = comparison.costs
    if not names:
        return []
    axes = [axis.label for axis in comparison.axes]
    rows = [[*row.values, *(_number(row.cost[name]) for name in names)] for row in comparison.rows]
    return ["", "Cost of a run:", "", *markdown_table([*axes, *names], rows, left=len(axes))]


def markdown_table(names: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    """Return the lines of a table in Markdown, with the first ``left`` columns aligned to the left."""
    ruler = ["---"] * left + ["---:"] * (len(names) - left)
    return [_line(names), f"|{'|'.join(ruler)}|", *map(_line, rows)]


def _number(spread: Spread | None) -> str:
    return (
        NOTHING if spread is None else f"{spread.mean:,.1f}" if spread.mean < 1e6 else f"{spread.mean:,.0f}"
    )


def _line(row: Sequence[str]) -> str:
    fields = (re.sub(r"\s+", " ", field).replace("|", "\\|") for field in row)
    return f"| {' | '.join(fields)} |"


def tsv(comparison: Comparison) -> str:
    """Return the table as TSV: full precision, scores as fractions, empty fields for missing values."""
    measured = ("dev", "train", "test", "unreachable", "best_epoch", "seconds")
    names = [axis.key for axis in comparison.axes]
    names += [name for measure in (*measured, *COSTS) for name in (measure, f"{measure}_sd")]
    lines = [[*names, "p", "best", "seeds", "folds", "failed"]]
    for row in comparison.rows:
        spreads: list[Spread | None] = [*(getattr(row, measure) for measure in measured), *row.cost.values()]
        numbers = [number for s in spreads for number in ((s.mean, s.sd) if s else (None, None))]
        lines.append(
            [
                *row.values,
                *("" if number is None else repr(number) for number in (*numbers, row.p)),
                str(int(row.best)),
                str(len(set(row.seeds))),
                str(len(set(row.folds))),
                str(len(row.failures)),
            ]
        )
    return "".join("\t".join(re.sub(r"\s", " ", field) for field in line) + "\n" for line in lines)


def _has(comparison: Comparison, measure: str) -> bool:
    return any(getattr(row, measure) is not None for row in comparison.rows)


def _percent(spread: Spread | None) -> str:
    if spread is None:
        return NOTHING
    return f"{100 * spread.mean:.2f}" + ("" if spread.sd is None else f" ± {100 * spread.sd:.2f}")


def _standing(row: ComparisonRow) -> str:
    """Return p, or why there is none, and the number of failed runs."""
    if not row.scores:
        return "failed"
    p = BEST if row.best else NOTHING if row.p is None else f"{row.p:.3f}" if row.p >= 0.001 else "<0.001"
    return f"{p}, {len(row.failures)} failed" if row.failures else p
