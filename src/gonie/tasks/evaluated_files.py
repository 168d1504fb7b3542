"""The evaluation of a model on one file or several: overall, by named values, and under noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gonie.errors import InputError
from gonie.metrics.domain_scores import DomainScores
from gonie.metrics.grouped import GroupScore, group_by
from gonie.metrics.robustness import NoiseCurve
from gonie.metrics.separation import Separation, measure_separation
from gonie.tasks.evaluation import ALL_RULES, META, VECTORS, Evaluator, FileScores, PredictedExamples
from gonie.text.report import count

Groups = Mapping[str, Mapping[str, GroupScore]]
"""The scores of each value, by column."""


@dataclass(frozen=True)
class EvaluatedFiles:
    """The scores of a model on files.

    ``files`` are the files by name, the first of which is the one that others are compared with. ``pooled``
    are the scores on the examples of all files: for one file, its scores. ``by`` are the scores by named
    values, and ``noise`` those under noise, if asked for. ``named`` says that files have names: they are then
    shown as domains.
    """

    files: Mapping[str, FileScores]
    pooled: FileScores
    named: bool = False
    by: Groups | None = None
    noise: NoiseCurve | None = None

    @cached_property
    def domains(self) -> DomainScores:
        """The main score of each file, and of all of them."""
        own = {name: _main_score(scores) for name, scores in self.files.items()}
        return DomainScores.of_files(own, _main_score(self.pooled))

    @cached_property
    def separation(self) -> dict[str, dict[str, Separation]]:
        """How well each score of uncertainty tells the examples of a file from those of the first one."""
        (_, inside), *others = self.files.items()
        known = inside.predictions.uncertainties()
        return {
            name: {
                by: measure_separation(known[by], values)
                for by, values in scores.predictions.uncertainties().items()
                if by in known
            }
            for name, scores in others
        }

    def to_json(self) -> dict[str, Any]:
        """Return all results as fractions and counts.

        Those of named files are under ``domains`` and ``pooled``, with the ``gap`` of each to the first.
        """
        record = dict(self.pooled.evaluation.to_json())
        if self.named:
            record = {
                "headline": self.pooled.evaluation.headline[0],
                "domains": {name: scores.evaluation.to_json() for name, scores in self.files.items()},
                "gap": {name: own.to_json() for name, own in self.domains.gaps.items()},
                "separation": separation_json(self.separation),
                "pooled": record,
            }
        if self.by is not None:
            record["by"] = groups_json(self.by)
        if self.noise is not None:
            record["noise"] = self.noise.to_json()
        return record


def separation_json(separation: Mapping[str, Mapping[str, Separation]]) -> dict[str, Any]:
    """Return the separation of each file by each score as plain values."""
    return {
        name: {by: found.to_json() for by, found in scores.items()} for name, scores in separation.items()
    }


def _main_score(scores: FileScores) -> GroupScore:
    return GroupScore.of(scores.evaluation, len(scores.predictions))


def groups_json(groups: Groups) -> dict[str, Any]:
    """Return the scores of groups as plain values."""
    return {
        column: {value: score.to_json() for value, score in own.items()} for column, own in groups.items()
    }


def score_files(
    evaluator: Evaluator,
    model: Any,
    files: Mapping[str, Path],
    *,
    folder: Path,
    options: Mapping[str, Any],
    by: Sequence[str] = (),
    named: bool = False,
) -> EvaluatedFiles:
    """Score a model on files, and by the values of the columns ``by``.

    A label map applies to all files. Each of its rules must be for a label of at least one of them. The
    option ``VECTORS`` has the file of the external vectors of each file by its name.
    """
    own = {**options, META: tuple(by), ALL_RULES: len(files) == 1}
    vectors = own.pop(VECTORS, {})
    found = {
        name: evaluator.score(
            model, file, folder=folder, options={**own, VECTORS: vectors[name]} if name in vectors else own
        )
        for name, file in files.items()
    }
    _check_rules(found, files)
    first, *others = found.values()
    pooled = first.joined(others) if others else first
    groups = {column: score_groups(pooled.predictions, column) for column in by}
    return EvaluatedFiles(found, pooled, named, groups or None)


def vectors_by_name(given: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the file of external vectors of each scored file: ``NAME=FILE``, or in their order."""
    found: dict[str, str] = {}
    if len(given) != len(names):
        raise InputError(
            f"expected the vectors of {count(len(names), 'file')}, got {count(len(given), 'file')}",
            fix="Pass --vectors FILE once for each scored file, in the same order",
        )
    for place, value in zip(names, given, strict=True):
        name, equals, path = value.partition("=")
        own, file = (name, path) if equals and name in names else (place, value)
        if own in found:
            raise InputError(f"two files of vectors for {own}: {found[own]} and {file}")
        found[own] = file
    return found


def _check_rules(found: Mapping[str, FileScores], files: Mapping[str, Path]) -> None:
    unused = set.intersection(*(set(scores.predictions.unused) for scores in found.values()))
    if unused:
        raise InputError(
            f"the label map has a rule for {', '.join(sorted(unused))}, which no file has: "
            f"{', '.join(map(str, files.values()))}",
            fix="Remove or correct the rule",
        )


def score_groups(scored: PredictedExamples, column: str) -> dict[str, GroupScore]:
    """Return the main score of the examples with each value of a column, sorted by value."""
    places = group_by(scored.metas, column)
    return {value: GroupScore.of(scored.part(own).evaluate(), len(own)) for value, own in places.items()}
