"""The word lists: a slip in them would silently do nothing."""

from __future__ import annotations

from gonie.text.tokenizers import lexicon

SETS = {name: value for name, value in vars(lexicon).items() if isinstance(value, frozenset)}


def test_words_are_looked_up_in_lower_case_and_so_written():
    for name, words in SETS.items():
        if name != "MAYBE_FUSED":
            assert all(word == word.lower() for word in words), name


def test_case_matters_only_for_known_abbreviations():
    known = lexicon.TITLES | lexicon.BEFORE_NUMBERS | lexicon.ABBREVIATIONS
    assert not lexicon.CAPITALISED_ONLY - known


def test_every_word_fits_the_look_ahead_of_its_shape():
    """``shapes`` looks for at most eight letters before trying these lists."""
    known = lexicon.TITLES | lexicon.BEFORE_NUMBERS | lexicon.ABBREVIATIONS | lexicon.PREFIXES
    assert max(map(len, known)) <= 8


def test_fused_words_are_cut_inside():
    for word, cuts in lexicon.FUSED.items():
        assert all(0 < cut < len(word) for cut in cuts)
        assert list(cuts) == sorted(cuts)
