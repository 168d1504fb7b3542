"""Few-shot samples of training examples (``train.shots``), and what was sampled in words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gonie.errors import InputError
from gonie.features.shots import Mentions, ShotSampler, count_sample
from gonie.tasks.sections import CorpusRecipe

SHOWN = 20  # types listed in a note


def sample_rows(
    mentions: Mentions, recipe: CorpusRecipe, noun: str, note: Callable[[str], None]
) -> list[int]:
    """Return the rows of a sample with ``train.shots`` mentions of each type, drawn by ``train.seed``.

    ``note`` receives how many examples (``noun``) and mentions there are, and types that have too few.
    A text counts as a mention of each of its labels.
    """
    shots, file = recipe.train.shots, recipe.data.train_name
    sampler = ShotSampler(mentions)
    if not sampler.totals:
        raise InputError(f"no {noun} with labels to sample", path=file, fix="Set train.shots to 0")
    rows = sampler.sample(list(sampler.totals), shots, np.random.default_rng([recipe.train.seed, 4]))
    found = count_sample(mentions, rows)
    names = sorted(found, key=lambda name: (-found[name], name))
    listed = ", ".join(f"{name} {found[name]:,}" for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN:,} more types" if len(names) > SHOWN else ""
    note(f"{file}: sampled {len(rows):,} of {len(mentions):,} {noun} (train.shots = {shots}): {listed}{more}")
    if few := [name for name in names if found[name] < shots]:
        shown = ", ".join(few[:SHOWN])
        lack = "fewer texts than train.shots" if noun == "texts" else "fewer mentions than train.shots"
        note(f"{file}: warning: {lack} in the whole file: {shown}")
    return rows
