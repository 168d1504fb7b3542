"""Abstract transitions: probabilities counted with some types, for a model with others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.encoding import close_labels
from gonie.text.abstract_transitions import SMOOTHING, count_moves, transitions
from gonie.text.schemes import Scheme

BIOES = Scheme(kind="BIOES")
SOURCE = [
    ("O", "B-PER", "E-PER", "O"),
    ("S-LOC", "O", "O", "S-PER"),
    ("B-PER", "I-PER", "E-PER", "B-LOC", "E-LOC"),
]


def test_moves_are_counted_without_names_of_types() -> None:
    moves = count_moves(SOURCE, BIOES)
    assert moves["O", "B", False] == 1
    assert moves["B", "E", True] == 2
    assert moves["E", "B", False] == 1
    assert moves["<start>", "S", False] == 1
    assert moves["E", "<end>", False] == 1
    assert sum(moves.values()) == 4 + 4 + 5 + 3


@given(types=st.lists(st.sampled_from(["x", "y", "z", "PER"]), min_size=1, unique=True))
def test_rows_are_probabilities_that_new_types_share_equally(types: list[str]) -> None:
    labels = close_labels([f"B-{name}" for name in types] + ["O"], BIOES)
    moves, start, end = transitions(count_moves(SOURCE, BIOES), labels, BIOES, temperature=1.0)
    rows = np.concatenate([moves, end[:, None]], axis=1).astype(np.float64)
    np.testing.assert_allclose(np.exp(rows).sum(1), 1.0, atol=1e-5)
    outside = labels.index("O")
    begins = [labels.index(f"B-{name}") for name in types]
    np.testing.assert_allclose(moves[outside, begins], moves[outside, begins[0]], rtol=1e-6)
    same = [(labels.index(f"B-{name}"), labels.index(f"E-{name}")) for name in types]
    assert len({round(float(moves[pair]), 4) for pair in same}) == 1
    counts = count_moves(SOURCE, BIOES)
    kinds = [counts["O", marker, False] + SMOOTHING for marker in ("B", "I", "E", "S", "O", "<end>")]
    wanted = (counts["O", "B", False] + SMOOTHING) / sum(kinds)
    np.testing.assert_allclose(np.exp(moves[outside, begins]).sum(), wanted, rtol=1e-4)
    assert start.shape == (len(labels),)


def test_a_temperature_of_0_makes_all_transitions_equal() -> None:
    labels = close_labels(["B-x", "O"], BIOES)
    moves, _, end = transitions(count_moves(SOURCE, BIOES), labels, BIOES, temperature=0.0)
    np.testing.assert_allclose(moves, -np.log(len(labels) + 1), rtol=1e-5)
    np.testing.assert_allclose(end, -np.log(len(labels) + 1), rtol=1e-5)


def test_a_tag_of_another_scheme_is_named() -> None:
    with pytest.raises(InputError, match="NN"):
        count_moves([("NN",)], BIOES)
