"""Limits on long texts: memory is bounded, and cuts are noted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.tasks.classification import long_texts
from gonie.tasks.classification.long_texts import bounded, searched
from gonie.text.passages import Passage
from gonie.text.report import Report
from gonie.text.types import Sentence


def passage(lengths: list[int]) -> Passage:
    return Passage(tuple(map(sentence, lengths)), "")


def sentence(n: int) -> Sentence:
    starts, ends = tuple(range(n)), tuple(range(1, n + 1))
    return Sentence(("w",) * n, None, {"morphemes": ("w/NNG",) * n}, "w" * n, starts, ends)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_as_many_sentences_as_fit_are_kept(lengths: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_texts, "LONGEST", 40)
        patch.setattr(long_texts, "CELLS", 200)
        report = Report()
        kept = [len(each) for each in bounded(passage(lengths), report).sentences]
    short = [min(length, 40) for length in lengths]
    assert kept == short[: len(kept)]
    assert len(kept) * max(kept) <= 200
    more = short[: len(kept) + 1]
    assert len(kept) == len(short) or len(more) * max(more) > 200
    assert bool(report.noticed) == (kept != lengths)


def test_columns_and_offsets_are_cut_with_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_texts, "LONGEST", 3)
    assert bounded(passage([5]), Report()).sentences == (replace(sentence(3), text="wwwww"),)


def test_an_ordinary_text_is_not_changed() -> None:
    report, given = Report(), passage([30, 1, 400])
    assert bounded(given, report) == given
    assert not report.noticed


def test_a_text_is_searched_for_n_grams_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search takes a hundred bytes per character, so a book would take gigabytes."""
    monkeypatch.setattr(long_texts, "CHARACTERS", 5)
    report = Report()
    assert searched(Passage((sentence(1),), "abcdef"), report).running == "abcde"
    assert list(report.noticed) == ["texts searched for n-grams in their first 5 characters"]
    report = Report()
    assert searched(Passage((sentence(1),), "abcde"), report).running == "abcde"
    assert not report.noticed
