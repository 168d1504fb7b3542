"""Reading tables of texts into training data: splits, folds, cut texts, and the notes about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from gonie.errors import InputError
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch import data as text_data
from gonie.tasks.classification.torch.data import (
    CutTexts,
    TextData,
    passages_of,
    read_text_data,
    text_data_key,
)
from gonie.tasks.recipe import load_recipe
from gonie.text.labelled_text import LabelledText


def loaded(text_toy: Path, *changes: str) -> TextRecipe:
    recipe = load_recipe(text_toy / "texts.toml", changes)
    assert isinstance(recipe, TextRecipe)
    return recipe


def prepared(text_toy: Path, *changes: str) -> tuple[TextData, list[str]]:
    notes: list[str] = []
    return read_text_data(loaded(text_toy, *changes), notes.append), notes


def table(path: Path, *rows: str, header: str = "label\ttext") -> str:
    """Write a training file with these rows and return the change that names it."""
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return f"data.train={path}"


def texts_of(texts: Sequence[LabelledText]) -> Counter[tuple[str, tuple[str, ...]]]:
    return Counter((text.text, text.labels) for text in texts)


# --- splits ----------------------------------------------------------------------------------------------


def test_each_split_is_read_from_its_file_and_described(text_toy: Path) -> None:
    made, notes = prepared(text_toy)
    assert (len(made.train), len(made.dev), len(made.test)) == (60, 20, 20)
    for split, number in {"train": 60, "dev": 20, "test": 20}.items():
        (found,) = [note for note in notes if note.startswith(f"{text_toy}/{split}.tsv\n")]
        assert f"{number} texts" in found
    assert made.labels == {"good": 30, "bad": 30}
    assert made.encoding.labels == ("bad", "good")


def test_without_a_dev_file_some_texts_of_each_label_are_held_out(text_toy: Path) -> None:
    made, notes = prepared(text_toy, "data.dev=none", "data.holdout=0.2")
    assert (len(made.train), len(made.dev)) == (48, 12)
    assert Counter(text.labels[0] for text in made.dev) == {"good": 6, "bad": 6}
    assert any("12 texts of" in note and "data.holdout = 0.2" in note for note in notes)
    _, notes = prepared(text_toy, "data.dev=none", "data.holdout=0")
    assert any(note.startswith("warning: no dev file, and data.holdout = 0: the training") for note in notes)
    other, _ = prepared(text_toy, "data.dev=none", "data.holdout=0.2", "train.seed=2")
    assert texts_of(other.dev) != texts_of(made.dev)


def test_too_few_texts_to_hold_out_is_noted(tmp_path: Path, text_toy: Path) -> None:
    train = table(tmp_path / "t.tsv", "a\tone", "b\ttwo")
    made, notes = prepared(text_toy, train)
    assert len(made.dev) == len(made.train) == 2
    assert any("the training texts are used as dev texts" in note for note in notes)


def folds(text_toy: Path, *changes: str) -> list[TextData]:
    settings = ("data.test=none", "data.dev=none", "data.folds=4", *changes)
    return [prepared(text_toy, *settings, f"data.fold={fold}")[0] for fold in (1, 2, 3, 4)]


def test_folds_are_disjoint_complete_and_independent_of_the_seed(text_toy: Path) -> None:
    """Otherwise texts are both trained on and scored, and seeds are scored on different texts."""
    parts = folds(text_toy)
    held = sum((texts_of(part.test) for part in parts), Counter())
    rows = (line.split("\t") for line in (text_toy / "train.tsv").read_text("utf-8").splitlines()[1:])
    assert held == Counter((text, (label,)) for label, text in rows)
    for part in parts:
        assert len(part.train) + len(part.dev) + len(part.test) == 60
        assert len(part.test) == 15
    again = folds(text_toy, "train.seed=9")
    assert [part.test for part in again] == [part.test for part in parts]
    assert any(one.dev != other.dev for one, other in zip(parts, again, strict=True))


def test_notes_name_the_fold_and_rare_labels(text_toy: Path, tmp_path: Path) -> None:
    train = table(tmp_path / "t.tsv", *["a\tone two"] * 6, *["b\tthree"] * 5, "c\tfour")
    _, notes = prepared(text_toy, train, "data.folds=3", "data.fold=2")
    assert any(note.startswith("fold 2 of 3: 4 texts of") for note in notes)
    assert any("labels with a single text" in note and "'c'" in note for note in notes)


# --- notes and labels ------------------------------------------------------------------------------------


def test_empty_texts_are_counted_and_left_out(text_toy: Path, tmp_path: Path) -> None:
    train = table(tmp_path / "t.tsv", "a\tone", "b\ttwo", "b\t ", "a\t", "a\tthree", "b\tfour")
    made, notes = prepared(text_toy, train, f"data.dev={tmp_path}/t.tsv")
    assert made.labels == {"a": 2, "b": 2}
    assert any("rows with an empty text" in note and "2" in note for note in notes)


def test_several_labels_become_a_matrix(text_toy: Path, tmp_path: Path) -> None:
    rows = ["a|b\tone", "a\ttwo", "\tthree", "b | a\tfour"] * 4
    train = table(tmp_path / "t.tsv", *rows)
    made, _ = prepared(text_toy, train, "data.label_separator=|", f"data.dev={tmp_path}/t.tsv")
    assert made.encoding.multi_label
    assert made.train.labels[:4].tolist() == [[1, 1], [1, 0], [0, 0], [1, 1]]


def test_marks_are_removed_from_texts_and_become_words(text_toy: Path, tmp_path: Path) -> None:
    rows = ["x\tThe <e1>rain</e1> fell", "y\tA <e1>dog</e1> <e2>ran</e2>"] * 5
    made, _ = prepared(text_toy, table(tmp_path / "t.tsv", *rows), 'data.marks=["e1", "e2"]')
    assert all("<" not in text.text for text in made.dev)
    assert {mark.label for text in made.dev for mark in text.marks} <= {"e1", "e2"}
    ids = {mark: made.encoding.words.word_id(mark) for mark in ("<e1>", "</e1>", "<e2>", "</e2>")}
    assert len(set(ids.values())) == 4
    assert min(ids.values()) > 1


def test_labels_unseen_in_training_are_noted(text_toy: Path, tmp_path: Path) -> None:
    """They always count as errors, so the user must know about them."""
    (tmp_path / "dev.tsv").write_text("label\ttext\ngood\ta film\nawful\tno\n", "utf-8")
    _, notes = prepared(text_toy, f"data.dev={tmp_path}/dev.tsv")
    (found,) = [note for note in notes if "in dev" in note]
    assert "is not in the training data" in found
    assert "awful (1)" in found


@pytest.mark.parametrize(
    ("rows", "changes", "message"),
    [
        (["a\tone", "a\ttwo"], [], "only one label: a"),
        (["a\tone", "b\ttwo"], ["data.text_column=review"], "t.tsv:1: no column review; the columns are"),
        (["a\tone", "b\ttwo"], ["data.folds=3"], "Set data.folds from 2 to 2"),
        (["a\t<e1>one", "b\ttwo"], ['data.marks=["e1"]'], "t.tsv:2: unpaired mark"),
        (["\tone", "b\ttwo"], ["data.unlabelled=error"], "t.tsv:2: empty label"),
        (["\tone", "\ttwo"], [], "no text has a label under 'label'"),
        ([f"id{at}\ttext {at}" for at in range(40)], [], "different labels in 40 examples, such as 'id0'"),
    ],
)
def test_unusable_training_files_are_refused(
    rows: list[str], changes: list[str], message: str, text_toy: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        prepared(text_toy, table(tmp_path / "t.tsv", *rows), *changes)
    assert message in str(refused.value)


def test_too_many_labels_are_refused_with_a_hint(
    text_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_data, "MOST_LABELS", 3)
    with pytest.raises(InputError, match=r"more than 3 different labels: 4.*data\.label_column"):
        prepared(text_toy, table(tmp_path / "t.tsv", *[f"l{at}\tsame" for at in range(4)]))


def test_invalid_utf8_is_refused_with_its_line(text_toy: Path, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(b"label\ttext\na\tone\nb\t\xff\xfe\n")
    with pytest.raises(InputError, match=r"t\.tsv:3"):
        prepared(text_toy, f"data.train={tmp_path}/t.tsv")


# --- cutting texts ---------------------------------------------------------------------------------------


def test_cut_texts_are_counted_only_once(text_toy: Path) -> None:
    _, notes = prepared(text_toy, "data.max_tokens=3")
    (found,) = [note for note in notes if "training texts" in note]
    assert "sentences cut to 3 tokens" in found
    assert "60 sentences, 180 tokens" in found


@pytest.mark.parametrize("room", [1, 40, 200])
def test_texts_that_are_cut_again_give_the_same_corpus(
    room: int, text_toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, notes = prepared(text_toy)
    monkeypatch.setattr(text_data, "KEPT", room)
    again, told = prepared(text_toy)
    assert told == notes, "the second pass says nothing new"
    assert again.fingerprint(loaded(text_toy)) == whole.fingerprint(loaded(text_toy))


def test_cut_texts_are_cached_up_to_a_limit(text_toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()
    monkeypatch.setattr(text_data, "KEPT", 3)
    texts = [LabelledText(f"one two {at}", ("a",)) for at in range(5)]
    passages = passages_of(loaded(text_toy))

    def counted(text: LabelledText, report: Any = None) -> Any:
        calls[text.text] += 1
        return passages(text, report)

    cut = CutTexts(texts, counted, lambda text: None)  # type: ignore[arg-type]
    first, second = list(cut), list(cut)
    assert first == second
    assert [calls[text.text] for text in texts] == [1, 2, 2, 2, 2], "the first fills what room there is"
    assert (cut.report.sentences, cut.report.tokens) == (5, 15)


def test_slow_tokenisation_reports_progress(text_toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_data, "NOTE_SECONDS", -1.0)
    _, notes = prepared(text_toy)
    assert any("tokenised 59 of 60 texts" in note for note in notes)


def test_a_cache_gives_the_same_corpus(text_toy: Path, tmp_path: Path) -> None:
    mapped, _ = prepared(text_toy, f"data.cache={tmp_path}/cache")
    assert any((tmp_path / "cache").iterdir())
    plain, _ = prepared(text_toy)
    for name, array in plain.train.sentences.arrays.items():
        assert np.array_equal(array, mapped.train.sentences.arrays[name]), name


def test_the_training_sample_is_spread_over_all_texts(text_toy: Path) -> None:
    made, _ = prepared(text_toy, "train.score_train=6")
    rows = (text_toy / "train.tsv").read_text("utf-8").splitlines()[1:]
    assert [text.text for text in made.sample] == [rows[at].split("\t")[1] for at in range(0, 60, 10)]
    assert len(prepared(text_toy, "train.score_train=500")[0].sample) == 60
    assert prepared(text_toy)[0].sample == ()


# --- the data key and the fingerprint --------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        ("train.seed=9",),
        ("train.seed=9", "data.dev=none"),
        ("data.lowercase=false",),
        ("data.max_tokens=4",),
        ("model.bag.words=[1, 1]",),
        ("model.bag.rate=3",),
        ("model.bag=none",),
        ("model.sentences.encoder.hidden=3",),
        ("model.encoder.hidden=9",),
        ("model.words.width=9",),
        ("model.chars.jamo=true",),
        ('model.features.groups=["spelling"]',),
        ("model.head.weights=balanced",),
        ("train.score_train=5",),
        ("train.lr=0.5",),
        ("data.test=none", "data.folds=3"),
        ("data.test=none", "data.folds=3", "data.fold=2"),
    ],
    ids=" ".join,
)
def test_recipes_with_the_same_data_key_read_the_same_data(text_toy: Path, changes: tuple[str, ...]) -> None:
    """A comparison reads data once per data key; an incomplete key would mix up the data of its runs."""
    one, other = loaded(text_toy), loaded(text_toy, *changes)
    if changes == ("train.seed=9", "data.dev=none"):
        one = loaded(text_toy, "data.dev=none")
    made = [read_text_data(recipe, lambda text: None) for recipe in (one, other)]
    same = text_data_key(one) == text_data_key(other)
    held = [(data.dev, data.test, data.sample, data.fingerprint(one)) for data in made]
    assert same == (held[0] == held[1])


def test_the_fingerprint_changes_with_the_data_and_the_recipe(text_toy: Path, tmp_path: Path) -> None:
    """A run is resumed only with the same recipe and data."""
    recipe = loaded(text_toy)
    made = read_text_data(recipe, lambda text: None)
    prints = {made.fingerprint(recipe), made.fingerprint(loaded(text_toy, "train.lr=0.5"))}
    for split in ("train", "dev", "test"):
        text = (text_toy / f"{split}.tsv").read_text("utf-8").replace("good\t", "bad\t", 1)
        (tmp_path / "other.tsv").write_text(text, "utf-8")
        other = loaded(text_toy, f"data.{split}={tmp_path}/other.tsv")
        prints.add(read_text_data(other, lambda text: None).fingerprint(recipe))
    assert len(prints) == 5


def test_the_data_key_contains_every_key_of_the_data_section(text_toy: Path) -> None:
    read = text_data_key(loaded(text_toy))
    kind: type[BaseModel] = type(loaded(text_toy).data)
    assert all(f'"{name}"' in read for name in kind.model_fields)
