"""Morpheme features: without them, a verb is a different word with every ending."""

from __future__ import annotations

from gonie.features.encoding import EXTRACTORS
from gonie.features.morpheme_features import MorphemeFeatures
from gonie.text.types import Sentence


def test_features_are_the_morphemes_and_their_tags() -> None:
    sentence = Sentence(("했", "다", "<e1>"), None, {"morphemes": ("하/VV+었/EP", "다/EF", "")})
    assert MorphemeFeatures().extract(sentence) == [["하/VV", "VV", "었/EP", "EP"], ["다/EF", "EF"], []]


def test_escaped_characters_in_a_form_are_restored() -> None:
    sentence = Sentence(("1/2",), None, {"morphemes": (r"1\/2/SN",)})
    assert MorphemeFeatures().extract(sentence) == [["1/2/SN", "SN"]]


def test_tokens_without_an_analysis_have_no_features() -> None:
    assert MorphemeFeatures().extract(Sentence(("a", "b"))) == [[], []]


def test_the_extractor_is_restored_from_json() -> None:
    saved = MorphemeFeatures().to_json()
    assert isinstance(EXTRACTORS[saved["name"]].from_json(saved), MorphemeFeatures)
