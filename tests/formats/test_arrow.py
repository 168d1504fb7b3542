"""Parquet, Arrow and datasets: what `datasets` and `pandas` wrote is read with its names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.format import ReadOptions
from gonie.formats.labelled import LabelledSource
from gonie.formats.pairs import PairSource
from gonie.formats.tagged import TaggedSource, write
from gonie.text.labelled_text import TextOptions
from gonie.text.schemes import IOB2, PLAIN
from gonie.text.types import Sentence
from support.format_files import FILES, SYLLABLES, again, pairs_again, plain, texts_again

SENTENCES = [
    (
        ("George", "lives", "in", "Mount", "Vernon", "."),
        ("B-PER", "O", "O", "B-LOC", "I-LOC", "O"),
        None,
    ),
    (("하나", "는", "강원도", "로", "갔다", "😀"), ("B-PER", "O", "B-LOC", "O", "O", "O"), None),
    (("It", "rained"), ("O", "O"), None),
]
NAMES = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TEXTS = [
    ("what a film 😀", ("positive",)),
    ("너무 길고, 지루했다.", ("negative",)),
    ('too "long",\ntoo loud', ("negative",)),
]


def labelled(source: LabelledSource) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.text, each.labels) for each in source]


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


# --- datasets --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("hf-ner", "arrow"),
        ("hf-ner/data-00000-of-00001.arrow", "arrow"),
        ("hf-splits/train", "arrow"),
        ("hf-ner.parquet", "parquet"),
    ],
)
def test_tags_get_their_names_from_the_schema(name: str, format: str) -> None:
    source = TaggedSource(FILES / name)
    assert plain(list(source)) == SENTENCES
    assert source.report.choices["format"][0] == format
    assert source.report.choices["names of ner_tags"][0] == ", ".join(NAMES)


def test_numbers_in_json_need_the_names_of_the_tags() -> None:
    source = TaggedSource(FILES / "hf-ner.jsonl", ReadOptions(tag_names=NAMES))
    assert plain(list(source)) == SENTENCES
    with pytest.raises(InputError, match=r"hf-ner.jsonl:1: .*numbers without names.*--tag-names"):
        list(TaggedSource(FILES / "hf-ner.jsonl"))
    with pytest.raises(InputError, match="'ner_tags' has the tag 3, but the names are of 0 to 2"):
        list(TaggedSource(FILES / "hf-ner.jsonl", ReadOptions(tag_names=NAMES[:3])))


def test_lists_in_csv_are_refused_with_what_to_write_instead() -> None:
    with pytest.raises(InputError, match=r"columns tokens, ner_tags, whose cells are lists.*to_parquet"):
        list(TaggedSource(FILES / "hf-ner.csv"))


@pytest.mark.parametrize("name", ["hf-texts", "hf-texts.parquet"])
def test_labels_get_their_names_from_the_schema_and_minus_one_is_none(name: str) -> None:
    source = LabelledSource(FILES / name)
    assert labelled(source) == TEXTS
    assert source.report.skipped == {"texts without a label": 1}


@pytest.mark.parametrize("name", ["hf-texts.jsonl", "hf-texts.csv"])
def test_minus_one_is_pointed_out_where_there_is_no_schema(name: str) -> None:
    source = LabelledSource(FILES / name)
    assert [labels for _, labels in labelled(source)] == [("1",), ("0",), ("0",), ("-1",)]
    assert source.report.noticed == {"texts with the label -1, which Hugging Face datasets write for none": 1}


def test_several_labels_are_a_list() -> None:
    assert labelled(LabelledSource(FILES / "hf-several.parquet")) == [
        ("fast, but loud", ("speed", "noise")),
        ("값이 싸다", ("price",)),
        ("a box", ()),
    ]


def test_labels_inside_spans_get_their_names() -> None:
    first, second = TaggedSource(FILES / "hf-spans.parquet", SYLLABLES)
    assert first.tags == ("B-PER", "I-PER", "O", "B-LOC", "I-LOC", "I-LOC", "O", "O", "O")
    assert (second.text, set(second.tags or ())) == ("비가 왔다 😀", {"O"})


def test_characters_with_spaces_are_read_as_in_a_klue_file() -> None:
    (sentence,) = TaggedSource(FILES / "hf-klue-ner.parquet")
    assert sentence.words == ("하", "나", "는", "강", "원", "도", "로")
    assert sentence.tags == ("B-PS", "I-PS", "O", "B-LC", "I-LC", "I-LC", "O")
    assert (sentence.text, sentence.offsets()[3]) == ("하나는 강원도로", (4, 5))


@pytest.mark.parametrize("source", [TaggedSource, LabelledSource, PairSource])
def test_a_folder_with_splits_names_them(source: Any) -> None:
    with pytest.raises(InputError, match=r"2 datasets: test, train. Name one of them: .*hf-splits/train"):
        list(source(FILES / "hf-splits"))


def test_datasets_of_another_kind_are_named() -> None:
    with pytest.raises(InputError, match="a file of labelled texts, not of tagged sentences"):
        list(TaggedSource(FILES / "hf-texts"))
    with pytest.raises(InputError, match="a file of tagged sentences, not of labelled texts"):
        list(LabelledSource(FILES / "hf-ner.parquet"))


def test_relations_and_similarity_of_the_hub_are_recognised(tmp_path: Path) -> None:
    relations = parquet(tmp_path / "re.parquet", json.loads((FILES / "klue-re.json").read_text("utf-8")))
    assert [len(each.marks) for each in LabelledSource(relations)] == [2, 2, 2]
    pairs = parquet(tmp_path / "sts.parquet", json.loads((FILES / "klue-sts.json").read_text("utf-8")))
    assert [pair.value for pair in PairSource(pairs)] == [4.2, 0.0]


# --- missing values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("tags", [None, [None, None], [-1, -1]])
def test_rows_without_tags_are_sentences_without_tags(tags: Any, tmp_path: Path) -> None:
    words = ["It", "rained"]
    rows = [{"tokens": words, "ner_tags": [0, 0]}, {"tokens": words, "ner_tags": tags}]
    path = parquet(tmp_path / "f.parquet", rows)
    found = [each.tags for each in TaggedSource(path, ReadOptions(tag_names=NAMES))]
    assert found == [("O", "O"), None]


def test_a_partly_tagged_row_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path / "f.parquet", [{"tokens": ["It", "rained"], "ner_tags": ["O", None]}])
    with pytest.raises(InputError, match=r"f.parquet:1: expected a list of tags under 'ner_tags'"):
        list(TaggedSource(path))


def test_the_first_row_may_have_missing_values(tmp_path: Path) -> None:
    rows = [{"text": None, "label": None}, {"text": "a", "label": "b"}]
    assert labelled(LabelledSource(parquet(tmp_path / "f.parquet", rows))) == [("a", ("b",))]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "f.json").write_text(json.dumps(rows), "utf-8")
    for name in ("f.parquet", "f.jsonl", "f.json"):
        found = identify(tmp_path / name)
        assert found is not None
        assert found.format.kind == "labelled texts"


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    schema = pa.schema([("tokens", pa.list_(pa.string())), ("ner_tags", pa.list_(pa.int64()))])
    pyarrow.parquet.write_table(schema.empty_table(), tmp_path / "f.parquet")
    with pytest.raises(InputError, match=r"f.parquet: the table has no rows"):
        list(TaggedSource(tmp_path / "f.parquet"))


# --- pandas ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet", "feather"])
def test_tables_of_pandas_are_read_and_missing_values_counted(suffix: str) -> None:
    source = LabelledSource(FILES / f"pandas-missing.{suffix}")
    assert labelled(source) == TEXTS[:2]
    assert source.report.skipped == {"rows with an empty text": 1, "texts without a label": 1}
    assert source.report.choices["label column"][0] == "sentiment"


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet", "feather"])
def test_whole_numbers_that_pandas_made_decimal_are_labels(suffix: str) -> None:
    source = LabelledSource(FILES / f"pandas-missing.{suffix}", TextOptions(label_column="stars"))
    assert [labels for _, labels in labelled(source)] == [("5",), ("1",)]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_0_and_1_are_labels(suffix: str) -> None:
    options = TextOptions(label_column=("speed", "noise", "price"))
    assert labelled(LabelledSource(FILES / f"pandas-one-hot.{suffix}", options)) == [
        ("fast, but loud 😀", ("speed", "noise")),
        ("값이 싸다", ("price",)),
        ("a box", ()),
    ]


def test_columns_in_json_are_refused_with_the_option_of_pandas(tmp_path: Path) -> None:
    """This is what ``to_json`` of pandas writes without options."""
    table = {"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}}
    (tmp_path / "f.json").write_text(json.dumps(table), "utf-8")
    with pytest.raises(InputError, match=r"JSON object of columns: text, label.*orient='records'"):
        list(LabelledSource(tmp_path / "f.json"))


# --- writing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["parquet", "arrow", "json", "jsonl"])
@pytest.mark.parametrize("name", ["hf-ner.parquet", "hf-spans.parquet", "klue-ner.tsv", "nikl-ne.json"])
def test_sentences_are_written_and_read_again(name: str, to: str, tmp_path: Path) -> None:
    before = [(words, tags) for words, tags, _ in plain(list(TaggedSource(FILES / name, SYLLABLES)))]
    after = again(FILES / name, to, tmp_path / f"again.{to}")
    assert [(words, tags) for words, tags, _ in after] == before


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_parts_of_speech_are_written_and_read_again(to: str, tmp_path: Path) -> None:
    before = [each[:2] for each in plain(list(TaggedSource(FILES / "sejong.txt")))]
    write(tmp_path / "f", TaggedSource(FILES / "sejong.txt"), to, scheme=PLAIN)
    assert [each[:2] for each in plain(list(TaggedSource(tmp_path / "f")))] == before


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_sentences_with_and_without_tags_can_be_mixed(to: str, tmp_path: Path) -> None:
    sentences = [Sentence(("It", "rained"), ("O", "B-X")), Sentence(("It", "snowed"))]
    write(tmp_path / "f", sentences, to, scheme=IOB2)
    assert [each[:2] for each in plain(list(TaggedSource(tmp_path / "f")))] == [
        (("It", "rained"), ("O", "B-X")),
        (("It", "snowed"), None),
    ]


@pytest.mark.parametrize("to", ["parquet", "arrow", "json", "jsonl"])
@pytest.mark.parametrize("name", ["hf-texts.parquet", "hf-several.parquet", "klue-ynat.json"])
def test_texts_are_written_and_read_again(name: str, to: str, tmp_path: Path) -> None:
    """One label is written to a column, several to another one, and no row may lose either."""
    before = labelled(LabelledSource(FILES / name))
    found = texts_again(FILES / name, to, tmp_path / f"again.{to}")
    assert [(each.text, each.labels) for each in found] == before


@pytest.mark.parametrize("to", ["parquet", "arrow"])
@pytest.mark.parametrize("name", ["klue-nli.json", "klue-sts.json"])
def test_pairs_are_written_and_read_again(name: str, to: str, tmp_path: Path) -> None:
    before = [(pair.first, pair.second, pair.labels, pair.value) for pair in PairSource(FILES / name)]
    found = pairs_again(FILES / name, to, tmp_path / f"again.{to}")
    assert [(pair.first, pair.second, pair.labels, pair.value) for pair in found] == before


# --- damage ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, 200, 700, 1200])
@pytest.mark.parametrize("name", ["hf-ner.parquet", "hf-ner/data-00000-of-00001.arrow"])
def test_truncated_files_are_refused(name: str, size: int, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes((FILES / name).read_bytes()[:size])
    with pytest.raises(InputError, match=r"f: damaged file: .*Write it again"):
        list(TaggedSource(tmp_path / "f"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("state.json", "{"),
        ("state.json", "{}"),
        ("state.json", "[]"),
        ("state.json", '{"_data_files": []}'),
        ("state.json", '{"_data_files": [{"filename": "other.arrow"}]}'),
        ("data-00000-of-00001.arrow", ""),
    ],
)
def test_damaged_folders_are_refused(name: str, content: str, tmp_path: Path) -> None:
    shutil.copytree(FILES / "hf-ner", tmp_path / "saved")
    (tmp_path / "saved" / name).write_text(content, "utf-8")
    with pytest.raises(InputError, match="saved: damaged file"):
        list(TaggedSource(tmp_path / "saved"))
