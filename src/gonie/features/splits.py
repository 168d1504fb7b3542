"""Split a corpus: hold out some texts, or assign every text to one of k folds.

Both are stratified: each part has nearly the same share of each label as the whole corpus. A text with
several labels counts by their combination. Combinations of only one text form one stratum together. The same
labels and seed give the same parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.text.report import count

Rows = NDArray[np.int64]
Labels = Sequence[tuple[str, ...]]
"""The labels of each text, in the order of the corpus."""

SHOWN = 5  # labels listed in a note


@dataclass(frozen=True, slots=True)
class Split:
    """The texts to train on and the texts held out, each in the order of the corpus."""

    train: Rows
    held: Rows


@dataclass(frozen=True, slots=True)
class Splits:
    """One split per fold (a single one for a held-out set), and notes about them."""

    splits: tuple[Split, ...]
    notes: tuple[str, ...]


def hold_out(labels: Labels, *, share: float, seed: int) -> Splits:
    """Hold out a share of the texts, in proportion for each label, but never a label's last text.

    The number per label is rounded by the largest remainder method, so that the sum is right.
    """
    if len(labels) < 2 or not 0 < share < 1:
        raise InputError(
            f"cannot hold out a share of {share:g} of {count(len(labels), 'text')}",
            fix="Set data.holdout between 0 and 1, and use at least two texts",
        )
    generator = np.random.default_rng(seed)
    strata = _strata(labels, generator)
    sizes = np.array([len(rows) for rows in strata])
    number = max(1, round(share * len(labels)))
    due = _apportioned(sizes, number, generator)
    held = np.sort(np.concatenate([rows[:taken] for rows, taken in zip(strata, due, strict=True)]))
    if not len(held):
        raise InputError(
            f"cannot hold out a text: each of the {count(len(labels), 'text')} has a different label",
            fix="Add texts, so that a label has at least two",
        )
    notes = _once(labels, "which stays in training")
    if len(held) < number:
        notes.append(
            f"held out {count(len(held), 'text')} instead of {number:,}: each label keeps a text for training"
        )
    return Splits((Split(_others(held, len(labels)), held),), tuple(notes))


def folds(labels: Labels, *, number: int, seed: int) -> Splits:
    """Assign the texts to folds. Split i holds fold i out and trains on the others.

    The texts are dealt out label by label, so the sizes of folds differ by at most one, and so do the numbers
    of texts with each label (or combination of labels).
    """
    if not 2 <= number <= len(labels):
        raise InputError(
            f"cannot split {count(len(labels), 'text')} into {count(number, 'fold')}",
            fix=f"Set data.folds from 2 to {len(labels)}" if len(labels) > 1 else "Add texts",
        )
    generator = np.random.default_rng(seed)
    dealt = np.concatenate(_strata(labels, generator))
    places = np.arange(len(dealt)) % number
    splits = []
    for fold in generator.permutation(number):  # otherwise the first folds would always be the larger ones
        held = np.sort(dealt[places == fold])
        splits.append(Split(_others(held, len(labels)), held))
    notes = _once(labels, "never in training where it is scored")
    rare = [label for label, times in _counted(labels) if 1 < times < number]
    if rare:
        notes.append(
            f"labels with fewer texts than the {number} folds, missing from some folds: {_named(rare)}"
        )
    return Splits(tuple(splits), tuple(notes))


def _strata(labels: Labels, generator: np.random.Generator) -> list[Rows]:
    """Return the rows of each label combination, shuffled, with the combinations in alphabetical order."""
    keys = [tuple(sorted(own)) for own in labels]
    times = Counter(keys)
    rows: dict[tuple[str, ...], list[int]] = {}
    rest: list[int] = []
    for row, key in enumerate(keys):
        if times[key] == 1 and len(key) > 1:
            rest.append(row)
        else:
            rows.setdefault(key, []).append(row)
    ordered = [rows[key] for key in sorted(rows)] + ([rest] if rest else [])
    return [generator.permutation(np.array(own, dtype=np.int64)) for own in ordered]


def _apportioned(sizes: Rows, number: int, generator: np.random.Generator) -> Rows:
    """Distribute ``number`` over the strata in proportion to their sizes, by largest remainder."""
    due = sizes * (number / sizes.sum())
    taken: Rows = np.minimum(np.floor(due).astype(np.int64), sizes - 1)
    shuffled = generator.permutation(len(sizes))  # random order among equal remainders
    order = shuffled[np.argsort((taken - due)[shuffled], kind="stable")]
    while (missing := number - int(taken.sum())) > 0:
        open_ones = order[taken[order] < sizes[order] - 1][:missing]
        if not len(open_ones):
            break
        taken[open_ones] += 1
    return taken


def _others(held: Rows, size: int) -> Rows:
    return np.setdiff1d(np.arange(size, dtype=np.int64), held, assume_unique=True)


def _counted(labels: Labels) -> list[tuple[str, int]]:
    return sorted(Counter(label for own in labels for label in own).items())


def _once(labels: Labels, what: str) -> list[str]:
    alone = [label for label, times in _counted(labels) if times == 1]
    return [f"labels with a single text, {what}: {_named(alone)}"] if alone else []


def _named(labels: list[str]) -> str:
    more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
    return ", ".join(map(repr, labels[:SHOWN])) + more
