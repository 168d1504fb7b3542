"""Korean particles fit the last sound of the word before them."""

import pytest

from gonie.messages.particles import last_sound, with_particle

TOPIC, SUBJECT, BY = ("은", "는"), ("이", "가"), ("으로", "로")


@pytest.mark.parametrize(
    ("word", "pair", "wanted"),
    [
        ("토큰", TOPIC, "은"),
        ("레시피", TOPIC, "는"),
        ("파일", BY, "로"),
        ("태그", BY, "로"),
        ("말뭉치", SUBJECT, "가"),
        ("3", SUBJECT, "이"),
        ("12", SUBJECT, "가"),
        ("7", BY, "로"),
        ("10", BY, "으로"),
        ("'token'", SUBJECT, "이"),
        ("recipe", SUBJECT, "가"),
        ("label", BY, "로"),
        ("CRF", TOPIC, "는"),
        ("PER", BY, "로"),
        ("FILE", SUBJECT, "이"),
        ("(문장)", TOPIC, "은"),
        ("50%", TOPIC, "는"),
        ("runs/ner", SUBJECT, "가"),
        ("--out", SUBJECT, "이"),
    ],
)
def test_the_particle_fits_the_word(word, pair, wanted):
    assert with_particle(word, pair) == wanted


def test_both_forms_are_written_after_a_text_that_cannot_be_read_aloud():
    assert with_particle("…", TOPIC) == "은(는)"


def test_every_syllable_ends_as_its_unicode_decomposition_does():
    import unicodedata

    for code in range(0xAC00, 0xD7A4):
        jamo = unicodedata.normalize("NFD", chr(code))
        final = jamo[2] if len(jamo) == 3 else ""
        assert last_sound(chr(code)) == ("vowel" if not final else "ㄹ" if final == "ᆯ" else "consonant")
