"""Word lists of the English tokenizer: a malformed entry would silently have no effect."""

from __future__ import annotations

from gonie.text.tokenizers import lexicon

SETS = {name: value for name, value in vars(lexicon).items() if isinstance(value, frozenset)}


def test_words_are_in_lower_case():
    for name, words in SETS.items():
        if name != "MAYBE_FUSED":
            assert all(word == word.lower() for word in words), name


def test_case_matters_only_for_known_abbreviations():
    known = lexicon.TITLES | lexicon.BEFORE_NUMBERS | lexicon.ABBREVIATIONS
    assert not lexicon.CAPITALISED_ONLY - known


def test_no_word_is_longer_than_the_lookahead():
    """``shapes`` looks for at most eight letters before trying these lists."""
    known = lexicon.TITLES | lexicon.BEFORE_NUMBERS | lexicon.ABBREVIATIONS | lexicon.PREFIXES
    assert max(map(len, known)) <= 8


def test_fused_words_are_split_inside_the_word():
    for word, cuts in lexicon.FUSED.items():
        assert all(0 < cut < len(word) for cut in cuts)
        assert list(cuts) == sorted(cuts)
