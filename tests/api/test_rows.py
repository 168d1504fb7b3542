"""Tests that examples in memory are read like files: lists, frames, tables and datasets."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.api.rows import write_rows
from gonie.errors import InputError
from gonie.formats.labelled import LabelledSource
from gonie.formats.pairs import PairSource
from gonie.formats.tagged import TaggedSource
from gonie.text.labelled_text import LabelledPair, TextOptions

WORDS, TAGS = ["Anna", "Kim", "left", "New York"], ["B-PER", "I-PER", "O", "B-LOC"]
CODES = ["O", "B-PER", "I-PER", "B-LOC"]


def tagged(data: Any, path: Path, **columns: Any) -> list[tuple[tuple[str, ...], tuple[str, ...] | None]]:
    write_rows(data, path / "train.jsonl", task="tag", columns=columns)
    return [(sentence.words, sentence.tags) for sentence in TaggedSource(path / "train.jsonl")]


def labelled(data: Any, path: Path, **columns: Any) -> list[tuple[str, tuple[str, ...]]]:
    write_rows(data, path / "train.jsonl", task="classify", columns=columns)
    options = TextOptions(**{"text_column": "text", "label_column": "label", **columns})
    return [(text.text, text.labels) for text in LabelledSource(path / "train.jsonl", options)]


def test_sentences_keep_every_word_and_tag(tmp_path: Path) -> None:
    odd = ("a b", "\t", "-DOCSTART-", "# x", " ", "한글", '"')
    sentence = gonie.Sentence(words=odd, tags=("X", "B-a b", "I-a b", "O", "E", "?", "가"))
    assert tagged([sentence], tmp_path) == [(sentence.words, sentence.tags)]
    placed = gonie.Sentence(words=("ab", "c"), tags=("O", "X"), text="ab  c.", starts=(0, 4), ends=(2, 5))
    assert tagged([placed], tmp_path) == [(("ab", "c"), ("O", "X"))]


@pytest.mark.parametrize(
    "rows",
    [
        [(WORDS, TAGS)],
        [(tuple(WORDS), tuple(TAGS))],
        [{"id": 1, "tokens": WORDS, "tags": TAGS}],
        [{"words": WORDS, "ner_tags": TAGS, "score": 1.5}],
        ((WORDS, TAGS) for _ in range(1)),
    ],
)
def test_tagged_rows(rows: Any, tmp_path: Path) -> None:
    assert tagged(rows, tmp_path) == [(tuple(WORDS), tuple(TAGS))]


def test_texts_with_spans(tmp_path: Path) -> None:
    tokens = [{"start": 0, "end": 4}, {"start": 5, "end": 9}]
    spans = {"text": "Anna left", "spans": [{"start": 0, "end": 4, "label": "PER"}], "tokens": tokens}
    assert tagged([spans], tmp_path) == [(("Anna", "left"), ("B-PER", "O"))]
    spacy = ("Anna left", {"entities": [(0, 4, "PER")], "tokens": tokens})
    assert tagged([spacy], tmp_path) == [(("Anna", "left"), ("B-PER", "O"))]


def test_sentences_of_one_text_keep_their_part_and_all_their_spans(tmp_path: Path) -> None:
    """Otherwise a text would be read once for each of its sentences, and some spans would be lost."""
    text, path = "Anna left. Seoul slept.", tmp_path / "train.jsonl"
    first = gonie.Sentence(("Anna", "left."), ("B-PER", "O"), {}, text, (0, 5), (4, 10))
    second = gonie.Sentence(
        ("Seoul", "slept."), ("O", "O"), {}, text, (11, 17), (16, 23), unreachable=((11, 14, "LOC"),)
    )
    write_rows([first, second], path, task="tag", columns={})
    found = list(TaggedSource(path))
    assert [each.text for each in found] == ["Anna left.", "Seoul slept."]
    assert [each.unreachable for each in found] == [(), ((0, 3, "LOC"),)]


def test_frames_of_sentences(tmp_path: Path) -> None:
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"tokens": [WORDS, ["x"]], "ner_tags": [TAGS, ["O"]]}
    expected = [(tuple(WORDS), tuple(TAGS)), (("x",), ("O",))]
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns), arrow.table(columns)):
        assert tagged(frame, tmp_path) == expected, type(frame)
    arrow_backed = arrow.table(columns).to_pandas()  # cells are numpy arrays
    assert tagged(arrow_backed, tmp_path) == expected


def test_integer_labels_become_their_names(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "tokens": datasets.Sequence(datasets.Value("string")),
            "pos_tags": datasets.Sequence(datasets.Value("int64")),
            "ner_tags": datasets.Sequence(datasets.ClassLabel(names=CODES)),
        }
    )
    rows = {"tokens": [WORDS], "pos_tags": [[1, 1, 2, 1]], "ner_tags": [[CODES.index(tag) for tag in TAGS]]}
    dataset = datasets.Dataset.from_dict(rows, features=features)
    for data in (dataset, dataset.data.table):
        assert tagged(data, tmp_path, tag_column="ner_tags") == [(tuple(WORDS), tuple(TAGS))]
    with pytest.raises(
        InputError, match=r"several columns.*--tag-column ner_tags \(in a recipe data.tag_column"
    ):
        tagged(dataset, tmp_path)
    with pytest.raises(InputError, match="its keys: train"):
        tagged(datasets.DatasetDict(train=dataset), tmp_path)
    texts = datasets.Dataset.from_dict(
        {"text": ["a", "b", "c"], "label": [1, 0, -1]},
        features=datasets.Features(
            {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["no", "yes"])}
        ),
    )
    assert labelled(texts, tmp_path) == [("a", ("yes",)), ("b", ("no",))]


def test_labelled_texts(tmp_path: Path) -> None:
    expected = [("good", ("pos",)), ("bad\n\tfilm", ("neg",))]
    pairs = [(text, labels[0]) for text, labels in expected]
    assert labelled(pairs, tmp_path) == expected
    assert labelled([gonie.LabelledText(*each) for each in expected], tmp_path) == expected
    rows = [{"question": text, "intent": label, "other": object()} for text, label in pairs]
    assert labelled(rows, tmp_path, text_column="question", label_column="intent") == expected
    assert labelled([gonie.LabelledText("a", ("x", "y")), gonie.LabelledText("b", ("x",))], tmp_path) == [
        ("a", ("x", "y")),
        ("b", ("x",)),
    ]
    marked = gonie.LabelledText("a b", ("x",), (gonie.Span(0, 1, "e1", "a"),))
    assert labelled([marked], tmp_path) == [("<e1>a</e1> b", ("x",))]


def test_frames_of_texts(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame({"text": ["a", "b", "c"], "label": [1, 0, math.nan]})
    assert labelled(frame, tmp_path) == [("a", ("1",)), ("b", ("0",))], "rows without a label are skipped"
    frame["label"] = pandas.Categorical(["x", "y", None])
    assert labelled(frame, tmp_path) == [("a", ("x",)), ("b", ("y",))]
    numbered = pandas.DataFrame([["x", "a"], ["y", "b"]])
    assert labelled(numbered, tmp_path, text_column="1", label_column="0") == [("a", ("x",)), ("b", ("y",))]
    wide = polars.DataFrame({"text": ["a"], "label": ["x"]})
    assert labelled(wide, tmp_path) == [("a", ("x",))]
    with pytest.raises(InputError, match=r"frame\.collect\(\)"):
        labelled(wide.lazy(), tmp_path)


def test_pairs(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"

    def read(data: Any) -> list[tuple[str, str, tuple[str, ...], float | None]]:
        write_rows(data, path, task="pair", columns={})
        return [(pair.first, pair.second, pair.labels, pair.value) for pair in PairSource(path)]

    assert read([("a", "b", "yes")]) == [("a", "b", ("yes",), None)]
    assert read([("a", "b", 3.0)]) == [("a", "b", (), 3.0)]
    assert read([LabelledPair("a", "b", ("yes",))]) == [("a", "b", ("yes",), None)]
    assert read([{"premise": "a", "hypothesis": "b", "label": "no", "id": 7}]) == [("a", "b", ("no",), None)]


@pytest.mark.parametrize(
    ("task", "data", "message"),
    [
        ("tag", [(["a"], ["O", "O"])], "row 1: expected one tag per word, got 1 words, 2 tags"),
        ("tag", [(["a"], ["O"]), ([], [])], "row 2: sentence without words"),
        ("tag", [([""], ["O"])], "row 1: empty word"),
        ("tag", ["Anna left"], "row 1: not a tagged sentence: 'Anna left'"),
        ("tag", [gonie.Sentence(("a",))], "row 1: sentence without tags"),
        ("tag", [{"tokens": ["a"]}], "no column of tags. Name it: --tag-column tags (in a recipe"),
        (
            "tag",
            [{"Sentence #": "Sentence: 1", "Word": "Anna", "POS": "NNP", "Tag": "B-per"}],
            "Pass the path of the CSV file, or gonie.read(path)",
        ),
        (
            "classify",
            [("ham", f"see you at {hour}") for hour in range(20)],
            "x: the labels seem to come first: ('ham', 'see you at 0'). Pass (text, label)",
        ),
        ("tag", [], "no rows in x"),
        ("tag", 3, "cannot read examples from int"),
        ("classify", [{"title": "a", "label": "x"}], "no column 'text'; the columns are title, label"),
        ("classify", [("a", "b", "c")], "row 1: not a labelled text"),
        ("pair", [("a", "b")], "row 1: not a labelled pair"),
        ("language model", ["a"], "trains on files only"),
    ],
)
def test_other_rows_are_refused(task: str, data: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        write_rows(data, tmp_path / "x.jsonl", task=task, columns={})
    assert message in str(caught.value)
    assert not (tmp_path / "x.jsonl").exists()


def test_numbers_of_tags_need_names(tmp_path: Path) -> None:
    """They would be learned as the tags 0 and 1."""
    path, rows = tmp_path / "train.jsonl", [{"tokens": ["George", "lives"], "ner_tags": [1, 0]}]
    with pytest.raises(InputError, match=r"numbers without names.*data.tag_names"):
        write_rows(rows, path, task="tag", columns={})
    with pytest.raises(InputError, match="'ner_tags' has the tag 1, but the names are of 0 to 0"):
        write_rows(rows, path, task="tag", columns={"tag_names": ["O"]})
    write_rows(rows, path, task="tag", columns={"tag_names": ["O", "B-PER"]})
    assert [token["tag"] for token in json.loads(path.read_text("utf-8"))["tokens"]] == ["B-PER", "O"]


def test_sentences_of_word_and_tag_pairs_are_read(tmp_path: Path) -> None:
    """As NLTK has them, also sentences of two words."""
    path = tmp_path / "train.jsonl"
    write_rows([[("George", "B-PER"), ("lives", "O")]], path, task="tag", columns={})
    assert [token["tag"] for token in json.loads(path.read_text("utf-8"))["tokens"]] == ["B-PER", "O"]
