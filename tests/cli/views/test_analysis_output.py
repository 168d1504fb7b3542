"""Output of morphemes: characters with a meaning in the format must not break it."""

from __future__ import annotations

import json

from gonie.cli.views.analysis_output import as_conll, as_record, as_text
from gonie.text.types import Sentence

TEXT = "C++ 간"
SENTENCE = Sentence(
    words=("C++", "간"),
    columns={"morphemes": ("C\\+\\+/SL", "가/VV+ᆫ/ETM")},
    text=TEXT,
    starts=(0, 4),
    ends=(3, 5),
)


def test_special_characters_are_escaped_and_jamo_are_letters():
    assert as_text(TEXT, [SENTENCE]) == "C\\+\\+/SL 가/VV+ㄴ/ETM\n"
    assert as_conll(TEXT, [SENTENCE]) == "C++\tC\\+\\+\tSL\t0\t3\n간\t가+ㄴ\tVV+ETM\t4\t5\n\n"
    tokens = json.loads(as_record(TEXT, [SENTENCE]))["tokens"]
    assert [each["morphemes"][-1]["form"] for each in tokens] == ["C++", "ㄴ"]


def test_a_text_without_sentences_has_no_lines():
    assert as_text("", []) == as_conll("", []) == ""
    assert json.loads(as_record("", [])) == {"text": "", "sentences": [], "tokens": []}
