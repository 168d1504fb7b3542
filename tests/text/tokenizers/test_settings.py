"""Tokenizer settings that are sent to worker processes."""

from __future__ import annotations

import pickle

from gonie.text.tokenizers import EnglishTokenizer
from gonie.text.tokenizers.settings import TokenizerSettings


def test_the_language_and_unit_choose_the_tokenizer() -> None:
    assert isinstance(TokenizerSettings("en", "word").tokenizer(), EnglishTokenizer)


def test_tokenised_text_is_split_only_at_spaces() -> None:
    cut = TokenizerSettings("ko", "morpheme", tokenised=True).tokenizer()
    (sentence,) = cut("삼성 전자 는 do n't . Yes .")
    assert sentence.words == ("삼성", "전자", "는", "do", "n't", ".", "Yes", ".")


def test_settings_can_be_pickled() -> None:
    cutting = TokenizerSettings("ko", "morpheme", tokenised=True)
    assert pickle.loads(pickle.dumps(cutting)) == cutting


def test_only_raw_morphemes_need_much_memory() -> None:
    assert TokenizerSettings("ko", "morpheme").needs_much_memory
    assert not TokenizerSettings("ko", "morpheme", tokenised=True).needs_much_memory
    assert not TokenizerSettings("en", "word").needs_much_memory
