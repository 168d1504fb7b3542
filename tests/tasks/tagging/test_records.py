"""Answers of taggers to rows of a file, and the records of these answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.errors import InputError
from gonie.formats.text_rows import TextRow
from gonie.tasks.records import Answered
from gonie.tasks.tagging.records import TagNotes, TagRecords
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.report import Report
from gonie.text.tokenizers.settings import TokenizerSettings
from gonie.text.types import Candidate, Document, Span, Token

TEXTS = ["Anna lives in Seoul .", "", "it rains . we met Cleo Kim and Dora ."] * 40


@pytest.fixture(scope="module")
def tagger(toy_run: Path) -> Tagger:
    found = gonie.load(toy_run)
    assert isinstance(found, Tagger)
    return found


def answers(tagger: Tagger, rows: list[TextRow], **options: Any) -> list[Answered]:
    return list(TagRecords().answering(tagger, options)(rows, _none))


def test_each_row_has_the_tags_of_its_text(tagger: Tagger) -> None:
    rows = [TextRow("f", number, (text,)) for number, text in enumerate(TEXTS)]
    for row, answered in zip(rows, answers(tagger, rows), strict=True):
        assert answered.row == row
        assert answered.found.to_dict() == tagger(row.texts[0]).to_dict()  # scores differ in the last bits
        assert (answered.tokens, answered.notes) == (len(answered.found.tokens), ())
    assert answers(tagger, []) == []


def test_options_set_nbest_and_decoding(tagger: Tagger) -> None:
    texts = ("Anna lives in Seoul .", "", "It rains. We met Cleo Kim.")
    rows = [TextRow("f", number, (text,)) for number, text in enumerate(texts)]
    listed = [answered.found.nbest for answered in answers(tagger, rows, nbest=2)]
    assert listed == [tagger.with_nbest(2)(text).nbest for text in texts]
    (found,) = answers(tagger, rows[:1], decode="posterior", bias={"*": -99.0})
    assert found.found.spans == ()


def test_given_tokens_are_kept(tagger: Tagger) -> None:
    answering = TagRecords().answering(tagger, {"tokenised": True})
    (answered,) = answering([TextRow("f", 1, ("Anna's  home .",))], _none)
    assert [token.text for token in answered.found.tokens] == ["Anna's", "home", "."]
    assert answering.tokenizer_settings == TokenizerSettings("en", "word", tokenised=True)


def test_sentences_of_column_files_are_tagged_again(tagger: Tagger, tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("Anna\tO\nis\tO\n\nSeoul\tO\n")
    answering = TagRecords().answering(tagger, {})
    rows = answering.read(tmp_path / "a.conll", "conll", Report())
    assert [answered.found.text for answered in answering(rows, _none)] == ["Anna is", "Seoul"]


def test_a_tagger_reads_one_column() -> None:
    assert TagRecords().columns({}, ()) == ("text",)
    assert TagRecords().columns({}, ["body"]) == ("body",)
    with pytest.raises(InputError, match="one --column"):
        TagRecords().columns({}, ["a", "b"])


def test_notes_are_shown_immediately_and_counted() -> None:
    notes = TagNotes()
    long = "scored in 2 overlapping windows of 1000 tokens"
    assert list(notes.add([long])) == [long]
    assert list(notes.summary()) == []
    assert list(notes.add(["another note"])) == ["another note"]
    assert list(notes.summary()) == []
    assert list(notes.add([long])) == [long]
    assert list(notes.summary()) == ["2 sentences were scored in overlapping windows"]


def test_a_record_has_offsets_and_rounded_scores() -> None:
    token = Token(text="Ann", start=0, end=3, tag="S-PER", score=0.12345678)
    span = Span(start=0, end=3, label="PER", text="Ann", score=1 / 3)
    found = Document("Ann", (token,), ((0, 1),), (span,)).to_dict()
    assert found == {
        "text": "Ann",
        "spans": [{"start": 0, "end": 3, "label": "PER", "text": "Ann", "score": 0.333333}],
        "tokens": [{"start": 0, "end": 3, "text": "Ann", "tag": "S-PER", "score": 0.123457}],
    }
    assert Document("", notes=("long",)).to_dict()["notes"] == ["long"]


def test_a_record_has_candidates_only_if_requested() -> None:
    """Candidates of long sentences are so unlikely that six decimals would round them to 0."""
    span = Span(start=0, end=3, label="PER", text="Ann")
    unlikely = Candidate(("S-PER",), 1.23456789e-9, (span,))
    found = Document("Ann", nbest=((Candidate(("O",), 2 / 3), unlikely),)).to_dict()["nbest"]
    assert found == [
        [
            {"score": 0.666667, "tags": ["O"], "spans": []},
            {
                "score": 1.23457e-9,
                "tags": ["S-PER"],
                "spans": [{"start": 0, "end": 3, "label": "PER", "text": "Ann"}],
            },
        ]
    ]
    assert Document("", nbest=()).to_dict()["nbest"] == [], "asked for, and there is no sentence"
    assert "nbest" not in Document("Ann").to_dict()


def _none(row: TextRow, error: InputError) -> None:
    raise error


def test_offsets_count_utf16_code_units_on_request(tagger: Tagger) -> None:
    row = TextRow("f", 1, ("👍🏽 Anna lives in Seoul . 🇰🇷 Cleo Kim",))
    plain, utf16 = TagRecords().answering(tagger, {}), TagRecords().answering(tagger, {"offsets": "utf16"})
    (answered,) = utf16([row], _none)
    record, units = utf16.record(answered), row.texts[0].encode("utf-16-le")
    assert record["spans"]
    for place in (*record["spans"], *record["tokens"]):
        assert units[2 * place["start"] : 2 * place["end"]].decode("utf-16-le") == place["text"]
    assert plain.record(answered) == answered.found.to_dict() != record
    assert TagRecords().answering(tagger, {"offsets": "codepoints"}).record(answered) == plain.record(
        answered
    )
    with pytest.raises(InputError, match="unknown offsets: 'bytes'"):
        TagRecords().answering(tagger, {"offsets": "bytes"})
