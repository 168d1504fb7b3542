"""Rows of contiguous text for truncated back-propagation, in both directions.

The M tokens lie on a ring: after the last END comes the first BEGIN, as between any two sentences. An epoch
begins at a place of its own, drawn from the seed and its number, and cuts the ring from there into R equal
stretches, one a row. Onward, a row reads its stretch from the beginning to the end, T tokens a batch;
backward, from the end to the beginning, so that the two directions meet different text at a time. What is
left over, less than a batch and a row, is at another place in the next epoch.

Where a row stands follows from the epoch and the batch's number alone: to resume, ask for the next number.
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
    """A step of each row, all (T, R): ids of forms, and which targets count.

    BEGIN always follows END, and going backward END always follows BEGIN: there is nothing to learn in it.
    """

    ahead_inputs: Ids
    ahead_targets: Ids
    ahead_counts: Bools
    back_inputs: Ids
    back_targets: Ids
    back_counts: Bools


class Distinct(NamedTuple):
    """Each form of the inputs of a batch once, (U,), and the inputs as places in it, (2, T, R).

    ``places[0]`` is of the inputs ahead, ``places[1]`` of those back.
    """

    forms: Ids
    places: NDArray[np.int64]


class Streams:
    """The batches of every epoch over ``tokens`` (M,): ``rows`` rows of ``steps`` tokens each."""

    def __init__(self, tokens: Ids, *, rows: int, steps: int, seed: int) -> None:
        if rows < 1 or steps < 1:
            raise InputError(expected="at least one row and one step", got=f"{rows} rows of {steps} steps")
        if len(tokens) < rows * steps:
            raise _too_short(tokens, rows, steps)
        self._tokens = np.asarray(tokens)
        self._rows = rows
        self._steps = steps
        self._seed = seed
        self._batches = len(tokens) // (rows * steps)

    def batches(self, epoch: int) -> int:
        """How many batches an epoch has: every one as many."""
        return self._batches

    def batch(self, epoch: int, index: int) -> TextRows:
        """Batch ``index`` of an epoch; its rows go on where those of the batch before it ended."""
        if not 0 <= index < self._batches:
            raise IndexError(f"expected a batch from 0 to {self._batches - 1}, got {index}")
        start = int(np.random.default_rng((self._seed, epoch)).integers(len(self._tokens)))
        stretch = self._batches * self._steps
        firsts = start + stretch * np.arange(self._rows)  # (R,)
        passed = index * self._steps + np.arange(self._steps + 1)  # (T + 1,) and the target of the last
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
        """The tokens at places (R, T + 1) of the ring, as (T + 1, R)."""
        return np.ascontiguousarray(self._tokens[places % len(self._tokens)].T)


def distinct(batch: TextRows) -> Distinct:
    """The forms that a network of characters has to read for a batch, each once."""
    inputs = np.stack([batch.ahead_inputs, batch.back_inputs])  # (2, T, R)
    forms, places = np.unique(inputs.ravel(), return_inverse=True)
    return Distinct(forms, places.reshape(inputs.shape))


def _too_short(tokens: Ids, rows: int, steps: int) -> InputError:
    words = int(np.count_nonzero(np.asarray(tokens) > END))
    fewer = f"{len(tokens) // steps:,} rows of {steps:,} steps, or " if len(tokens) >= steps else ""
    return InputError(
        expected=f"text for {rows:,} rows of {steps:,} steps, {rows * steps:,} tokens",
        got=f"{words:,} words, with the ends of sentences {len(tokens):,} tokens",
        fix=f"Use more text, or at most {fewer}{max(len(tokens) // rows, 1):,} steps in "
        f"{min(rows, len(tokens)):,} rows",
    )
