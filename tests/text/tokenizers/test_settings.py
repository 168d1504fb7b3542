"""How text is cut, told to another process."""

from __future__ import annotations

import pickle

from gonie.text.tokenizers import EnglishTokenizer
from gonie.text.tokenizers.settings import TokenizerSettings


def test_raw_text_is_cut_by_its_language_and_unit() -> None:
    assert isinstance(TokenizerSettings("en", "word").tokenizer(), EnglishTokenizer)


def test_tokenised_text_is_cut_at_blanks_alone() -> None:
    cut = TokenizerSettings("ko", "morpheme", tokenised=True).tokenizer()
    (sentence,) = cut("삼성 전자 는 do n't . Yes .")
    assert sentence.words == ("삼성", "전자", "는", "do", "n't", ".", "Yes", ".")


def test_it_travels_to_another_process() -> None:
    cutting = TokenizerSettings("ko", "morpheme", tokenised=True)
    assert pickle.loads(pickle.dumps(cutting)) == cutting


def test_kiwi_is_not_loaded_for_text_that_is_cut() -> None:
    assert TokenizerSettings("ko", "morpheme").needs_much_memory
    assert not TokenizerSettings("ko", "morpheme", tokenised=True).needs_much_memory
    assert not TokenizerSettings("en", "word").needs_much_memory
