"""User-defined transition rules: what they forbid, and which rules are refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.text import schemes
from gonie.text.rules import allowed, cut_ends, first_violation
from gonie.text.schemes import PLAIN, Scheme

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
IOB2 = Scheme(kind="IOB2")


def at(before: str, after: str) -> tuple[int, int]:
    return LABELS.index(before), LABELS.index(after)


def test_without_rules_only_the_scheme_applies() -> None:
    for ours, theirs in zip(allowed(LABELS, IOB2), schemes.allowed(LABELS, IOB2), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert all(part.all() for part in allowed(LABELS, IOB2, constrained=False))


def test_a_rule_forbids_one_transition_and_no_other() -> None:
    moves, first, last = allowed(LABELS, IOB2, constrained=False, forbidden=["B-PER -> B-PER"])
    assert not moves[at("B-PER", "B-PER")]
    assert moves.sum() == moves.size - 1
    assert first.all()
    assert last.all()


def test_wildcards_match_tags() -> None:
    moves, _, _ = allowed(LABELS, IOB2, constrained=False, forbidden=["*-PER->?-LOC"])
    forbidden = {(LABELS[i], LABELS[j]) for i, j in np.argwhere(~moves)}
    assert forbidden == {(a, b) for a in ("B-PER", "I-PER") for b in ("B-LOC", "I-LOC")}


def test_rules_apply_to_the_ends_of_a_sentence() -> None:
    _, first, last = allowed(LABELS, IOB2, forbidden=["<start> -> B-LOC", "*-PER -> <end>"])
    assert first.tolist() == [True, True, False, False, False]  # the scheme forbids I- at a start anyway
    assert last.tolist() == [True, False, False, True, True]


def test_plain_tags_may_have_rules() -> None:
    moves, _, _ = allowed(("DET", "VERB"), PLAIN, forbidden=["DET -> VERB"])
    assert moves.tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("rule", ["B-PER", "B-PER ->", "-> O", "<end> -> O", "O -> <start>", ""])
def test_an_invalid_rule_is_refused_with_an_example(rule: str) -> None:
    with pytest.raises(InputError, match="B-PER -> B-LOC"):
        allowed(LABELS, IOB2, forbidden=[rule])


def test_a_rule_for_unknown_tags_is_refused() -> None:
    with pytest.raises(InputError, match=r"no tag matches 'B-PERS'.*O, B-PER"):
        allowed(LABELS, IOB2, forbidden=["B-PERS -> O"])


def test_rules_that_allow_no_sentence_are_refused() -> None:
    with pytest.raises(InputError, match="no tag may begin or end a sentence"):
        allowed(LABELS, IOB2, forbidden=["* -> <end>"])


def test_the_first_violation_is_written_as_a_rule() -> None:
    rules = allowed(LABELS, IOB2, forbidden=["B-PER -> B-PER", "<start> -> B-LOC", "B-PER -> <end>"])
    assert first_violation(("O", "B-PER", "I-PER"), LABELS, rules) is None
    assert first_violation(("B-PER", "B-PER", "O"), LABELS, rules) == "B-PER -> B-PER"
    assert first_violation(("B-LOC",), LABELS, rules) == "<start> -> B-LOC"
    assert first_violation(("O", "B-PER"), LABELS, rules) == "B-PER -> <end>"
    assert first_violation((), LABELS, rules) is None


# --- splitting long sentences ----------------------------------------------------------------------------

BIOES = Scheme(kind="BIOES")
MARKED = ("O", "B-PER", "I-PER", "E-PER", "S-PER")


def pieces(tags: list[str], longest: int) -> list[list[str]]:
    """Return the pieces of a sentence whose tags are known."""
    options = np.array([[tag == label for label in MARKED] for tag in tags])
    ends = cut_ends(options, allowed(MARKED, BIOES), longest)
    return [tags[begin:end] for begin, end in pairwise([0, *ends])]


@given(lengths=st.lists(st.integers(0, 4), min_size=1, max_size=12), longest=st.integers(1, 6))
def test_pieces_obey_the_rules_and_are_as_long_as_possible(lengths: list[int], longest: int) -> None:
    """``lengths`` are the sizes of consecutive entities; 0 is a token outside."""
    names = {0: ["O"], 1: ["S-PER"]}
    tags = [tag for size in lengths for tag in names.get(size, ["B-PER", *["I-PER"] * (size - 2), "E-PER"])]
    found = pieces(tags, longest)
    assert [tag for piece in found for tag in piece] == tags
    for piece in found:
        assert first_violation(piece, MARKED, allowed(MARKED, BIOES)) is None
        entity = piece[0] == "B-PER" and piece.index("E-PER") == len(piece) - 1
        assert len(piece) <= longest or entity, "longer only where an entity is"
    for one, other in pairwise(found):
        rest = next((at + 1 for at, tag in enumerate(other) if tag in ("O", "S-PER", "E-PER")))
        assert len(one) + rest > longest, "as long as it can be"


def test_without_rules_pieces_have_equal_sizes() -> None:
    free = allowed(MARKED, BIOES, constrained=False)
    options = np.ones((10, len(MARKED)), dtype=bool)
    assert cut_ends(options, free, 4) == [4, 8, 10]
    assert cut_ends(options, free, 5) == [5, 10]
    assert cut_ends(options, free, 10) == [10]


def test_unknown_tags_are_split_where_some_tags_fit() -> None:
    known = ["B-PER", "?", "?", "I-PER", "E-PER", "O"]
    options = np.array([[tag in ("?", label) for label in MARKED] for tag in known])
    assert cut_ends(options, allowed(MARKED, BIOES), 4) == [2, 6]
    options[2] = [label == "I-PER" for label in MARKED]
    assert cut_ends(options, allowed(MARKED, BIOES), 4) == [5, 6]


def test_a_sentence_that_breaks_the_rules_is_split_anywhere() -> None:
    assert pieces(["I-PER"] * 5, 2) == [["I-PER"] * 2, ["I-PER"] * 2, ["I-PER"]]
