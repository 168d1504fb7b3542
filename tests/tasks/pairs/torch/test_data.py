"""Reading pair files into training data. If these break, a model may be trained on its dev pairs."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.formats.pairs import PairColumns
from gonie.tasks.pairs.encoding import VALUE, ValueScale
from gonie.tasks.pairs.recipe import PairRecipe
from gonie.tasks.pairs.torch.data import PairData, pair_data_key, read_pair_data, read_pair_dev
from gonie.tasks.recipe import load_recipe


def recipe_of(path: Path, *changes: str) -> PairRecipe:
    found = load_recipe(path, changes)
    assert isinstance(found, PairRecipe)
    return found


def table(path: Path, *rows: str, header: str = "text\ttext_pair\tlabel") -> str:
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return f"data.train={path}"


def read(path: Path, *changes: str) -> tuple[PairData, str]:
    """Return the data and the notes about it."""
    notes: list[str] = []
    return read_pair_data(recipe_of(path, *changes), notes.append), "\n".join(notes)


ALONE = ("data.dev=none", "data.test=none")
TWO = ("a b\tc d\tyes", "e f\tg h\tno")


def test_labels_are_counted_and_their_pairs_encoded(pair_toy: Path) -> None:
    data, told = read(pair_toy / "labels.toml")
    assert data.columns == PairColumns("sentence1", "sentence2", "label", None)
    assert data.encoding.texts.labels == ("other", "same")
    assert data.encoding.scale is None
    assert (len(data.train), len(data.dev), len(data.test)) == (60, 20, 20)
    assert data.labels.total() == 60
    rows = (pair_toy / "labels-train.tsv").read_text("utf-8").splitlines()[1:]
    gold = [row.rpartition("\t")[2] for row in rows]
    assert data.labels == Counter(gold)
    found = [data.encoding.texts.labels[label] for label in data.train.labels]
    assert found == gold
    assert "labels-train.tsv" in told
    assert "60 pairs, 900 tokens" in told
    assert "sentences" not in told
    assert "sentence1 and sentence2" in told


def test_the_scale_comes_from_the_file_or_the_recipe(pair_toy: Path) -> None:
    data, told = read(pair_toy / "values.toml")
    rows = (pair_toy / "values-train.tsv").read_text("utf-8").splitlines()[1:]
    gold = [float(row.rpartition("\t")[2]) for row in rows]
    assert data.encoding.scale == (min(gold), max(gold))
    assert data.encoding.texts.labels == (VALUE,)
    np.testing.assert_allclose(data.train.labels, gold, rtol=1e-6)
    assert data.labels.total() == 60
    assert len(data.labels) <= 5
    wide, wide_told = read(pair_toy / "values.toml", "data.scale=[-5, 10]")
    assert wide.encoding.scale == ValueScale(-5.0, 10.0)
    assert f"scale: {min(gold):g} to {max(gold):g}, the lowest and highest value of the training" in told
    assert "scale: -5 to 10, as set in data.scale" in wide_told


@pytest.mark.parametrize(
    ("rows", "changes", "told"),
    [
        (["a\tb\t1", "c\td\t1"], [], "all values are 1: there is nothing to learn"),
        (
            ["a\tb\t1", "c\td\t7"],
            ["data.scale=[0, 5]"],
            r"t\.tsv:3: the value 7 lies outside data.scale, 0 to 5",
        ),
        (["a\tb\t-1", "c\td\t2"], ["data.scale=[0, 5]"], "Correct the value, or widen data.scale"),
    ],
)
def test_values_that_cannot_be_learned_are_refused(
    rows: list[str], changes: list[str], told: str, pair_toy: Path, tmp_path: Path
) -> None:
    train = table(tmp_path / "t.tsv", *rows, header="text\ttext_pair\tvalue")
    with pytest.raises(InputError, match=told):
        read(pair_toy / "values.toml", train, *ALONE, *changes)


def test_fractions_in_a_column_of_labels_are_taken_for_values(pair_toy: Path, tmp_path: Path) -> None:
    train = table(tmp_path / "t.tsv", "a\tb\t3.25", "c\td\t4", "e\tf\t4")
    arguments = [pair_toy / "labels.toml", train, *ALONE, "data.holdout=0"]
    with pytest.raises(InputError, match=r"label are numbers, such as 3\.25.*--set data\.value_column=label"):
        read(*arguments)
    values, told = read(*arguments, "data.value_column=label")
    assert "warning: no dev file, and data.holdout = 0: the training pairs are used as dev pairs" in told
    assert values.encoding.scale == (3.25, 4.0)
    classes, _ = read(*arguments, "data.label_column=label")
    assert set(classes.encoding.texts.labels) == {"3.25", "4"}
    table(tmp_path / "t.tsv", "a\tb\t1", "c\td\t2.0")
    whole, _ = read(*arguments)
    assert set(whole.encoding.texts.labels) == {"1", "2.0"}


@pytest.mark.parametrize("labels", [["yes"] * 4, []])
def test_fewer_than_two_labels_are_refused(labels: list[str], pair_toy: Path, tmp_path: Path) -> None:
    train = table(tmp_path / "t.tsv", *(f"a\tb\t{label}" for label in labels))
    with pytest.raises(InputError, match=r"t\.tsv: (expected 2 to|no pairs)"):
        read(pair_toy / "labels.toml", train, *ALONE, "data.holdout=0")


def test_too_many_labels_are_refused_with_a_hint(pair_toy: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("gonie.tasks.pairs.torch.data.MOST_LABELS", 5)
    train = table(tmp_path / "t.tsv", *(f"a\tb\t{number}" for number in range(9)))
    with pytest.raises(InputError, match=r"got 9, such as 0, 1, 2.*--set data\.label_column=NAME"):
        read(pair_toy / "labels.toml", train, *ALONE, "data.holdout=0")


@pytest.mark.parametrize(("kind", "gold"), [("labels", "label"), ("values", "score")])
def test_held_out_pairs_are_not_trained_on(kind: str, gold: str, pair_toy: Path, tmp_path: Path) -> None:
    rows = [
        f"first {word}\tsecond {word}\t{('same', 'other')[number % 2] if kind == 'labels' else number}"
        for number, word in enumerate(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40))
    ]
    train = table(tmp_path / "t.tsv", *rows, header=f"text\ttext_pair\t{gold}")
    data, told = read(pair_toy / f"{kind}.toml", train, *ALONE, "data.holdout=0.25")
    assert (len(data.train), len(data.dev), len(data.test)) == (30, 10, 0)
    assert "held out 10 pairs of" in told
    held = {pair.first.split()[1] for pair in data.dev}
    known = set(data.encoding.texts.words.words.strings)
    assert len(held) == 10
    assert not held & known
    assert len([word for word in known if word.startswith("w")]) == 30
    recipe = recipe_of(pair_toy / f"{kind}.toml", train, *ALONE, "data.holdout=0.25")
    again = read_pair_dev(recipe, lambda text: None)
    assert list(again) == list(data.dev), "an export is proved on the same pairs"
    if kind == "labels":
        assert Counter(pair.labels[0] for pair in data.dev) == {"same": 5, "other": 5}


def test_scoring_the_training_pairs_is_noted(pair_toy: Path, tmp_path: Path) -> None:
    data, told = read(pair_toy / "labels.toml", table(tmp_path / "t.tsv", *TWO), *ALONE)
    assert "too few pairs to hold out: the training pairs are used as dev pairs" in told
    assert [pair.first for pair in data.dev] == ["a b", "e f"]


def test_labels_unseen_in_training_are_noted(pair_toy: Path, tmp_path: Path) -> None:
    table(tmp_path / "dev.tsv", "a\tb\tmaybe", "a\tb\tsame")
    _, told = read(pair_toy / "labels.toml", f"data.dev={tmp_path}/dev.tsv")
    assert "1 label in dev is not in" in told
    assert "maybe (1)" in told


def test_each_file_has_its_own_columns_unless_they_are_set(pair_toy: Path, tmp_path: Path) -> None:
    """The files of a corpus sometimes come from different releases."""
    table(tmp_path / "dev.tsv", "a\tb\tsame", header="premise\thypothesis\tgold_label")
    data, _ = read(pair_toy / "labels.toml", f"data.dev={tmp_path}/dev.tsv")
    assert len(data.dev) == 1
    with pytest.raises(InputError, match="no columns sentence1 and sentence2"):
        read(
            pair_toy / "labels.toml",
            f"data.dev={tmp_path}/dev.tsv",
            'data.text_columns=["sentence1", "sentence2"]',
        )


def test_slow_tokenising_is_noted_in_pairs(pair_toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gonie.tasks.classification.torch.data.NOTE_SECONDS", -1.0)
    _, told = read(pair_toy / "labels.toml")
    assert "of 60 pairs" in told


def test_long_texts_are_cut_and_noted(pair_toy: Path) -> None:
    data, told = read(pair_toy / "labels.toml", "data.max_tokens=5")
    assert data.train.batch(np.arange(60))["mask"].shape == (120, 5)
    assert "cut to 5 tokens" in told
    _, whole = read(pair_toy / "labels.toml")
    assert "cut to" not in whole


def test_a_cache_gives_the_same_corpus(pair_toy: Path, tmp_path: Path) -> None:
    plain, _ = read(pair_toy / "values.toml")
    cached, _ = read(pair_toy / "values.toml", f"data.cache={tmp_path}/cache")
    rows = np.arange(60)
    for name, array in plain.train.batch(rows).items():
        assert np.array_equal(cached.train.batch(rows)[name], array), name


def test_the_fingerprint_depends_on_the_content(pair_toy: Path, tmp_path: Path) -> None:
    """A run must not be resumed with other data."""
    same = tmp_path / "same.tsv"
    same.write_bytes((pair_toy / "labels-train.tsv").read_bytes())
    recipe = recipe_of(pair_toy / "labels.toml")
    first = read_pair_data(recipe, lambda text: None).fingerprint(recipe)
    assert read_pair_data(recipe, lambda text: None).fingerprint(recipe) == first
    for kind, split in itertools.product(("labels", "values"), ("train", "dev", "test")):
        recipe = recipe_of(pair_toy / f"{kind}.toml")
        before = read_pair_data(recipe, lambda text: None).fingerprint(recipe)
        changed = tmp_path / f"{split}.tsv"
        header, *rows = (pair_toy / f"{kind}-{split}.tsv").read_text("utf-8").splitlines()
        gold = rows[0].split("\t")
        gold[2] = {"same": "other", "other": "same"}.get(gold[2], "2.5")
        changed.write_text("\n".join([header, "\t".join(gold), *rows[1:]]) + "\n", "utf-8")
        other = recipe_of(pair_toy / f"{kind}.toml", f"data.{split}={changed}")
        assert read_pair_data(other, lambda text: None).fingerprint(recipe) != before, (kind, split)


def test_the_data_key_changes_only_with_settings_that_affect_data(pair_toy: Path) -> None:
    def key(*changes: str) -> str:
        return pair_data_key(recipe_of(pair_toy / "values.toml", *changes))

    for change in ("train.lr=0.5", "model.encoder.hidden=3", "model.matching.kind=siamese", "train.seed=9"):
        assert key(change) == key(), change
    for change in ("data.scale=[-9, 9]", "data.max_tokens=7", "train.score_train=3", "model.chars.jamo=true"):
        assert key(change) != key(), change
    assert key("data.dev=none", "train.seed=9") != key("data.dev=none")


@pytest.mark.long  # Kiwi takes seconds each time it is loaded
def test_korean_texts_can_be_split_into_morphemes(pair_toy: Path, tmp_path: Path) -> None:
    pytest.importorskip("kiwipiepy")
    train = table(tmp_path / "t.tsv", "남자가 달린다.\t남자가 뛴다.\tyes", "개가 잔다.\t여자가 춤춘다.\tno")
    data, _ = read(pair_toy / "labels.toml", train, *ALONE, "data.language=ko", "data.unit=morpheme")
    assert "남자" in data.encoding.texts.words.words.strings
    passage = data.encoding.passage(data.dev[0])
    assert "남자" in passage.sentences[1].words
    start = passage.sentences[1].starts[0]
    assert data.dev[0].text[start:].startswith("남자가 뛴다.")
