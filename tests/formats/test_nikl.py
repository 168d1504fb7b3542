"""The National Institute's JSON: entities by offset, and sentiment in three structures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.labelled import LabelledSource
from gonie.formats.tagged import TaggedSource, write
from gonie.text.labelled_text import TextOptions
from gonie.text.schemes import PLAIN
from support.format_files import FILES, SYLLABLES, again, plain, texts_again

ENTITIES = FILES / "nikl-ne.json"
SENTIMENT = ("nikl-sa-2020.json", "nikl-absa-2021.json", "nikl-absa-2022.jsonl")


def labelled(source: LabelledSource) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.text, each.labels) for each in source]


# --- named entities --------------------------------------------------------------------------------------


def test_entities_are_where_their_offsets_say() -> None:
    source = TaggedSource(ENTITIES, SYLLABLES)
    first, second = source
    assert first.text == "😀 하나는 3월 2일 강원대에 갔다."
    assert list(zip(first.words, first.tags or (), strict=True))[:5] == [
        ("😀", "O"),
        ("하", "B-PS_NAME"),
        ("나", "I-PS_NAME"),
        ("는", "O"),
        ("3", "B-DT_DAY"),
    ]
    assert (second.text, set(second.tags or ())) == ("비가 왔다.", {"O"})
    assert source.report.skipped == {"empty sentences": 1, "morphemes": 1}
    assert not source.report.misaligned


@pytest.mark.parametrize("name", ["nikl-ne.json", *SENTIMENT])
def test_each_file_is_recognised(name: str) -> None:
    found = identify(FILES / name)
    assert found is not None
    assert found.format.name == "nikl"
    assert found.format.kind == ("tagged sentences" if "-ne" in name else "labelled texts")


def test_writing_and_reading_gives_the_same_sentences(tmp_path: Path) -> None:
    before = plain(list(TaggedSource(ENTITIES, SYLLABLES)))
    assert again(ENTITIES, "nikl", tmp_path / "again.json") == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"begin": 3}, "1: the entity '하나' .PS_NAME. is not the text at 3 to 4: '나'"),
        ({"end": 99}, "1: invalid character offsets: 2 to 99"),
        ({"begin": "2"}, "1: invalid character offsets: '2' to 4"),
        ({"label": None}, "1: the entity '하나'"),
    ],
)
def test_damaged_entities_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    corpus = json.loads(ENTITIES.read_text("utf-8"))
    corpus["document"][0]["sentence"][0]["NE"][0].update(change)
    (tmp_path / "f.json").write_text(json.dumps(corpus), "utf-8")
    with pytest.raises(InputError, match=message):
        list(TaggedSource(tmp_path / "f.json", SYLLABLES))


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"document": {}}, "no list under 'document'"),
        ({"document": [3]}, "document 1 is not an object"),
        ({"document": [{"sentence": [3]}]}, "1: expected a list of objects under 'sentence'"),
        ({"document": [{"sentence": [{"NE": []}]}]}, "1: no key 'form'"),
    ],
)
def test_other_structures_are_refused(corpus: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(json.dumps(corpus), "utf-8")
    with pytest.raises(InputError, match=message):
        list(TaggedSource(tmp_path / "f.json", SYLLABLES).with_options(format="nikl"))


def test_tags_that_are_not_entities_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nikl cannot store tags that are not entities"):
        write(tmp_path / "f", TaggedSource(FILES / "sejong.txt"), "nikl", scheme=PLAIN)


# --- sentiment -------------------------------------------------------------------------------------------


def test_scores_are_the_labels_of_documents() -> None:
    assert labelled(LabelledSource(FILES / SENTIMENT[0])) == [
        ("음악이 참 좋아요 😀\n또 볼래요.", ("2",)),
        ("너무 길고 지루했다.", ("-1",)),
    ]


def test_opinions_are_the_labels_of_documents() -> None:
    assert labelled(LabelledSource(FILES / SENTIMENT[1])) == [
        ("화면은 밝아요 😀 값은 좀 비싸네요.", ("본품#품질:positive", "제품 전체#가격:negative")),
        ("상자가 예뻐요.", ("패키지/구성품#디자인:positive",)),
    ]


def test_opinions_of_the_contest_are_the_labels_of_sentences() -> None:
    source = LabelledSource(FILES / SENTIMENT[2])
    assert labelled(source) == [
        ("화면은 밝은데 값은 좀 비싸네요 😀", ("본품#품질:positive", "제품 전체#가격:negative")),
        ("그냥 쓸 만해요.", ("제품 전체#일반:neutral",)),
    ]
    assert source.report.skipped == {"targets of opinions": 1}


@pytest.mark.parametrize(
    ("column", "labels"),
    [("polarity", ("positive", "negative")), ("category", ("본품#품질", "제품 전체#가격")), (None, ())],
)
def test_a_part_of_the_opinions_can_be_chosen(column: str | None, labels: tuple[str, ...]) -> None:
    options = TextOptions(label_column=column)
    assert next(iter(LabelledSource(FILES / SENTIMENT[1], options))).labels == labels


@pytest.mark.parametrize("name", SENTIMENT)
def test_writing_and_reading_gives_the_same_texts(name: str, tmp_path: Path) -> None:
    after = texts_again(FILES / name, "nikl", tmp_path / "again.json")
    assert [(each.text, each.labels) for each in after] == labelled(LabelledSource(FILES / name))


def test_other_labels_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nikl cannot store the label 'IT과학'"):
        texts_again(FILES / "klue-ynat.json", "nikl", tmp_path / "f.json")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"sentence_form": "가", "annotation": [["a", "b"]]}, "1: expected lists of a category"),
        ({"sentence_form": "가", "annotation": [[3, [None, 0, 0], "x"]]}, "1: invalid opinion: 3, 'x'"),
        ({"sentence_form": None, "annotation": []}, "1: expected a string under 'sentence_form'"),
        ({"document": [{"document_score": 1.5, "paragraph": []}]}, "1: invalid document_score: 1.5"),
        (
            {"document": [{"document_score": 1, "paragraph": [{"form": "가"}]}]},
            "1: no key 'paragraph_form'",
        ),
    ],
)
def test_damaged_sentiment_is_refused(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(json.dumps(row), "utf-8")
    with pytest.raises(InputError, match=message):
        list(LabelledSource(tmp_path / "f.json"))
