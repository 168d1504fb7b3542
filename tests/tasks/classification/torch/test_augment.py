"""Augmented copies of labelled texts: more to learn from, with the labels of the texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gonie.errors import RecipeError
from gonie.tasks.augment import TextAugmentConfig
from gonie.tasks.classification.torch.augment import augmented_texts
from gonie.tasks.classification.torch.data import text_data_key
from gonie.text.labelled_text import LabelledText
from gonie.text.types import Span
from support.copied_data import keys_of_seeds, loaded, prepared, write_data

RECIPE = """
task = "classify"
[data]
train = "{folder}/train.tsv"
dev = "{folder}/train.tsv"
[data.augment]
copies = 2
rate = 0.9
[model.words]
width = 8
[model.bag]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["label\ttext", *["good\tA really Funny film", "bad\tIt was a long and boring film"] * 6]
    return write_data(tmp_path, RECIPE, {"train.tsv": "\n".join(lines) + "\n"})


def test_copies_are_added_to_the_training_texts_alone(folder: Path) -> None:
    clean, _ = prepared(folder, "data.augment.copies=0")
    more, notes = prepared(folder, f"data.augment.file={folder}/copies.jsonl")
    rows = [json.loads(line) for line in (folder / "copies.jsonl").read_text("utf-8").splitlines()]
    assert f"augmented copies: {len(rows)} texts, by kind: typos {len(rows)}" in notes
    assert (len(clean.train), len(more.train)) == (12, 12 + len(rows))
    assert (more.dev, more.labels) == (clean.dev, clean.labels)
    assert more.encoding.to_json() == clean.encoding.to_json()
    for row in rows:
        assert row["labels"] == [
            "good" if "film" in row["original_text"][-16:] and "A " in row["original_text"] else "bad"
        ]
        assert row["text"] != row["original_text"]
    assert rows[0]["original"] == "train.tsv:2"


def test_the_note_about_copies_that_are_left_out_speaks_of_spans_only_of_marked_texts() -> None:
    config = TextAugmentConfig(copies=1, kinds={"case": 1.0})

    def notes(*marks: Span) -> list[str]:
        told: list[str] = []
        texts = [LabelledText("영화 좋다", ("good",), marks)]
        assert augmented_texts(texts, config, seed=1, note=told.append) == []
        return told

    assert notes() == ["augmented copies: left out 1 text that did not change (case 1)"]
    assert notes(Span(0, 2, "e1", "영화")) == [
        "augmented copies: left out 1 text that did not change or lost a span (case 1)"
    ]


def test_copies_of_korean_texts_have_korean_noise(folder: Path) -> None:
    kinds = "data.augment.kinds={laughter = 1.0, typos = 1.0}"
    (folder / "train.tsv").write_text(
        "label\ttext\n" + "good\t정말 재미있는 영화였다\nbad\t지루하고 재미없는 영화 같다\n" * 6, "utf-8"
    )
    _, notes = prepared(folder, "data.language=ko", kinds)
    (told,) = [note for note in notes if note.startswith("augmented copies: ") and "left" not in note]
    assert "laughter" in told
    assert "typos" in told


def test_kinds_for_tagged_words_are_refused(folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"mentions, tokens: only for taggers"):
        loaded(folder, "data.augment.kinds={mentions = 1.0, tokens = 1.0, typos = 1.0}")
    with pytest.raises(RecipeError, match=r"spaces-lost works only with Korean"):
        loaded(folder, "data.augment.kinds={spaces-lost = 1.0}")


def test_a_file_of_another_format_is_refused(folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"data\.augment\.file: texts are written as JSONL"):
        prepared(folder, f"data.augment.file={folder}/copies.tsv")


def test_the_data_depend_on_the_seed_only_with_copies(folder: Path) -> None:
    assert len(keys_of_seeds(text_data_key, folder)) == 2
    assert len(keys_of_seeds(text_data_key, folder, "data.augment.copies=0")) == 1
