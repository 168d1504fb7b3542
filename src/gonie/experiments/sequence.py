"""Domains learned one after another: each run starts from the model of the domain before (--in-sequence).

A chain is the runs of a cell and seed, one for each domain of ``data.train``, in order. Every run keeps the
labels of its start and is scored on the held-out files of all domains. So a chain gives a matrix of scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gonie.errors import RecipeError
from gonie.experiments.comparison import Spread
from gonie.experiments.grid import Axis
from gonie.experiments.outcome import CellScores, Failure, Outcome
from gonie.metrics.forgetting import ForgettingMatrix, mean_matrix
from gonie.tasks.sections import CorpusRecipe
from gonie.training.loss_terms.table import LOSS_TERMS

SUMMARIES = {
    "final": "mean after the last",
    "forgetting": "average forgetting",
    "backward_transfer": "backward transfer",
}
"""The summaries of a matrix, and their names in tables."""


def check_sequence(recipes: Sequence[CorpusRecipe]) -> None:
    """Refuse recipes whose training files do not have the same names, or that cannot be scored by domain."""
    domains = list(recipes[0].data.files("train"))
    for recipe in recipes:
        data = recipe.data
        held = data.files("test") or data.files("dev")
        if len(domains) < 2 or data.leave_out or list(data.files("train")) != domains:
            raise RecipeError(
                [
                    "--in-sequence needs the same two or more named training files in every recipe; "
                    "for example, --set data.train.web=web.conll --set data.train.news=news.conll"
                ],
                source="compare",
            )
        if missing := [name for name in domains if name not in held]:
            raise RecipeError(
                [
                    f"--in-sequence needs a named test or dev file of each domain; missing: "
                    f"{', '.join(missing)}; for example, --set data.test.{missing[0]}=FILE"
                ],
                source="compare",
            )


def step_recipe(recipe: CorpusRecipe, step: int, start: Path | None) -> CorpusRecipe:
    """Return the recipe of step number ``step``, from 1, which starts from the run in ``start``.

    The first step starts as the recipe says. Without a start it has no kept labels, no replay, and no loss
    terms that need one.
    """
    name = list(recipe.data.files("train"))[step - 1]
    dev = recipe.data.files("dev")
    own_dev = {name: dev[name]} if name in dev else dev or None
    data = {
        "train": {name: recipe.data.files("train")[name]},
        "dev": own_dev,
        "test": recipe.data.files("test") or dev,
    }
    train: dict[str, Any] = {"keep_labels": True, **({"start": str(start)} if start else {})}
    loss = recipe.loss
    if start is None and recipe.train.start is None:
        train |= {"replay": 0, "keep_labels": False}
        loss = {term: values for term, values in loss.items() if not LOSS_TERMS[term].needs_start}
    return recipe.model_copy(
        update={
            "data": recipe.data.model_copy(update=data),
            "train": recipe.train.model_copy(update=train),
            "loss": loss,
        }
    )


@dataclass(frozen=True)
class SequenceRow:
    """One cell: its values on the axes, and the outcomes of each of its chains."""

    name: str
    values: tuple[str, ...]
    seeds: tuple[int, ...]
    chains: tuple[tuple[Outcome, ...], ...]
    domains: tuple[str, ...]

    @cached_property
    def matrices(self) -> tuple[ForgettingMatrix, ...]:
        """The matrix of each chain without a failed run."""
        return tuple(
            ForgettingMatrix(self.domains, tuple(_scores(run, self.domains) for run in chain))
            for chain in self.chains
            if all(isinstance(run, CellScores) for run in chain)
        )

    @property
    def mean(self) -> ForgettingMatrix | None:
        """The mean of the matrices."""
        return mean_matrix(self.matrices) if self.matrices else None

    @property
    def failures(self) -> list[Failure]:
        """The runs that failed."""
        return [run for chain in self.chains for run in chain if isinstance(run, Failure)]

    def spread(self, summary: str) -> Spread | None:
        """Return the mean and standard deviation of a summary over chains."""
        return Spread.of([getattr(matrix, summary) for matrix in self.matrices])

    def to_json(self) -> dict[str, Any]:
        """Return the scores as fractions."""
        spreads = {name: self.spread(name) for name in SUMMARIES}
        return {
            "values": list(self.values),
            "seeds": list(self.seeds),
            "mean": self.mean and self.mean.to_json(),
            **{name: spread and spread.to_json() for name, spread in spreads.items()},
            "chains": [matrix.to_json() for matrix in self.matrices],
            "failed": [failure.error for failure in self.failures],
        }


@dataclass(frozen=True)
class SequenceComparison:
    """The matrices of forgetting of all cells."""

    axes: tuple[Axis, ...]
    domains: tuple[str, ...]
    rows: tuple[SequenceRow, ...]

    @property
    def metric(self) -> str:
        """The name of the score."""
        runs = (run for row in self.rows for chain in row.chains for run in chain)
        return next((run.metric for run in runs if isinstance(run, CellScores)), "score")

    @property
    def failures(self) -> int:
        """The number of failed runs."""
        return sum(len(row.failures) for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return the content of results.json."""
        axes = [{"key": axis.key, "label": axis.label, "values": list(axis.values)} for axis in self.axes]
        return {
            "metric": self.metric,
            "domains": list(self.domains),
            "axes": axes,
            "cells": [row.to_json() for row in self.rows],
        }


def _scores(run: Outcome, domains: Sequence[str]) -> tuple[float, ...]:
    found = (run.domains or {}) if isinstance(run, CellScores) else {}
    return tuple(found.get(name, 0.0) for name in domains)
