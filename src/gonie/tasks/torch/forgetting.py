"""The report of forgetting: the scores of a model and of its start on the held-out data of the start.

The held-out data are the test examples of the start, or its dev examples if it has none, and those of the
runs that it started from. Their annotators knew only the labels that occur in them, so predictions of other
labels are left out where an example may have any number of labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gonie.errors import GonieError
from gonie.tasks.evaluation import evenly
from gonie.tasks.run_files import BUNDLE
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.job import Evaluated, ExampleJob, Note, RemindedJob
from gonie.tasks.torch.start import label_names

MOST = 1000
"""The most examples of a run that are scored, spread evenly."""


class Change(NamedTuple):
    """A score of the start and that of the new model, as fractions."""

    before: float
    after: float

    def __str__(self) -> str:
        return f"{100 * self.before:.2f} → {100 * self.after:.2f} ({100 * (self.after - self.before):+z.2f})"

    def to_json(self) -> dict[str, float]:
        """Return the scores and their difference."""
        return {"before": self.before, "after": self.after, "change": self.after - self.before}


@dataclass(frozen=True)
class OldScores:
    """The change of the scores on the held-out examples of an earlier run, as a whole and by label."""

    run: str
    scored: int
    examples: int
    metric: str
    overall: Change
    labels: Mapping[str, Change]

    def to_json(self) -> dict[str, Any]:
        """Return the scores as fractions."""
        return {
            "run": self.run,
            "scored": self.scored,
            "examples": self.examples,
            "metric": self.metric,
            "overall": self.overall.to_json(),
            "labels": {label: change.to_json() for label, change in self.labels.items()},
        }


@dataclass(frozen=True)
class ForgettingReport:
    """What a model still knows of its start: scores on old data, new labels, and labels that it lacks."""

    old: tuple[OldScores, ...]
    new: tuple[str, ...]
    dropped: tuple[str, ...]
    noun: str

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield names and values for display."""
        for each in self.old:
            part = (
                f", {each.scored:,} of {each.examples:,} {self.noun}" if each.scored < each.examples else ""
            )
            listed = ", ".join(f"{label} {change}" for label, change in each.labels.items())
            values = ": " if "F1" in each.metric else "; F1 by label: "  # those of labels are always F1
            more = f"{values}{listed}" if len(each.labels) > 1 else ""
            yield f"old data of {each.run}", f"{each.metric} {each.overall}{part}{more}"
        if self.new:
            yield "new labels", ", ".join(self.new)
        if self.dropped:
            yield "dropped labels", ", ".join(self.dropped)

    def to_json(self) -> dict[str, Any]:
        """Return the content of forgetting.json."""
        old = [each.to_json() for each in self.old]
        return {"old": old, "new": list(self.new), "dropped": list(self.dropped)}


def measure_forgetting(job: ExampleJob, bundle: Path, note: Note) -> ForgettingReport | None:
    """Score the exported model of a job and its start on the held-out data of the start.

    Return None without a start, or if the two share no label. ``note`` receives what cannot be measured.
    """
    start = job.start
    if start is None or not isinstance(job, RemindedJob):
        return None
    before, after = label_names(start.encoding), label_names(job.encoding)
    if not before & after:
        return None
    old: list[OldScores] = []
    try:
        models = [job.load(start.folder / BUNDLE), job.load(bundle)]
    except GonieError as error:
        note(f"forgetting is not measured: {error}")
        return None
    for folder, recipe in start.lineage:
        try:
            old += _old_scores(job, folder, recipe, models, after)
        except GonieError as error:
            note(f"forgetting is not measured on {folder}: {error}")
    if start.gone is not None:
        why = "its recipe cannot be read" if start.gone.exists() else "folder not found"
        note(f"forgetting is not measured on {start.gone}: {why}")
    if not old:
        return None
    return ForgettingReport(
        tuple(old), tuple(sorted(after - before)), tuple(sorted(before - after)), job.noun
    )


def _old_scores(
    job: RemindedJob, folder: Path, recipe: CorpusRecipe, models: list[Any], labels: frozenset[str]
) -> Iterator[OldScores]:
    """Yield the scores on the held-out examples of a run, if the new model has any of their labels."""
    every = job.read_held_out(recipe)
    examples = evenly(every, MOST)
    scores: list[Evaluated] = [job.score_known(model, examples) for model in models]
    by_label = [{label: counts.f1 for label, counts in each.by_type} for each in scores]
    shared = {
        label: Change(by_label[0][label], by_label[1].get(label, 0.0))
        for label in by_label[0]
        if label in labels
    }
    if by_label[0] and not shared:
        return
    name, value = scores[0].headline
    overall = Change(value, scores[1].headline[1])
    yield OldScores(folder.name, len(examples), len(every), name.replace("f1", "F1"), overall, shared)
