"""The speed of several exported models on the same texts, measured in turn, and the size of their files."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gonie.reports.size_comparison import ModelCost
from gonie.tasks.load import find_bundle, load

TEXTS = 300
"""Texts of a measurement of many texts."""
SINGLE = 40
"""Texts that are answered one by one."""
ROUNDS = 5
"""How often each model is measured. Every round measures all models, so that they share a busy moment."""

Advance = Callable[[int, int], None]
"""Receives how many measurements are done, and how many there are."""


def measure_costs(
    folders: Mapping[str, Path], texts: Sequence[Any], tokens: int, advance: Advance
) -> dict[str, ModelCost]:
    """Return the costs of the models in bundle or run folders, by name, on one CPU thread.

    ``texts`` are what the models answer, and ``tokens`` is how many tokens they have. The same number counts
    for all models, whatever their own tokens are, so that speeds can be compared.
    """
    models = {name: load(folder, threads=1) for name, folder in folders.items()}
    for model in models.values():
        list(model.pipe(texts[:1]))  # the first answer also allocates memory
    many: dict[str, list[float]] = {name: [] for name in models}
    single: dict[str, list[float]] = {name: [] for name in models}
    for number in range(ROUNDS):
        for at, (name, model) in enumerate(models.items()):
            many[name].append(_seconds(model, [texts]))
            single[name].append(_seconds(model, [[text] for text in texts[:SINGLE]]) / len(texts[:SINGLE]))
            advance(number * len(models) + at + 1, ROUNDS * len(models))
    return {
        name: ModelCost(
            tokens_per_second=tokens / statistics.median(many[name]),
            milliseconds=1000 * statistics.median(single[name]),
            megabytes=_size(folders[name]) / 1e6,
        )
        for name in models
    }


def _seconds(model: Any, groups: Sequence[Sequence[Any]]) -> float:
    """Return how long a model takes to answer groups of texts, one after another."""
    began = time.perf_counter()
    for group in groups:
        for _ in model.pipe(group):
            pass
    return time.perf_counter() - began


def _size(folder: Path) -> int:
    """Return the size of the files of a bundle in bytes."""
    return sum(path.stat().st_size for path in find_bundle(folder).iterdir() if path.is_file())
