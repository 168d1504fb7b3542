"""The scores of a model on some examples, as ``gonie.train`` and ``gonie.evaluate`` return them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gonie.metrics.grouped import Gap, GroupScore
from gonie.metrics.robustness import NoiseScore
from gonie.metrics.separation import Separation
from gonie.reports.html.markup import element, fragment, row, table
from gonie.tasks.evaluated_files import EvaluatedFiles, groups_json, separation_json
from gonie.tasks.evaluation import JsonEvaluation

SHOWN = ("f1", "precision", "recall", "accuracy", "pearson", "spearman", "auc", "relation_f1")
"""Overall scores, in the order in which they are shown."""


@dataclass(frozen=True)
class ModelScores:
    """Scores as fractions: ``f1``, ``precision``, ``recall``, ``accuracy``, or ``pearson`` for values.

    ``evaluation`` has all measurements and the single errors. ``notes`` say what was found in the data.

    If several named files were scored, these are the scores on all of them. ``domains`` has those of each
    file, and ``gap`` how much higher each score is than that of the first file, with its 95% interval.
    ``separation`` says how well the uncertainty of the model tells the examples of each file from those of
    the first one: ``separation["web"]["lowest"].auroc``. ``by``
    has the scores of examples by the values of a column: ``by["year"]["2004"].score``. ``noise`` has the
    scores of texts with noise.
    """

    evaluation: JsonEvaluation = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    domains: Mapping[str, ModelScores] = field(default_factory=dict, repr=False)
    gap: Mapping[str, Gap] = field(default_factory=dict, repr=False)
    separation: Mapping[str, Mapping[str, Separation]] = field(default_factory=dict, repr=False)
    by: Mapping[str, Mapping[str, GroupScore]] = field(default_factory=dict, repr=False)
    noise: tuple[NoiseScore, ...] = field(default=(), repr=False)

    @property
    def headline(self) -> str:
        """The name of the main score."""
        return str(self.evaluation.to_json()["headline"])

    @property
    def value(self) -> float:
        """The main score."""
        return self._score(self.headline)

    @property
    def f1(self) -> float:
        """Micro-averaged F1: of spans for a tagger, of labels for a classifier."""
        return self._score("f1")

    @property
    def precision(self) -> float:
        """The share of predictions that are right."""
        return self._score("precision")

    @property
    def recall(self) -> float:
        """The share of gold spans or labels that are found."""
        return self._score("recall")

    @property
    def accuracy(self) -> float:
        """The share of tokens, or of texts, that are right."""
        return self._score("accuracy")

    @property
    def pearson(self) -> float:
        """Pearson's correlation with the gold values."""
        return self._score("pearson")

    @property
    def spearman(self) -> float:
        """Spearman's correlation with the gold values."""
        return self._score("spearman")

    def interval(self, score: str = "") -> tuple[float, float] | None:
        """Return the 95% confidence interval of a score, by default of the main one."""
        intervals: Any = self.evaluation.to_json().get("intervals") or {}
        found = intervals.get("overall", intervals).get(score or self.headline)
        return None if found is None else (float(found[0]), float(found[1]))

    def errors(self) -> Sequence[Any]:
        """Return every error, the most confident first."""
        found: Sequence[Any] = self.evaluation.errors()  # type: ignore[attr-defined]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything that ``gonie evaluate --json`` writes."""
        record: dict[str, Any] = dict(self.evaluation.to_json())
        if self.domains:
            record = {
                "headline": self.headline,
                "domains": {name: scores.to_dict() for name, scores in self.domains.items()},
                "gap": {name: gap.to_json() for name, gap in self.gap.items()},
                "separation": separation_json(self.separation),
                "pooled": record,
            }
        if self.by:
            record["by"] = groups_json(self.by)
        if self.noise:
            record["noise"] = [score.to_json() for score in self.noise]
        return record

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _overall(self) -> dict[str, float]:
        known: dict[str, Any] = self.evaluation.to_json()
        return {name: float(known[name]) for name in SHOWN if isinstance(known.get(name), float)}

    def _score(self, name: str) -> float:
        known = self._overall()
        if name not in known:
            raise AttributeError(f"these scores have no {name}; they have {', '.join(known)}")
        return known[name]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.4f}" for name, value in self._overall().items())
        interval = self.interval()
        tail = "" if interval is None else f", interval=({interval[0]:.4f}, {interval[1]:.4f})"
        return f"ModelScores({shown}{tail})"

    def _repr_html_(self) -> str:
        interval = self.interval()
        main = f"{self.headline} {100 * self.value:.2f}"
        if interval is not None:
            main += f" (95% {100 * interval[0]:.2f} to {100 * interval[1]:.2f})"
        rest = ", ".join(f"{name} {100 * value:.2f}" for name, value in self._overall().items())
        types: Any = self.evaluation.to_json().get("types") or {}
        if not types:
            return fragment(element("b", main), element("p", rest))
        names = ("precision", "recall", "f1")
        lines = [
            row(label, *(f"{100 * counts[name]:.2f}" for name in names), counts.get("gold", ""))
            for label, counts in types.items()
        ]
        return fragment(
            element("b", main),
            element("p", rest),
            table(caption="Scores by type", header=("", *names, "gold"), rows=lines),
        )


def model_scores(found: EvaluatedFiles, notes: Mapping[str, Sequence[str]]) -> ModelScores:
    """Return the scores of files. ``notes`` are those on each file."""
    domains = {name: ModelScores(each.evaluation, tuple(notes[name])) for name, each in found.files.items()}
    return ModelScores(
        found.pooled.evaluation,
        tuple(note for own in notes.values() for note in own),
        domains=domains if found.named else {},
        gap=found.domains.gaps,
        separation=found.separation if found.named else {},
        by=found.by or {},
        noise=() if found.noise is None else found.noise.scores,
    )
