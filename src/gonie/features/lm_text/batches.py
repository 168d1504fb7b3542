"""Rows of contiguous text for truncated back-propagation, in both directions.

The M tokens form a ring: after the last END comes the first BEGIN, as between any two sentences. Each epoch
starts at a position drawn from the seed and the epoch number. From there the ring is divided into R equal
stretches, one per row. The forward model reads a row from start to end, T tokens per batch. The backward
model reads it from end to start, so the two directions see different text at a time. The remainder, less than
one batch plus one row, is at another position in the next epoch.

The position of a row depends only on the epoch and the batch number. To resume, request the next number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features.lm_text.stream import BEGIN, END

Ids = NDArray[np.int32]
Bools = NDArray[np.bool_]


class TextRows(NamedTuple):
    """One batch of all rows, each array (T, R): ids of forms, and which targets count in the loss.

    BEGIN always follows END, and backward END always follows BEGIN. These targets do not count, because there
    is nothing to learn.
    """

    ahead_inputs: Ids
    ahead_targets: Ids
    ahead_counts: Bools
    back_inputs: Ids
    back_targets: Ids
    back_counts: Bools


class Distinct(NamedTuple):
    """The distinct forms of the inputs of a batch, (U,), and the inputs as indices into them, (2, T, R).

    ``places[0]`` is for the forward inputs, ``places[1]`` for the backward inputs.
    """

    forms: Ids
    places: NDArray[np.int64]


class Streams:
    """The batches of every epoch over ``tokens`` (M,): ``rows`` rows of ``steps`` tokens each."""

    def __init__(self, tokens: Ids, *, rows: int, steps: int, seed: int) -> None:
        if rows < 1 or steps < 1:
            raise InputError(f"rows and steps must be at least 1, got {rows} rows of {steps} steps")
        if len(tokens) < rows * steps:
            raise _too_short(tokens, rows, steps)
        self._tokens = np.asarray(tokens)
        self._rows = rows
        self._steps = steps
        self._seed = seed
        self._batches = len(tokens) // (rows * steps)

    def batches(self, epoch: int) -> int:
        """Return the number of batches of an epoch, which is the same for all."""
        return self._batches

    def batch(self, epoch: int, index: int) -> TextRows:
        """Return batch ``index`` of an epoch. Its rows continue those of the previous batch."""
        if not 0 <= index < self._batches:
            raise IndexError(f"batch {index} is out of range: 0 to {self._batches - 1}")
        start = int(np.random.default_rng((self._seed, epoch)).integers(len(self._tokens)))
        stretch = self._batches * self._steps
        firsts = start + stretch * np.arange(self._rows)  # (R,)
        passed = index * self._steps + np.arange(self._steps + 1)  # (T + 1,) with the target of the last step
        ahead = self._taken(firsts[:, None] + passed)  # (T + 1, R)
        back = self._taken(firsts[:, None] + stretch - 1 - passed)  # (T + 1, R)
        return TextRows(
            ahead_inputs=ahead[:-1],
            ahead_targets=ahead[1:],
            ahead_counts=ahead[1:] != BEGIN,
            back_inputs=back[:-1],
            back_targets=back[1:],
            back_counts=back[1:] != END,
        )

    def _taken(self, places: NDArray[np.int64]) -> Ids:
        """Return the tokens at positions (R, T + 1) of the ring, as (T + 1, R)."""
        return np.ascontiguousarray(self._tokens[places % len(self._tokens)].T)


def distinct(batch: TextRows) -> Distinct:
    """Return the distinct forms that a character network must encode for a batch."""
    inputs = np.stack([batch.ahead_inputs, batch.back_inputs])  # (2, T, R)
    forms, places = np.unique(inputs.ravel(), return_inverse=True)
    return Distinct(forms, places.reshape(inputs.shape))


def _too_short(tokens: Ids, rows: int, steps: int) -> InputError:
    words = int(np.count_nonzero(np.asarray(tokens) > END))
    fewer, shorter = len(tokens) // steps, max(len(tokens) // rows, 1)
    most = f"{min(rows, len(tokens)):,} rows of {shorter:,} steps"
    most = f"{fewer:,} rows of {steps:,} steps, or {most}" if fewer else most
    return InputError(
        f"too little text: {rows:,} rows of {steps:,} steps need {rows * steps:,} tokens, got "
        f"{len(tokens):,} ({words:,} words and the sentence boundaries)",
        fix=f"Use more text, or set train.rows and train.steps to at most {most}",
    )
