"""Stratified splits. A text in both parts would make every score too high."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.splits import Labels, Split, folds, hold_out

one_label = st.lists(st.sampled_from("aaaabbc").map(lambda label: (label,)), min_size=2, max_size=60)
several = st.lists(
    st.sampled_from(["a", "ab", "abc", "b", "cd", "", "ba"]).map(tuple), min_size=2, max_size=40
)


def counts(labels: Labels, rows: np.ndarray) -> Counter[tuple[str, ...]]:
    return Counter(labels[row] for row in rows)


def parts_whole(split: Split, number: int) -> bool:
    together = [*split.train.tolist(), *split.held.tolist()]
    in_order = [part.tolist() == sorted(part.tolist()) for part in (split.train, split.held)]
    return sorted(together) == list(range(number)) and all(in_order)


@given(one_label | several, st.integers(2, 12), st.integers(0, 3))
def test_every_text_is_held_out_once(labels: Labels, number: int, seed: int) -> None:
    number = min(number, len(labels))
    made = folds(labels, number=number, seed=seed).splits
    assert len(made) == number
    assert all(parts_whole(split, len(labels)) for split in made)
    assert sorted(np.concatenate([split.held for split in made]).tolist()) == list(range(len(labels)))


@given(one_label, st.integers(2, 12), st.integers(0, 3))
def test_folds_differ_by_at_most_one_text_per_label(labels: Labels, number: int, seed: int) -> None:
    made = folds(labels, number=min(number, len(labels)), seed=seed).splits
    sizes = [len(split.held) for split in made]
    assert max(sizes) - min(sizes) <= 1
    for label in set(labels):
        own = [counts(labels, split.held)[label] for split in made]
        assert max(own) - min(own) <= 1


@given(one_label | several, st.floats(0.05, 0.95), st.integers(0, 3))
def test_a_share_is_held_out(labels: Labels, share: float, seed: int) -> None:
    if max(Counter(tuple(sorted(own)) for own in labels).values()) == 1:
        return  # refused, see below
    (split,) = hold_out(labels, share=share, seed=seed).splits
    assert parts_whole(split, len(labels))
    assert 0 < len(split.held) <= max(1, round(share * len(labels)))


@given(one_label, st.floats(0.05, 0.95), st.integers(0, 3))
def test_each_label_is_held_out_in_proportion_except_its_last_text(
    labels: Labels, share: float, seed: int
) -> None:
    whole = Counter(labels)
    if max(whole.values()) == 1:
        return
    made = hold_out(labels, share=share, seed=seed)
    number = max(1, round(share * len(labels)))
    held, train = (counts(labels, rows) for rows in (made.splits[0].held, made.splits[0].train))
    assert set(train) == set(whole)
    spared = number - held.total()
    assert bool(spared) == any("each label keeps a text" in note for note in made.notes)
    for label, size in whole.items():
        due = size * number / len(labels)
        cap = size - 1
        assert held[label] == cap or held[label] >= int(due)
        # texts that a label must keep are held out from other labels instead, and no more than that
        shortage = sum(max(0.0, n * number / len(labels) - (n - 1)) for n in whole.values())
        assert held[label] <= due + 1 + shortage


def test_shares_are_exact_where_possible() -> None:
    labels = [("a",)] * 70 + [("b",)] * 20 + [("c",)] * 10
    (split,) = hold_out(labels, share=0.1, seed=0).splits
    assert counts(labels, split.held) == {("a",): 7, ("b",): 2, ("c",): 1}
    assert not hold_out(labels, share=0.1, seed=0).notes
    for part in folds(labels, number=10, seed=0).splits:
        assert counts(labels, part.held) == {("a",): 7, ("b",): 2, ("c",): 1}


def test_splits_depend_only_on_the_seed() -> None:
    labels = [("a",), ("b",)] * 50

    def held(seed: int) -> list[list[int]]:
        both = (hold_out(labels, share=0.2, seed=seed), folds(labels, number=5, seed=seed))
        return [split.held.tolist() for made in both for split in made.splits]

    assert held(1) == held(1)
    assert all(one != other for one, other in combinations([held(seed)[0] for seed in range(5)], 2))


def test_texts_with_several_labels_are_stratified_by_combination() -> None:
    labels = [("a", "b")] * 10 + [("b", "a")] * 10 + [("a",)] * 20 + [()] * 20
    for split in folds(labels, number=10, seed=3).splits:
        assert Counter(tuple(sorted(labels[row])) for row in split.held) == {("a", "b"): 2, ("a",): 2, (): 2}


def test_combinations_with_one_text_are_held_out_as_a_group() -> None:
    """Otherwise a corpus of many rare combinations would hold out almost nothing."""
    names = "abcdefgh"
    labels = [tuple(pair) for pair in combinations(names, 2)]
    (split,) = hold_out(labels, share=0.25, seed=0).splits
    assert len(split.held) == round(0.25 * len(labels))


def test_rare_labels_are_reported() -> None:
    labels = [("a",)] * 20 + [("b",)] * 3 + [("c",)]
    notes = folds(labels, number=5, seed=0).notes
    assert notes == (
        "labels with a single text, never in training where it is scored: 'c'",
        "labels with fewer texts than the 5 folds, missing from some folds: 'b'",
    )
    assert hold_out(labels, share=0.2, seed=0).notes == (
        "labels with a single text, which stays in training: 'c'",
    )
    many = [(str(i),) for i in range(9)] + [("a",)] * 9
    assert hold_out(many, share=0.2, seed=0).notes[0].endswith("'0', '1', '2', '3', '4' and 4 more")


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_an_invalid_share_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="cannot hold out a share"):
        hold_out([("a",)] * 4, share=share, seed=0)


@pytest.mark.parametrize("number", [1, 5, -3])
def test_an_invalid_number_of_folds_is_refused(number: int) -> None:
    with pytest.raises(InputError, match=r"Set data.folds from 2 to 4"):
        folds([("a",)] * 4, number=number, seed=0)


def test_labels_that_cannot_spare_a_text_are_refused() -> None:
    with pytest.raises(InputError, match="has a different label"):
        hold_out([("a",), ("b",), ("c",)], share=0.5, seed=0)
