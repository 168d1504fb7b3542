"""The tables of domains learned in sequence: a summary of all cells, and the matrix of each."""

from __future__ import annotations

from collections.abc import Sequence

from gonie.experiments.comparison import Spread
from gonie.experiments.sequence import SUMMARIES, SequenceComparison, SequenceRow
from gonie.experiments.tables import markdown_table

NOTHING = "–"


def summary_header(comparison: SequenceComparison) -> list[str]:
    """Return the column names of the summary."""
    return [*(axis.label for axis in comparison.axes), *SUMMARIES.values()]


def summary_cells(row: SequenceRow) -> list[str]:
    """Return a row of the summary, in percent, with standard deviations over seeds."""
    failed = f", {len(row.failures)} failed" if row.failures else ""
    *first, last = (_percent(row.spread(name)) for name in SUMMARIES)
    return [*row.values, *first, last + failed]


def matrix_header(comparison: SequenceComparison) -> list[str]:
    """Return the column names of a matrix."""
    return ["after training on", *comparison.domains]


def matrix_rows(row: SequenceRow) -> list[list[str]]:
    """Return the rows of the mean matrix of a cell, in percent."""
    if row.mean is None:
        return []
    scores = zip(row.domains, row.mean.scores, strict=True)
    return [[name, *(f"{100 * score:.2f}" for score in own)] for name, own in scores]


def note(comparison: SequenceComparison) -> str:
    """Return a note on what the tables mean."""
    chains = max((len(row.matrices) for row in comparison.rows), default=0)
    repeats = f"mean ± standard deviation over {chains} seeds; " if chains > 1 else ""
    return (
        f"{comparison.metric} in percent on the held-out file of each domain; {repeats}average forgetting: "
        "from the best score on an earlier domain to the last one (Chaudhry et al. 2018); backward transfer: "
        "from right after training on a domain to the last one (Lopez-Paz & Ranzato 2017)."
    )


def markdown(comparison: SequenceComparison) -> str:
    """Return all tables in Markdown."""
    rows = [summary_cells(row) for row in comparison.rows]
    lines = [*markdown_table(summary_header(comparison), rows, left=len(comparison.axes)), ""]
    for row in comparison.rows:
        lines += [*([f"{row.name}:", ""] if row.name else [])]
        lines += [*markdown_table(matrix_header(comparison), matrix_rows(row), left=1), ""]
    failed = [f"- {failure.error}" for row in comparison.rows for failure in row.failures]
    return "\n".join([*lines, note(comparison), *(["", "Failed:", "", *failed] if failed else [])]) + "\n"


def tsv(comparison: SequenceComparison) -> str:
    """Return every score as TSV, as fractions: a line per cell, seed, trained and scored domain."""
    axes = [axis.key for axis in comparison.axes]
    lines: list[Sequence[str]] = [[*axes, "chain", "after", "domain", "score"]]
    for row in comparison.rows:
        for number, matrix in enumerate(row.matrices, start=1):
            lines += [
                [*row.values, str(number), after, domain, repr(score)]
                for after, own in zip(matrix.tasks, matrix.scores, strict=True)
                for domain, score in zip(matrix.tasks, own, strict=True)
            ]
    return "".join("\t".join(line) + "\n" for line in lines)


def _percent(spread: Spread | None) -> str:
    if spread is None:
        return NOTHING
    return f"{100 * spread.mean:z.2f}" + ("" if spread.sd is None else f" ± {100 * spread.sd:.2f}")
