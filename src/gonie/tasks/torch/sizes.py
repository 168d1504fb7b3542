"""Samples of training examples of a fixed size (``data.size``), and what was sampled in words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from gonie.errors import InputError
from gonie.features.nested_sample import nested_sample
from gonie.tasks.sections import CorpusRecipe


def sized_rows(
    strata: Sequence[Hashable], recipe: CorpusRecipe, noun: str, note: Callable[[str], None]
) -> list[int]:
    """Return the rows of a sample of ``data.size`` examples, drawn by ``train.seed``.

    ``strata`` has the stratum of each example that could be trained on. ``note`` receives how many examples
    (``noun``) were sampled.
    """
    size, file = recipe.data.size, recipe.data.train_name
    assert size is not None
    if size > len(strata):
        raise InputError(
            f"data.size is {size:,}, but there are only {len(strata):,} {noun} to train on",
            path=file,
            fix=f"Use a size of at most {len(strata):,}, or all of them",
        )
    note(f"{file}: sampled {size:,} of {len(strata):,} {noun} (data.size = {size})")
    return nested_sample(strata, size, recipe.train.seed)
