"""Tests offsets in UTF-16 code units against encoded text, and against JavaScript if Node.js is installed."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import unicodedata
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.text.types import Candidate, Document, Span, Token
from gonie.text.utf16 import count_utf16, utf16_offsets

TEXTS = (
    "",
    "plain ASCII",
    "삼성전자는 서울에 있다 🙂.",
    unicodedata.normalize("NFD", "삼성전자는 👍🏽 서울에 있다."),
    "flags 🇰🇷🇩🇪 and families 👨‍👩‍👧‍👦, then Seoul",
    "combining marks e\u0301 o\u0323\u0302 and 𝒜 𝔅 \U0001f600",
    "\ufeff𐐷\uffff\U00010000\U0010ffff end",
)


def defined(text: str, offset: int) -> int:
    """Return an offset by definition."""
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def check_all(text: str) -> None:
    convert = utf16_offsets(text)
    wanted = [defined(text, offset) for offset in range(len(text) + 1)]
    assert (
        list(range(len(text) + 1)) if convert is None else [*map(convert, range(len(text) + 1))]
    ) == wanted
    assert (convert is None) == (wanted[-1] == len(text))


@pytest.mark.parametrize("text", TEXTS)
def test_offsets_of_scripts_and_emoji(text: str) -> None:
    check_all(text)


@given(st.text() | st.text(st.characters(min_codepoint=0xFFF0, max_codepoint=0x1F650)))
def test_offsets_equal_the_length_of_the_encoded_prefix(text: str) -> None:
    check_all(text)


def document(text: str, seed: int = 0) -> Document:
    """Return a document with random tokens, spans and n-best spans."""
    chance = random.Random(seed)
    edges = sorted(chance.sample(range(len(text) + 1), min(6, len(text) + 1)))
    places = list(pairwise(edges))
    spans = tuple(Span(start, end, "X", text[start:end]) for start, end in places[::2])
    return Document(
        text=text,
        tokens=tuple(Token(text[start:end], start, end, "O") for start, end in places),
        spans=spans,
        nbest=((Candidate(("O",), 0.5, spans), Candidate(("O",), 0.4)), (Candidate((), 1.0, spans[1:]),)),
    )


def places_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    candidates = [candidate for own in record.get("nbest", ()) for candidate in own]
    return [*record["spans"], *record["tokens"], *(span for each in candidates for span in each["spans"])]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_spans_tokens_and_candidates_of_a_record_are_converted(text: str) -> None:
    before, record = document(text).to_dict(), document(text).to_dict()
    count_utf16(record)
    units = text.encode("utf-16-le")
    for old, new in zip(places_of(before), places_of(record), strict=True):
        assert units[2 * new["start"] : 2 * new["end"]].decode("utf-16-le") == new["text"]
        assert {**new, "start": old["start"], "end": old["end"]} == old


def test_a_record_without_candidates_is_converted() -> None:
    record = Document("🙂 a", tokens=(Token("a", 2, 3),)).to_dict()
    count_utf16(record)
    assert record == {"text": "🙂 a", "spans": [], "tokens": [{"start": 3, "end": 4, "text": "a"}]}


CHECK = """
const records = JSON.parse(require("fs").readFileSync(0, "utf8"));
const wrong = records.flatMap(({text, places}) => places.filter(p => text.slice(p.start, p.end) !== p.text));
console.log(JSON.stringify(wrong));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_javascript_slices_the_spans_and_tokens() -> None:
    records = [document(text, seed).to_dict() for text in TEXTS for seed in range(5)]
    for record in records:
        count_utf16(record)
    given = json.dumps([{"text": record["text"], "places": places_of(record)} for record in records])
    ran = subprocess.run(
        ["node", "-e", CHECK], input=given, capture_output=True, encoding="utf-8", check=True
    )
    assert json.loads(ran.stdout) == []
