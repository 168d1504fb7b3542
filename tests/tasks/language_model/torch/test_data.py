"""Training data of language models: held-out text is not counted, and words are sorted by frequency."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.features.lm_text import FIRST, UNKNOWN
from gonie.tasks.language_model.recipe import PretrainRecipe
from gonie.tasks.language_model.torch.data import PretrainData, read_pretrain_data
from gonie.tasks.recipe import load_recipe

LEARNED = "b a\nb b a\nc b\n"
APART = "rare b\nrare rare rare rare rare\n"


def recipe_of(folder: Path, text: str, *changes: str) -> PretrainRecipe:
    (folder / "text.txt").write_text(text, "utf-8")
    named = f'data.text="{folder / "text.txt"}"'
    return load_recipe("elmo-small", [named, "data.tokenised=true", *changes], command="pretrain")


def read(folder: Path, text: str, *changes: str, vocabulary: list[str] | None = None) -> PretrainData:
    recipe = recipe_of(folder, text, *changes)
    return read_pretrain_data(recipe, folder / "tokens", lambda _: None, vocabulary=vocabulary)


def shown(data: PretrainData) -> list[str]:
    return list(data.vocabulary[FIRST:])


def test_words_only_in_held_out_text_are_not_predicted(tmp_path: Path) -> None:
    """Otherwise no held-out word is unknown, and the perplexity is too optimistic."""
    data = read(tmp_path, LEARNED + APART, "data.holdout=0.4")
    assert shown(data) == ["b", "a", "c"]
    assert (data.train.words, data.heldout.words) == (7, 7)
    assert data.heldout.unknown == pytest.approx(6 / 7)
    assert data.train.unknown == 0


def test_a_held_out_file_equals_a_held_out_end_of_text(tmp_path: Path) -> None:
    (tmp_path / "apart.txt").write_text(APART, "utf-8")
    files = read(tmp_path, LEARNED, f'data.heldout="{tmp_path / "apart.txt"}"')
    end = read(tmp_path, LEARNED + APART, "data.holdout=0.4")
    assert shown(files) == shown(end)
    for one, other in ((files.train, end.train), (files.heldout, end.heldout)):
        np.testing.assert_array_equal(one.targets[one.tokens], other.targets[other.tokens])
        np.testing.assert_array_equal(one.spelled[one.tokens], other.spelled[other.tokens])


def test_a_given_vocabulary_is_used(tmp_path: Path) -> None:
    words = ["<S>", "</S>", "<UNK>", "rare", "b"]
    data = read(tmp_path, LEARNED + APART, "data.holdout=0.4", vocabulary=words)
    assert list(data.vocabulary) == words
    assert data.heldout.unknown == 0


def test_a_vocabulary_is_limited_and_keeps_marks_apart_from_words(tmp_path: Path) -> None:
    data = read(tmp_path, "<S> <S> <S> b b a\nb <S>\na\n", "data.vocabulary=2", "data.holdout=0.3")
    assert shown(data) == ["<S>", "b"]
    assert data.train.targets[data.train.tokens].tolist() == [0, 3, 3, 3, 4, 4, UNKNOWN, 1, 0, 4, 3, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [("a b c\n", "too few sentences to hold one out: 1"), ("a a\na\n", r"fewer than 2 words: 1 \('a'\)")],
)
def test_too_little_text_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)
