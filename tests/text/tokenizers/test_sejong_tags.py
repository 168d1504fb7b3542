"""Sejong tags for Kiwi's: every tag of Kiwi has one, and adverbs are one word."""

from __future__ import annotations

import pytest

from gonie.text.tokenizers.morphemes import format_morpheme
from gonie.text.tokenizers.sejong_tags import sejong_tag, with_sejong_tags
from gonie.text.tokenizers.user_dictionary import TAGS
from gonie.text.types import Sentence

_TAGS = """NNG NNP NNB NR NP VV VA VX VCP VCN MM MAG MAJ IC JKS JKC JKG JKO JKB JKV JKQ JX JC EP EF EC ETN ETM
XPN XSN XSV XSA XR SF SP SS SE SO SW SL SH SN NF NV NA"""
SEJONG = frozenset(_TAGS.split())
"""The tag set of the Sejong corpus."""


def sentence(*words: tuple[str, int, str]) -> Sentence:
    text = " " * max(start + len(word) for word, start, _ in words)
    for word, start, _ in words:
        text = text[:start] + word + text[start + len(word) :]
    return Sentence(
        tuple(word for word, _, _ in words),
        columns={"morphemes": tuple(column for _, _, column in words)},
        text=text,
        starts=tuple(start for _, start, _ in words),
        ends=tuple(start + len(word) for word, start, _ in words),
    )


def test_every_tag_of_kiwi_becomes_one_of_sejong() -> None:
    utils = pytest.importorskip("kiwipiepy.utils")
    own = {*utils._valid_tags, *TAGS} - {"XSM", *(f"USER{number}" for number in range(5))}
    assert {sejong_tag(tag) for tag in own} <= SEJONG
    assert {tag for tag in SEJONG if sejong_tag(tag) != tag} == set()
    assert sejong_tag("USER3") == "USER3"


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("VV-I", "VV"), ("XSA-R", "XSA"), ("SSO", "SS"), ("W_SERIAL", "SN"), ("Z_CODA", "NA")],
)
def test_extensions_become_the_tag_of_the_guidelines(tag: str, expected: str) -> None:
    changed = with_sejong_tags(sentence(("가", 0, format_morpheme("가", tag))))
    assert changed.columns["morphemes"] == (f"가/{expected}",)


def test_an_adverb_and_its_suffix_are_one_word() -> None:
    changed = with_sejong_tags(
        sentence(("요란", 0, "요란/NNG"), ("히", 2, "히/XSM"), ("갔", 4, "가/VV+었/EP"))
    )
    assert changed.words == ("요란히", "갔")
    assert changed.columns["morphemes"] == ("요란히/MAG", "가/VV+었/EP")
    assert changed.offsets() == [(0, 3), (4, 5)]
    apart = with_sejong_tags(sentence(("요란", 0, "요란/NNG"), ("히", 3, "히/XSM")))
    assert apart.columns["morphemes"] == ("요란/NNG", "히/MAG")
