"""Batches of running text for the language model, compared with plain lists of tokens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.lm_text.batches import Streams, distinct
from gonie.features.lm_text.stream import BEGIN, END


class Case(NamedTuple):
    """A text, and how it is divided into rows and steps."""

    tokens: list[int]
    rows: int
    steps: int
    seed: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw sentences whose words are all different, so that a word determines its position."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=20))
    tokens, word = [], 3
    for length in lengths:
        tokens += [BEGIN, *range(word, word + length), END]
        word += length
    rows = draw(st.integers(1, len(tokens)))
    steps = draw(st.integers(1, len(tokens) // rows))
    return Case(tokens, rows, steps, draw(st.integers(0, 5)))


def made(case: Case) -> Streams:
    return Streams(np.array(case.tokens, dtype=np.int32), rows=case.rows, steps=case.steps, seed=case.seed)


def read(streams: Streams, epoch: int, name: str, row: int) -> list[int]:
    """Return the values of a row over all batches of an epoch."""
    batches = [streams.batch(epoch, index) for index in range(streams.batches(epoch))]
    return [int(id) for batch in batches for id in getattr(batch, name)[:, row]]


def ring(case: Case, first: int, length: int) -> list[int]:
    """Return ``length`` tokens of the ring from position ``first``."""
    return [case.tokens[(first + at) % len(case.tokens)] for at in range(length)]


def places(case: Case, epoch: int) -> int:
    """Return where the epoch begins: the position from which row 0 reads the ring."""
    inputs = read(made(case), epoch, "ahead_inputs", 0) + read(made(case), epoch, "ahead_targets", 0)
    length = len(inputs) // 2
    found = [
        first
        for first in range(len(case.tokens))
        if inputs == ring(case, first, length) + ring(case, first + 1, length)
    ]
    assert found, "row 0 does not read the text in its order"
    return found[0]


@settings(deadline=None, max_examples=150)
@given(cases(), st.integers(0, 9))
def test_rows_read_consecutive_text_in_both_directions(case: Case, epoch: int) -> None:
    streams = made(case)
    length = streams.batches(epoch) * case.steps
    first = places(case, epoch)
    candidates = [first]
    if length == 1:  # a single BEGIN or END does not determine its position
        candidates = [at for at in range(len(case.tokens)) if case.tokens[at] == case.tokens[first]]
    assert any(_follows(case, epoch, at, length) for at in candidates)
    left_out = len(case.tokens) - case.rows * length
    assert 0 <= left_out < case.rows + case.rows * case.steps


def _follows(case: Case, epoch: int, first: int, length: int) -> bool:
    """Whether every row is right if the epoch begins at ``first``."""
    streams = made(case)
    for row in range(case.rows):
        start = first + row * length
        onward = ring(case, start, length + 1)
        backward = ring(case, start - 1, length + 1)[::-1]
        expected = {
            "ahead_inputs": onward[:-1],
            "ahead_targets": onward[1:],
            "ahead_counts": [target != BEGIN for target in onward[1:]],
            "back_inputs": backward[:-1],
            "back_targets": backward[1:],
            "back_counts": [target != END for target in backward[1:]],
        }
        if any(read(streams, epoch, name, row) != values for name, values in expected.items()):
            return False
    return True


@settings(deadline=None, max_examples=40)
@given(cases(), st.integers(0, 3))
def test_a_batch_does_not_depend_on_earlier_batches(case: Case, epoch: int) -> None:
    """A resumed run requests the next batch without the earlier ones."""
    streams, last = made(case), made(case).batches(epoch) - 1
    streams.batch(epoch + 1, 0)
    for one, other in zip(streams.batch(epoch, last), made(case).batch(epoch, last), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.shape == (case.steps, case.rows)
        assert one.dtype in (np.int32, np.bool_)


def test_over_epochs_every_token_is_read() -> None:
    case = Case([BEGIN, *range(3, 40), END], rows=3, steps=5, seed=7)
    seen = {place for epoch in range(40) for place in read(made(case), epoch, "back_inputs", 1)}
    assert seen == set(case.tokens)
    assert len({places(case, epoch) for epoch in range(40)}) > 15
    assert [places(case._replace(seed=seed), 0) for seed in range(8)] != [places(case, 0)] * 8


def test_a_batch_number_out_of_range_is_refused() -> None:
    streams = Streams(np.arange(20, dtype=np.int32), rows=2, steps=3, seed=0)
    assert streams.batches(0) == 3
    for index in (-1, 3):
        with pytest.raises(IndexError, match="out of range: 0 to 2"):
            streams.batch(0, index)


@pytest.mark.parametrize(
    ("tokens", "rows", "steps", "message"),
    [
        (
            12,
            4,
            5,
            r"4 rows of 5 steps need 20 tokens, got 12 .10 words.*2 rows of 5 steps, or 4 rows of 3 steps",
        ),
        (12, 4, 50, r"at most 4 rows of 3 steps"),
        (12, 40, 50, r"at most 12 rows of 1 steps"),
        (12, 0, 1, "must be at least 1, got 0 rows"),
    ],
)
def test_too_short_text_is_refused_with_settings_that_fit(
    tokens: int, rows: int, steps: int, message: str
) -> None:
    text = np.array([BEGIN, *range(3, tokens + 1), END], dtype=np.int32)
    with pytest.raises(InputError, match=message):
        Streams(text, rows=rows, steps=steps, seed=0)


@settings(deadline=None, max_examples=40)
@given(cases())
def test_distinct_forms_and_their_places_restore_the_inputs(case: Case) -> None:
    batch = made(case).batch(0, 0)
    forms, places = distinct(batch)
    assert forms.dtype == np.int32
    assert len(set(forms.tolist())) == len(forms)
    assert forms[places[0]].tolist() == batch.ahead_inputs.tolist()
    assert forms[places[1]].tolist() == batch.back_inputs.tolist()
    assert set(forms.tolist()) == set(batch.ahead_inputs.ravel()) | set(batch.back_inputs.ravel())
