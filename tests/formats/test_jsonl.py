"""JSONL with character spans: misaligned spans are listed, and bad records are refused with their line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from gonie.errors import InputError
from gonie.formats import jsonl
from gonie.formats.format import ReadOptions
from gonie.formats.spans import TRIMMED
from gonie.formats.table import FORMATS
from gonie.text.report import Report
from gonie.text.schemes import IOB2, PLAIN, Scheme
from gonie.text.types import Sentence
from support.contents import content


def tokenize(text: str) -> list[Sentence]:
    """Split sentences at periods and tokens at spaces and periods."""
    sentences, words = [], []
    for match in re.finditer(r"[^\s.]+|\.", text):
        words.append(match)
        if match[0] == ".":
            sentences.append(words)
            words = []
    return [
        Sentence(
            words=tuple(m[0] for m in group),
            text=text,
            starts=tuple(m.start() for m in group),
            ends=tuple(m.end() for m in group),
        )
        for group in [*sentences, words]
        if group
    ]


def read(*records: object) -> tuple[list[Sentence], Report]:
    report = Report(path="f")
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records]
    options = ReadOptions(tokenizer=tokenize)
    return list(FORMATS["jsonl"].read(content("\n".join(lines)), options, report)), report


TEXT = "George Bush met Ann. She left."


@pytest.mark.parametrize(
    "spans",
    [
        {"spans": [{"start": 0, "end": 11, "label": "PER"}, {"start": 25, "end": 29, "label": "V"}]},
        {"entities": [[0, 11, "PER"], [25, 29, "V"]]},
    ],
)
def test_spans_become_tags_of_each_sentence(spans: dict[str, object]) -> None:
    sentences, report = read({"text": TEXT, **spans}, "", {"text": "x", "spans": []})
    assert [s.tags for s in sentences] == [
        ("B-PER", "I-PER", "O", "O", "O"),
        ("O", "B-V", "O"),
        ("O",),
    ]
    assert [(s.path, s.line) for s in sentences] == [("f", 1), ("f", 1), ("f", 3)]
    assert (report.sentences, report.tokens, report.misaligned) == (3, 9, [])


def test_without_spans_the_gold_tags_are_unknown() -> None:
    assert read({"text": "a b"})[0][0].tags is None
    assert read({"text": "a b", "spans": []})[0][0].tags == ("O", "O")


def test_misaligned_spans_are_listed() -> None:
    spans = [[1, 6, "A"], [16, 24, "B"], [0, 11, "C"], [7, 11, "D"]]
    sentences, report = read({"text": TEXT, "spans": spans})
    assert sentences[0].tags == ("B-C", "I-C", "O", "O", "O")
    assert [(m.label, m.text, m.line) for m in report.misaligned] == [
        ("A", "eorge", 1),
        ("D", "Bush", 1),
        ("B", "Ann. She", 1),
    ]


def test_spaces_at_the_ends_of_a_span_are_trimmed_and_counted() -> None:
    text = "At IBM  in York"
    sentences, report = read({"text": text, "spans": [[2, 8, "ORG"], [11, 15, "LOC"]]})
    assert sentences[0].tags == ("O", "B-ORG", "O", "B-LOC")
    assert (report.noticed, report.aligned, report.misaligned) == ({TRIMMED: 1}, 2, [])
    assert "1 span with spaces at its ends (trimmed)" in report.lines()


def test_a_span_of_spaces_is_refused() -> None:
    _, report = read({"text": "a  b", "spans": [[1, 3, "X"]]})
    assert not report.noticed
    assert [(m.start, m.end, m.reason) for m in report.misaligned] == [
        (1, 3, "begins at ' ', which is in no token")
    ]


def test_texts_without_tokens_are_skipped_and_counted() -> None:
    sentences, report = read({"text": "  ", "spans": []}, {"text": "a"})
    assert len(sentences) == 1
    assert report.skipped.total() == 1


def test_a_record_may_contain_its_tokens() -> None:
    tokens = [{"start": 0, "end": 3, "tag": "N"}, {"start": 3, "end": 6, "tag": "V"}]
    sentences, _ = read(
        {"text": "abcdef", "tokens": tokens}, {"text": "abcdef", "tokens": [[0, 2]], "spans": []}
    )
    assert (sentences[0].words, sentences[0].tags) == (("abc", "def"), ("N", "V"))
    assert (sentences[1].words, sentences[1].tags) == (("ab",), ("O",))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "f:1: invalid JSON object"),
        ("[" * 100_000, "f:1: invalid JSON object"),
        ("[1]", "f:1: expected a JSON object, got a list"),
        ({"txt": "a"}, r"no key 'text'.*'txt'"),
        ({"text": 5}, "expected a string under 'text', got a number"),
        ({"text": None}, "expected a string under 'text', got null"),
        ({"text": True}, "expected a string under 'text', got true"),
        ({"text": "abc", "spans": {}}, "expected a list under 'spans', got an object"),
        ({"text": "abc", "spans": [[0, 1]]}, r"invalid span: \[0, 1\]"),
        ({"text": "abc", "spans": [{"start": 0, "end": 1}]}, "invalid span"),
        ({"text": "abc", "spans": [[0, 9, "X"]]}, "invalid character offsets: 0 to 9.* end <= 3"),
        ({"text": "abc", "spans": [[2, 2, "X"]]}, "invalid character offsets"),
        ({"text": "abc", "spans": [["0", "1", "X"]]}, "invalid character offsets"),
        ({"text": "abc", "spans": [[False, True, "X"]]}, "invalid character offsets"),
        ({"text": "abc", "tokens": [[0, 2], [1, 3]]}, "tokens overlap or are out of order"),
        ('{"text": "a\\ud800b"}', "lone surrogate"),
    ],
)
def test_bad_records_are_refused_with_their_line(record: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(record)


def test_raw_text_requires_a_tokenizer() -> None:
    with pytest.raises(InputError, match="f:1: raw text requires a tokenizer"):
        list(FORMATS["jsonl"].read(content('{"text": "a"}'), ReadOptions(), Report(path="f")))


# --- writing ---


def write(sentences: list[Sentence], scheme: Scheme = IOB2) -> Iterator[str]:
    assert FORMATS["jsonl"].write is not None
    return (str(piece) for piece in FORMATS["jsonl"].write(sentences, scheme))


def test_sentences_of_a_text_are_written_as_one_record() -> None:
    records = [
        {
            "text": TEXT,
            "spans": [{"start": 0, "end": 11, "label": "PER"}, {"start": 25, "end": 29, "label": "V"}],
        },
        {"text": TEXT, "spans": []},
        {"text": "단 하나", "spans": [{"start": 2, "end": 4, "label": "QT"}]},
        {"text": "no gold"},
    ]
    sentences, _ = read(*records)
    assert [json.loads(line) for line in write(sentences)] == records
    assert "단" in "".join(write(sentences))


def test_other_schemes_and_sentences_without_a_text_are_written() -> None:
    line = next(write([Sentence(("Ann", "Lee", "x"), ("B-P", "E-P", "S-Q"))], scheme=Scheme(kind="BIOES")))
    assert json.loads(line) == {
        "text": "Ann Lee x",
        "tokens": [{"start": 0, "end": 3}, {"start": 4, "end": 7}, {"start": 8, "end": 9}],
        "spans": [{"start": 0, "end": 7, "label": "P"}, {"start": 8, "end": 9, "label": "Q"}],
    }


def test_words_that_a_file_gave_are_written_even_if_their_text_is_known() -> None:
    """Otherwise a converted corpus is split by another tokenizer when it is read."""
    text = "Don't go. Stay."
    given = [
        Sentence(("Don't", "go."), ("B-X", "O"), text=text, starts=(0, 6), ends=(5, 9)),
        Sentence(
            tuple("Stay."), ("O",) * 5, text=text, starts=tuple(range(10, 15)), ends=tuple(range(11, 16))
        ),
    ]
    back, _ = read(*write(given))
    assert [(each.words, each.tags) for each in back] == [
        (("Don't", "go."), ("B-X", "O")),
        (tuple("Stay."), ("O",) * 5),
    ]


def test_plain_labels_are_written_with_the_tokens() -> None:
    line = next(write([Sentence(("ab", "c"), ("N", "V"))], scheme=PLAIN))
    back, _ = read(line)
    assert (back[0].words, back[0].tags) == (("ab", "c"), ("N", "V"))


def test_every_record_is_one_line_of_utf8() -> None:
    assert jsonl.json_line({"a": "나\n"}) == '{"a": "나\\n"}\n'
    half = jsonl.json_line({"a": "half \ud800"})
    assert json.loads(half.encode("utf-8")) == {"a": "half \ud800"}
