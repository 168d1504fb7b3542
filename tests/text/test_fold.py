"""The fold of a text, checked against Unicode's own normalisation and against its definition on clusters."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.fold import _CLUSTER, _Roles, fold, fold_text

PIECES = [
    *"aé한글각ㅋㅎㅏㄴＡ１！　￦～ｶﾞﾟﾡￂ①²ﬁÅक़.\n ",
    *"\u1112\u1161\u11ab\u11a8\u110f\u119e\u1140\u11f0\u115f\u1160",  # jamo, some of them old, and fillers
    *"\u0301\u0323\u0327\u0308\u0344\u3099\u093c\u09be\u0338\ufe0f\u200d",
    "e\u0301",
    "e\u0301\u0327",
    "<\u0338",
    "👨\u200d👩",
    "\ud800",
]
LOOSE = re.compile("[\u1100-\u11ff]")
TEXTS = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(PIECES), max_size=20).map("".join))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", ""),
        ("Plain text.", "Plain text."),
        ("한국 ㅋㅋ ㅎㅏㄴ ① ² ﬁ", "한국 ㅋㅋ ㅎㅏㄴ ① ² ﬁ"),
        (unicodedata.normalize("NFD", "삼성전자는 café"), "삼성전자는 café"),
        ("Ｌ　Ｇ（１２）！", "L G(12)!"),
        ("ｶﾞｷﾟ ﾡￂ", "ガキ\u309a ㄱㅏ"),
        ("\u110f\u110f 고\u116e\u116e 각\u11a8", "ㅋㅋ 고ㅜㅜ 각ㄱ"),
        ("\u1112\u119e\u11ab\u1100\u1161", "\u1112\u119e\u11ab가"),  # old Hangul beside a syllable of today
        ("\u212b", "å".upper()),
    ],
)
def test_variants_of_a_character_are_folded_into_one(text, folded):
    assert fold(text).text == fold_text(text) == folded


def test_offsets_are_those_of_the_text_as_written():
    text = unicodedata.normalize("NFD", "한 é가각") + "Ａ"
    folded = fold(text)
    assert [text[a:b] for a, b in pairwise(folded.places)] == [
        unicodedata.normalize("NFD", character) for character in "한 é가각"
    ] + ["Ａ"]


def test_marks_in_another_order_begin_and_end_together():
    folded = fold("xe\u0301\u0327y")
    assert folded.text == "xȩ\u0301y"
    assert list(folded.places) == [0, 1, 4, 4, 5]


@settings(deadline=None, max_examples=1500)
@given(TEXTS)
def test_folding_is_nfc_with_other_widths_and_compatibility_jamo(text):
    folded = fold(text)
    assert folded.text == fold_text(text)
    assert fold(folded.text) == (folded.text, range(len(folded.text) + 1))  # idempotent
    assert unicodedata.is_normalized("NFC", folded.text)
    if not LOOSE.search(unicodedata.normalize("NFC", text)):
        assert unicodedata.normalize("NFKC", folded.text) == unicodedata.normalize("NFKC", text)


@settings(deadline=None, max_examples=1500)
@given(TEXTS)
def test_canonically_equivalent_texts_have_the_same_fold(text):
    assert fold_text(unicodedata.normalize("NFD", text)) == fold_text(unicodedata.normalize("NFC", text))
    assert fold_text(unicodedata.normalize("NFD", text)) == fold_text(text)


@settings(deadline=None, max_examples=1500)
@given(TEXTS)
def test_offsets_are_monotone_and_cover_the_text(text):
    folded, places = fold(text)
    assert len(places) == len(folded) + 1
    assert (places[0], places[-1]) == (0, len(text))
    assert all(before <= after for before, after in pairwise(places))


@settings(deadline=None, max_examples=1500)
@given(TEXTS, st.data())
def test_a_range_between_clusters_is_the_fold_of_its_original(text, data):
    folded = fold(text)
    firsts = re.finditer("[^J]", folded.text.translate(_Roles()))  # they do not belong to the one before
    cuts = sorted({0, len(folded.text), *(first.start() for first in firsts)})
    start, end = sorted((data.draw(st.sampled_from(cuts)), data.draw(st.sampled_from(cuts))))
    original = text[folded.places[start] : folded.places[end]]
    assert fold_text(original) == folded.text[start:end]


def test_every_character_that_composes_with_the_one_before_is_known():
    """A new version of Unicode may add some; a cluster must not end before them."""
    roles = _Roles()
    for code in range(0x110000):
        character = chr(code)
        parts = unicodedata.normalize("NFD", character)
        if unicodedata.combining(character):
            assert character.translate(roles) == "J", hex(code)
        if unicodedata.normalize("NFC", parts) == character:
            assert set(parts[1:].translate(roles)) <= {"J"}, hex(code)
        if not unicodedata.is_normalized("NFC", character):
            assert _CLUSTER.fullmatch(character.translate(roles)), hex(code)
