"""Noisy copies of labelled texts: more to learn from, with the labels and marks of the texts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gonie.errors import RecipeError
from gonie.tasks.classification.torch.data import text_data_key
from gonie.tasks.classification.torch.noisy_copies import noisy_copies
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import NoiseConfig
from gonie.text.labelled_text import LabelledText
from gonie.text.types import Span
from support.copied_data import keys_of_seeds, loaded, prepared, write_data

RECIPE = """
task = "classify"
[data]
train = "{folder}/train.tsv"
dev = "{folder}/train.tsv"
language = "ko"
[data.noise]
copies = 2
[model.words]
width = 8
[model.bag]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["label\ttext", *["good\t정말 재미있는 영화였다", "bad\t지루하고 재미없는 영화 같다"] * 6]
    return write_data(tmp_path, RECIPE, {"train.tsv": "\n".join(lines) + "\n"})


def copied(texts: list[LabelledText], **kinds: float) -> tuple[list[LabelledText], list[str]]:
    notes: list[str] = []
    return noisy_copies(texts, NoiseConfig(copies=1, kinds=kinds), seed=1, note=notes.append), notes


def test_copies_keep_labels_and_marks() -> None:
    marks = (Span(0, 3, "e1", "영화는"), Span(4, 6, "e2", "정말"))
    text = LabelledText("영화는 정말 좋다", ("good", "new"), marks, "f.tsv", 7)
    found, notes = copied([text] * 20, laughter=1.0, emoji=1.0)
    assert notes == ["noisy copies: 20 texts (data.noise.copies = 1)"]
    assert len({copy.text for copy in found}) > 5
    for copy in found:
        assert (copy.labels, copy.path, copy.line) == (text.labels, "f.tsv", 7)
        assert [copy.text[mark.start : mark.end] for mark in copy.marks] == ["영화는", "정말"]
        assert [mark.text for mark in copy.marks] == ["영화는", "정말"]
    assert found == copied([text] * 20, laughter=1.0, emoji=1.0)[0]


def test_copies_without_a_mark_are_counted() -> None:
    empty = LabelledText("영화 좋다", ("good",), (Span(2, 3, "e1", " "),))
    assert copied([empty], **{"spaces-lost": 1.0}) in (
        (
            [],
            [
                "noisy copies: 0 texts (data.noise.copies = 1)",
                "noisy copies: left out 1 text with an empty mark",
            ],
        ),
    )


def test_copies_are_added_to_the_training_texts_alone(folder: Path) -> None:
    clean, _ = prepared(folder, "data.noise.copies=0")
    noisy, notes = prepared(folder)
    assert (len(clean.train), len(noisy.train)) == (12, 36)
    assert noisy.dev == clean.dev
    assert noisy.encoding.to_json() == clean.encoding.to_json(), (
        "words and n-grams are those of the clean texts"
    )
    assert (noisy.labels, clean.labels) == (Counter(good=6, bad=6),) * 2
    assert any(note.startswith("noisy copies: 24 texts") for note in notes)
    again, _ = prepared(folder)
    assert again.fingerprint(loaded(folder)) == noisy.fingerprint(loaded(folder))


def test_the_data_depend_on_the_seed_only_with_copies(folder: Path) -> None:
    assert len(keys_of_seeds(text_data_key, folder)) == 2
    assert len(keys_of_seeds(text_data_key, folder, "data.noise.copies=0")) == 1


def test_english_and_pairs_are_refused(folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"noise\.copies works only with Korean"):
        loaded(folder, "data.language=en")
    with pytest.raises(RecipeError, match=r"data\.noise.*unknown key"):
        load_recipe("similarity-ko", ["data.noise.copies=1"])
