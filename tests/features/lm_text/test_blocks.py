"""Blocks of paragraphs: all paragraphs in order, and token ids that represent their sentences."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.features.lm_text import blocks as module
from gonie.features.lm_text.blocks import blocks, tokenised
from gonie.features.lm_text.stream import BEGIN, END, FIRST
from gonie.text.tokenizers import tokenizer

ENGLISH = tokenizer(language="en", unit="word")


@settings(deadline=None)
@given(st.lists(st.text(max_size=5)), st.integers(1, 12))
def test_blocks_contain_every_paragraph_in_order(paragraphs: list[str], size: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "SIZE", size)
        cut = list(blocks(paragraphs))
    assert [paragraph for block in cut for paragraph in block] == paragraphs
    assert all(sum(map(len, block[:-1])) < size for block in cut)
    assert all(sum(map(len, block)) >= size for block in cut[:-1])


@settings(deadline=None)
@given(st.lists(st.text("ab. \n", max_size=30)), st.integers(1, 5))
def test_ids_represent_the_sentences(paragraphs: list[str], most: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "MOST_TOKENS", most)
        block = tokenised(paragraphs, ENGLISH)
    sentences = [list(sentence.words) for text in paragraphs for sentence in ENGLISH(text)]
    pieces = [words[at : at + most] for words in sentences for at in range(0, len(words), most)]
    names = {BEGIN: "<", END: ">", **dict(enumerate(block.forms, FIRST))}
    assert [names[id] for id in block.tokens.tolist()] == [
        word for piece in pieces for word in ("<", *piece, ">")
    ]
    assert block.tokens.dtype == np.int32
    assert block.cut == sum(len(words) > most for words in sentences)
    assert block.words == sum(map(len, sentences))
    assert block.counts.tolist() == [
        block.tokens.tolist().count(id) for id in range(FIRST + len(block.forms))
    ]


def test_forms_are_in_order_of_first_occurrence() -> None:
    assert tokenised(["b a b", "c a"], ENGLISH).forms == ["b", "a", "c"]


def test_text_is_folded() -> None:
    written = unicodedata.normalize("NFD", "Café ＬＧ")
    assert tokenised([written, "Café LG"], ENGLISH).forms == ["Café", "LG"]
