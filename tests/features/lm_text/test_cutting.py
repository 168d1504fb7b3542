"""How text is cut, told to another process."""

from __future__ import annotations

import pickle

from gonie.features.lm_text.cutting import Cutting
from gonie.text.tokenizers import EnglishTokenizer


def test_raw_text_is_cut_by_its_language_and_unit() -> None:
    assert isinstance(Cutting("en", "word").tokenizer(), EnglishTokenizer)


def test_tokenised_text_is_cut_at_blanks_alone() -> None:
    (sentence,) = Cutting("ko", "morpheme", tokenised=True).tokenizer()("삼성 전자 는 do n't . Yes .")
    assert sentence.words == ("삼성", "전자", "는", "do", "n't", ".", "Yes", ".")


def test_it_travels_to_another_process() -> None:
    cutting = Cutting("ko", "morpheme", tokenised=True)
    assert pickle.loads(pickle.dumps(cutting)) == cutting


def test_kiwi_is_not_loaded_for_text_that_is_cut() -> None:
    assert Cutting("ko", "morpheme").loads_much
    assert not Cutting("ko", "morpheme", tokenised=True).loads_much
    assert not Cutting("en", "word").loads_much
