"""Tests the forms of answers: what is written is read, and everything else is named."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.in_context.answer_formats import FORMATS, LABEL_FORMATS, Mention
from gonie.in_context.examples import Example

TEXT = "Ann met Bo in Oslo."
GOLD = Example(TEXT, ((0, 3, "PER"), (8, 10, "PER"), (14, 18, "LOC")))
FOUND = [("Ann", "PER"), ("Bo", "PER"), ("Oslo", "LOC")]


def pairs(mentions: tuple[Mention, ...]) -> list[tuple[str, str]]:
    return [(mention.text, mention.label) for mention in mentions]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_what_is_written_is_read(name: str, language: str) -> None:
    form = FORMATS[name]
    for example, expected in ((GOLD, FOUND), (Example(TEXT), [])):
        answer = form.write(example, language, several=False)
        for sent in (answer, f"\n{answer} \n"):
            parsed = form.read_spans(sent, TEXT)
            assert (pairs(parsed.mentions), parsed.malformed, parsed.repaired) == (expected, (), ())
        fenced = form.read_spans(f"```\n{answer}\n```", TEXT)
        assert (pairs(fenced.mentions), fenced.malformed) == (expected, ())
        assert fenced.repaired == ("in a code block",)


@given(st.text(max_size=30), st.data())
def test_inline_spans_keep_their_places_in_any_text(text: str, data: st.DataObject) -> None:
    """Unless the text has white space at its ends, which no answer keeps."""
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = [(a, b, "X") for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    answer = FORMATS["inline"].write(Example(text, tuple(spans)), "en", several=False)
    parsed = FORMATS["inline"].read_spans(answer, text)
    if text.strip() == text and text and "```" not in text:
        assert parsed.malformed == ()
        assert [(m.start, m.text) for m in parsed.mentions] == [(a, text[a:b]) for a, b, _ in spans]


@given(st.sampled_from(list(FORMATS)), st.text(alphabet=string.printable + '한<>/[]{}"', max_size=60))
def test_no_answer_raises_an_error(name: str, answer: str) -> None:
    form = FORMATS[name]
    parsed = form.read_spans(answer, TEXT)
    assert all(mention.text.strip() or name == "inline" for mention in parsed.mentions)
    if name in LABEL_FORMATS:
        LABEL_FORMATS[name].read_labels(answer, several=False)
        LABEL_FORMATS[name].read_labels(answer, several=True)


@pytest.mark.parametrize(
    ("name", "answer", "found", "reason"),
    [
        ("json", "", 0, "empty"),
        ("json", "Sure: []", 0, "not valid JSON"),
        ("json", '[{"text": "Ann", "label": "PER"}', 0, "not valid JSON"),
        ("json", '{"text": "Ann", "label": "PER"}', 0, "not a JSON list"),
        ("json", '[{"text": "Ann", "label": "PER"}, {"text": "Bo"}]', 1, "an element is not {text, label}"),
        ("json", '[{"text": "Ann", "label": 1}]', 0, "an element is not {text, label}"),
        ("json", '[{"text": " ", "label": "PER"}]', 0, "an element is not {text, label}"),
        ("json", "[" * 100_000, 0, "not valid JSON"),
        ("lines", " \n", 0, "empty"),
        ("lines", "Here you are\nPER: Ann", 1, "a line is not label: mention"),
        ("lines", "PER:", 0, "a line is not label: mention"),
        ("inline", "", 0, "empty"),
        ("inline", "<PER>Ann met Bo in Oslo.", 0, "a tag is not closed"),
        ("inline", "<PER>Ann</LOC> met Bo in Oslo.", 0, "a tag is not closed"),
        ("inline", "<PER><LOC>Ann</LOC></PER> met Bo in Oslo.", 0, "a tag is not closed"),
        ("inline", "<PER>Ann</PER> meets Bo.", 1, "the text was changed"),
    ],
)
def test_malformed_answers_are_named(name: str, answer: str, found: int, reason: str) -> None:
    parsed = FORMATS[name].read_spans(answer, TEXT)
    assert parsed.malformed == (reason,)
    assert len(parsed.mentions) == found


def test_tags_of_the_text_itself_are_text() -> None:
    text = "<b>Ann</b> left"
    parsed = FORMATS["inline"].read_spans("<b><PER>Ann</PER></b> left", text)
    assert parsed.mentions == (Mention("Ann", "PER", 3),)
    assert parsed.malformed == ()


@pytest.mark.parametrize(
    ("name", "several", "answer", "labels", "malformed"),
    [
        ("json", False, '{"label": "good"}', ("good",), False),
        ("json", False, '"good"', (), True),
        ("json", False, '{"label": ["good"]}', (), True),
        ("json", True, '{"labels": ["a", "b"]}', ("a", "b"), False),
        ("json", True, '{"labels": []}', (), False),
        ("json", True, '{"labels": "a"}', (), True),
        ("lines", False, "good\n", ("good",), False),
        ("lines", False, "good\nbad", (), True),
        ("lines", False, "", (), True),
        ("lines", True, "a\nb", ("a", "b"), False),
        ("lines", True, "None.", (), False),
        ("lines", True, "없음", (), False),
    ],
)
def test_labels_are_read(
    name: str, several: bool, answer: str, labels: tuple[str, ...], malformed: bool
) -> None:
    parsed = LABEL_FORMATS[name].read_labels(answer, several=several)
    assert (parsed.labels, bool(parsed.malformed)) == (labels, malformed)
    if labels:
        written = FORMATS[name].write(Example("x", labels=labels), "en", several=several)
        assert LABEL_FORMATS[name].read_labels(written, several=several).labels == labels
