"""Forgetting of tasks or domains that are learned one after another.

``scores[i][j]`` is the score on task j after training on task i (Lopez-Paz & Ranzato 2017, arXiv:1706.08840).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ForgettingMatrix:
    """The scores on T tasks after training on each of them, in order: (T, T), as fractions."""

    tasks: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]

    @property
    def final(self) -> float:
        """The mean score on all tasks after the last one."""
        return statistics.fmean(self.scores[-1])

    @property
    def forgetting(self) -> float | None:
        """The mean loss on earlier tasks, from the best score until the last task: Chaudhry et al. 2018.

        1 / (T - 1) Σ{j < T} max{l < T} scores[l][j] - scores[T][j] (arXiv:1801.10112). Scores before a task
        was trained on count too. None if there is only one task.
        """
        *earlier, last = self.scores
        if not earlier:
            return None
        best = [max(row[at] for row in earlier) for at in range(len(last) - 1)]
        return statistics.fmean(top - end for top, end in zip(best, last, strict=False))

    @property
    def backward_transfer(self) -> float | None:
        """The mean change of earlier tasks, from right after training on each: Lopez-Paz & Ranzato 2017.

        1 / (T - 1) Σ{j < T} scores[T][j] - scores[j][j]. Negative if tasks are forgotten.
        """
        last = self.scores[-1]
        changes = [last[at] - self.scores[at][at] for at in range(len(last) - 1)]
        return statistics.fmean(changes) if changes else None

    def to_json(self) -> dict[str, object]:
        """Return the scores as fractions, and their summaries."""
        return {
            "tasks": list(self.tasks),
            "scores": [list(row) for row in self.scores],
            "final": self.final,
            "forgetting": self.forgetting,
            "backward_transfer": self.backward_transfer,
        }


def mean_matrix(matrices: Sequence[ForgettingMatrix]) -> ForgettingMatrix:
    """Return the means over several runs of the same tasks."""
    rows = zip(*(each.scores for each in matrices), strict=True)
    means = (tuple(map(statistics.fmean, zip(*own, strict=True))) for own in rows)
    return ForgettingMatrix(matrices[0].tasks, tuple(means))
