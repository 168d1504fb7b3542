"""Randomisation tests: if these break, significance in comparisons is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.metrics.evaluation import evaluate
from gonie.metrics.significance import Tally, combine_tallies, randomization_test
from gonie.text.schemes import IOB2, Scheme
from gonie.text.types import Sentence

PLAIN = Scheme(kind="plain")
TAGS = ("O", "B-PER", "I-PER", "B-LOC")


def tally(rows: list[tuple[int, int, int]], data: str = "d") -> Tally:
    return Tally(data, np.array(rows, dtype=np.int64).reshape(-1, 3))


def by_enumeration(one: Tally, other: Tally) -> float:
    """Return the exact p-value by trying every way to swap the sentences."""

    def f1(rows: list[np.ndarray]) -> float:
        gold, predicted, correct = np.sum(rows, axis=0)
        return 2 * correct / (gold + predicted) if gold + predicted else 0.0

    pairs = list(zip(one.counts, other.counts, strict=True))
    seen = abs(f1([a for a, _ in pairs]) - f1([b for _, b in pairs]))
    found = []
    for swaps in product((False, True), repeat=len(pairs)):
        left = [b if swap else a for (a, b), swap in zip(pairs, swaps, strict=True)]
        right = [a if swap else b for (a, b), swap in zip(pairs, swaps, strict=True)]
        found.append(abs(f1(left) - f1(right)) >= seen - 1e-12)
    return sum(found) / len(found)


@st.composite
def two_taggings(draw: st.DrawFn) -> tuple[Tally, Tally]:
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        gold = draw(st.integers(0, 3))
        sides = []
        for _ in range(2):
            correct = draw(st.integers(0, gold))
            sides.append((gold, correct + draw(st.integers(0, 2)), correct))
        rows.append(sides)
    return tally([a for a, _ in rows]), tally([b for _, b in rows])


@given(two_taggings())
@settings(max_examples=60, deadline=None)
def test_p_approximates_that_of_all_swaps(pair: tuple[Tally, Tally]) -> None:
    exact = by_enumeration(*pair)
    p = randomization_test(*pair, shuffles=4000)
    assert p is not None
    assert abs(p - exact) < 5 * (exact * (1 - exact) / 4000) ** 0.5 + 1e-3


@given(two_taggings())
@settings(max_examples=30, deadline=None)
def test_p_does_not_depend_on_the_order_of_models(pair: tuple[Tally, Tally]) -> None:
    assert randomization_test(*pair, shuffles=500) == randomization_test(*pair[::-1], shuffles=500)


def test_under_the_null_p_is_uniform() -> None:
    """For two taggers of the same quality, a share α of all p-values is at most α."""
    generator = np.random.default_rng(5)
    found = []
    for trial in range(600):
        gold = generator.integers(1, 5, size=60)
        sides = []
        for _ in range(2):
            correct = generator.binomial(gold, 0.7)
            sides.append(
                tally(np.stack([gold, correct + generator.binomial(2, 0.3, 60), correct], 1).tolist())
            )
        p = randomization_test(sides[0], sides[1], shuffles=199, seed=trial)
        assert p is not None
        found.append(p)
    values = np.array(found)
    for level in (0.05, 0.1, 0.25, 0.5, 0.75):
        share = float(np.mean(values <= level))
        assert abs(share - level) < 4 * (level * (1 - level) / len(values)) ** 0.5, (level, share)


def test_a_real_difference_has_a_small_p() -> None:
    good, bad = tally([(2, 2, 2)] * 100), tally([(2, 2, 1)] * 100)
    assert randomization_test(good, bad) == pytest.approx(1 / 10_001)
    assert randomization_test(good, good) == 1.0


def test_different_sentences_are_not_compared() -> None:
    assert randomization_test(tally([(1, 1, 1)], "a"), tally([(1, 1, 0)], "b")) is None


def test_computing_p_in_blocks_gives_a_similar_value(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    gold = np.full(50, 3)
    sides = [
        tally(np.stack([gold, gold, generator.binomial(gold, share)], 1).tolist()) for share in (0.7, 0.8)
    ]
    whole = randomization_test(sides[0], sides[1], shuffles=3000)
    monkeypatch.setattr("gonie.metrics.significance.CELLS", 500)
    pieces = randomization_test(sides[0], sides[1], shuffles=3000)
    assert whole is not None
    assert pieces == pytest.approx(whole, abs=0.03)


@given(st.lists(st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), min_size=1), min_size=1))
@settings(max_examples=60, deadline=None)
def test_a_tally_has_the_score_of_the_evaluation(pairs: list[list[tuple[str, str]]]) -> None:
    """Otherwise p would refer to a different score than the one in the table."""
    gold = [Sentence(tuple("w" * len(row)), tuple(tag for tag, _ in row)) for row in pairs]
    predicted = [tuple(tag for _, tag in row) for row in pairs]
    for scheme in (IOB2, PLAIN):
        expected = evaluate(gold, predicted, scheme=scheme, bootstrap=0).headline[1]
        assert Tally.from_tags(gold, predicted, scheme).f1 == pytest.approx(expected)


def test_data_is_identified_by_words_and_spans_not_by_scheme() -> None:
    """Runs of a sweep over tag schemes use the same sentences and must be comparable."""
    bioes = Scheme(kind="BIOES")
    one = Tally.from_tags([Sentence(("Kim", "."), ("B-PER", "O"))], [("O", "O")], IOB2)
    same = Tally.from_tags([Sentence(("Kim", "."), ("S-PER", "O"))], [("S-PER", "O")], bioes)
    words = Tally.from_tags([Sentence(("Lee", "."), ("S-PER", "O"))], [("S-PER", "O")], bioes)
    tags = Tally.from_tags([Sentence(("Kim", "."), ("S-LOC", "O"))], [("S-PER", "O")], bioes)
    assert one.data == same.data
    assert len({one.data, words.data, tags.data}) == 3


def test_counts_of_seeds_are_added_for_the_same_sentences() -> None:
    same = combine_tallies([tally([(1, 1, 1), (2, 0, 0)]), tally([(1, 2, 0), (2, 2, 2)])])
    assert same.counts.tolist() == [[2, 3, 1], [4, 2, 2]]
    other = combine_tallies([tally([(1, 1, 1)], "a"), tally([(2, 2, 2)], "b")])
    assert other.counts.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert (
        combine_tallies([tally([(1, 1, 1)], "a")]).data != combine_tallies([tally([(1, 1, 1)], "a")] * 2).data
    )


@dataclass(frozen=True)
class Text:
    """A text as read from a file."""

    text: str
    labels: tuple[str, ...]
    path: str = ""
    line: int = 0


def test_classifications_of_the_same_texts_can_be_compared() -> None:
    texts = [Text("good", ("yes",)), Text("bad", ("no",)), Text("both", ("no", "yes"))]
    one = Tally.from_labels(texts, [("yes",), ("yes",), ("yes",)])
    assert one.counts.tolist() == [[1, 1, 1], [1, 1, 0], [2, 1, 1]]
    assert one.f1 == pytest.approx(4 / 7)
    other = Tally.from_labels(texts, [("no",), ("no",), ()])
    assert randomization_test(one, other, shuffles=50) is not None
    elsewhere = Tally.from_labels([Text("good", ("no",)), *texts[1:]], [("yes",)] * 3)
    assert randomization_test(one, elsewhere, shuffles=50) is None


def test_gold_spans_inside_tokens_are_counted_in_a_tally() -> None:
    inside = Sentence(
        ("서울에서",), ("O",), text="서울에서", starts=(0,), ends=(4,), unreachable=((0, 2, "LC"),)
    )
    found = Tally.from_tags([inside, Sentence(("서울",), ("B-LC",))], [("O",), ("B-LC",)], IOB2)
    assert (found.unreachable, found.counts.tolist()) == (1, [[1, 0, 0], [1, 1, 1]])
