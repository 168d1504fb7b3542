"""Rules of one's own: what they forbid, and what is said of rules that cannot be meant."""

from __future__ import annotations

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.text import schemes
from gonie.text.rules import allowed, first_violation
from gonie.text.schemes import PLAIN, Scheme

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
IOB2 = Scheme(kind="IOB2")


def at(before: str, after: str) -> tuple[int, int]:
    return LABELS.index(before), LABELS.index(after)


def test_without_rules_it_is_the_scheme_alone() -> None:
    for ours, theirs in zip(allowed(LABELS, IOB2), schemes.allowed(LABELS, IOB2), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert all(part.all() for part in allowed(LABELS, IOB2, constrained=False))


def test_a_rule_forbids_one_move_and_no_other() -> None:
    moves, first, last = allowed(LABELS, IOB2, constrained=False, forbidden=["B-PER -> B-PER"])
    assert not moves[at("B-PER", "B-PER")]
    assert moves.sum() == moves.size - 1
    assert first.all()
    assert last.all()


def test_a_star_stands_for_any_characters() -> None:
    moves, _, _ = allowed(LABELS, IOB2, constrained=False, forbidden=["*-PER->?-LOC"])
    forbidden = {(LABELS[i], LABELS[j]) for i, j in np.argwhere(~moves)}
    assert forbidden == {(a, b) for a in ("B-PER", "I-PER") for b in ("B-LOC", "I-LOC")}


def test_the_ends_of_a_sentence_have_rules_too() -> None:
    _, first, last = allowed(LABELS, IOB2, forbidden=["<start> -> B-LOC", "*-PER -> <end>"])
    assert first.tolist() == [True, True, False, False, False]  # the scheme forbids I- at a start anyway
    assert last.tolist() == [True, False, False, True, True]


def test_plain_tags_have_no_scheme_and_may_have_rules() -> None:
    moves, _, _ = allowed(("DET", "VERB"), PLAIN, forbidden=["DET -> VERB"])
    assert moves.tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("rule", ["B-PER", "B-PER ->", "-> O", "<end> -> O", "O -> <start>", ""])
def test_what_is_no_rule_is_refused_with_an_example(rule: str) -> None:
    with pytest.raises(InputError, match="B-PER -> B-LOC"):
        allowed(LABELS, IOB2, forbidden=[rule])


def test_a_rule_for_tags_that_do_not_exist_is_a_slip() -> None:
    with pytest.raises(InputError, match=r"no tag matches 'B-PERS'.*O, B-PER"):
        allowed(LABELS, IOB2, forbidden=["B-PERS -> O"])


def test_rules_must_leave_a_sentence_possible() -> None:
    with pytest.raises(InputError, match="no tag may begin or end a sentence"):
        allowed(LABELS, IOB2, forbidden=["* -> <end>"])


def test_the_first_broken_rule_is_named_as_rules_are_written() -> None:
    rules = allowed(LABELS, IOB2, forbidden=["B-PER -> B-PER", "<start> -> B-LOC", "B-PER -> <end>"])
    assert first_violation(("O", "B-PER", "I-PER"), LABELS, rules) is None
    assert first_violation(("B-PER", "B-PER", "O"), LABELS, rules) == "B-PER -> B-PER"
    assert first_violation(("B-LOC",), LABELS, rules) == "<start> -> B-LOC"
    assert first_violation(("O", "B-PER"), LABELS, rules) == "B-PER -> <end>"
    assert first_violation((), LABELS, rules) is None
