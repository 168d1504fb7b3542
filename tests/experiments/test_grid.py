"""Tests the grid of `gonie compare`: arguments become cells in order, or all mistakes are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gonie.errors import RecipeError
from gonie.experiments.grid import Axis, leave_out_each, load_cells, read_grid
from gonie.experiments.values import split_values
from gonie.tasks.elmo import ElmoConfig
from gonie.tasks.recipe import load_recipe

# --- commas ----------------------------------------------------------------------------------------------

BARE = st.text(st.characters(exclude_characters=",[]{}()\"'\\=", exclude_categories=["C", "Z"]), min_size=1)
QUOTED = st.text(st.characters(exclude_characters="\"'\\", exclude_categories=["C"])).map(lambda t: f'"{t}"')
LITERAL = st.text(st.characters(exclude_characters="'", exclude_categories=["C"])).map(lambda t: f"'{t}'")
VALUE = st.recursive(
    BARE | QUOTED | LITERAL,
    lambda inner: (
        st.lists(inner).map(lambda parts: f"[{', '.join(parts)}]")
        | st.lists(st.tuples(BARE, inner)).map(
            lambda pairs: "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"
        )
    ),
    max_leaves=6,
)


@given(st.lists(VALUE, min_size=1))
def test_commas_inside_values_do_not_split_them(values: list[str]) -> None:
    """Lists, tables and quoted texts may contain commas."""
    assert split_values(",".join(values)) == values
    assert split_values(" , ".join(values)) == values


@given(st.text())
def test_splitting_loses_no_characters(text: str) -> None:
    parts = split_values(text)
    assert "".join("".join(parts).replace(",", "").split()) == "".join(text.replace(",", "").split())
    assert sum(part.count(",") for part in parts) + len(parts) - 1 == text.count(",")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a,b,c", ["a", "b", "c"]),
        ("0.1", ["0.1"]),
        ("", [""]),
        ("a,,b", ["a", "", "b"]),
        ("[],[1, 2]", ["[]", "[1, 2]"]),
        ('[],["spelling","context"]', ["[]", '["spelling","context"]']),
        ('"a,b",c', ['"a,b"', "c"]),
        ("'a,b',c", ["'a,b'", "c"]),
        (r'"a\",b",c', [r'"a\",b"', "c"]),
        ("it's,b", ["it's", "b"]),
        ('{city = "a,b"},none', ['{city = "a,b"}', "none"]),
        ("a],b", ["a]", "b"]),
        ('"open,b', ['"open', "b"]),
        ("한국어, 영어", ["한국어", "영어"]),
    ],
)
def test_examples_are_split_at_their_commas(text: str, values: list[str]) -> None:
    assert split_values(text) == values


# --- cells -----------------------------------------------------------------------------------------------


def test_the_first_key_varies_slowest_and_single_values_are_no_axis() -> None:
    grid = read_grid(["ner"], ["train.lr=0.1,0.2", "train.epochs=3", "model.encoder.hidden=4,8"])
    assert [axis.key for axis in grid.axes] == ["train.lr", "model.encoder.hidden"]
    assert [axis.label for axis in grid.axes] == ["lr", "hidden"]
    assert [cell.values for cell in grid.cells] == [("0.1", "4"), ("0.1", "8"), ("0.2", "4"), ("0.2", "8")]
    assert grid.cells[1].changes == ("train.lr=0.1", "train.epochs=3", "model.encoder.hidden=8")
    assert grid.name(grid.cells[1]) == "lr=0.1 hidden=8"


def test_several_recipes_are_the_slowest_axis() -> None:
    grid = read_grid(["lstm", "bilstm-crf"], ['model.head.direct=[],["spelling"]'])
    assert [axis.key for axis in grid.axes] == ["recipe", "model.head.direct"]
    assert [cell.recipe for cell in grid.cells] == ["lstm", "lstm", "bilstm-crf", "bilstm-crf"]
    assert grid.cells[3].values == ("bilstm-crf", '["spelling"]')


def test_each_domain_is_left_out_in_turn() -> None:
    named = ["data.train.web=a.conll", "data.train.news=b.conll", "train.lr=0.1,0.2"]
    assert leave_out_each(["ner", "crf"], named) == "data.leave_out=web,news"
    with pytest.raises(RecipeError, match="two or more named training files"):
        leave_out_each(["ner"], ["train.lr=0.1"])


def test_each_of_125_cells_has_its_own_folder() -> None:
    five = ",".join(str(number) for number in range(1, 6))
    grid = read_grid(["rnn"], [f"train.{key}={five}" for key in ("epochs", "patience", "seed")])
    assert len(grid.cells) == 125
    folders = {grid.folder(number, 1) for number in range(125)}
    assert len(folders) == 125
    assert grid.folder(0, 7) == "001_epochs=1_patience=1_seed=1_seed=7"


def test_folder_names_are_readable() -> None:
    grid = read_grid(["ner"], ['model.head.direct=[],["spelling","context"]', "data.vectors=none,/a/b/v.gz"])
    names = [grid.folder(number, 1) for number in range(4)]
    assert names[0] == "1_direct=_vectors=none_seed=1"
    assert names[3] == "4_direct=spelling-context_vectors=v.gz_seed=1"


def test_without_axes_there_is_one_cell() -> None:
    grid = read_grid(["ner"], ["train.epochs=3"])
    assert not grid.axes
    assert len(grid.cells) == 1
    assert grid.folder(0, 2) == "1_seed=2"


def test_labels_of_axes_are_short_but_unique() -> None:
    keys = ["model.words.width=1,2", "model.chars.width=1,2", "train.lr=1,2", "data.train=a,b"]
    assert [axis.label for axis in read_grid(["ner"], keys).axes] == [
        "words.width",
        "chars.width",
        "lr",
        "train",
    ]


@given(st.lists(st.text(min_size=1), min_size=2, max_size=3, unique=True))
def test_any_value_gives_a_portable_folder_name(values: list[str]) -> None:
    text = ",".join(values)
    parts = split_values(text)
    assume(len(parts) > 1 and all(parts) and len(set(parts)) == len(parts))
    grid = read_grid(["ner"], [f"data.train={text}"])
    for number in range(len(grid.cells)):
        name = grid.folder(number, 1)
        assert not set(name) & set('/\\:*?"<>|\0 \n')
        assert len(name.encode()) < 255
        name.encode("utf-8")


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (("0.1", "1e-3"), (0.1, 1e-3)),
        (("1", "2"), (1.0, 2.0)),
        (("true", "false"), None),
        (("1", "auto"), None),
        (("nan", "1"), None),
        (("inf", "1"), None),
    ],
)
def test_an_axis_is_numeric_if_all_its_values_are_finite_numbers(
    values: tuple[str, ...], numbers: tuple[float, ...] | None
) -> None:
    assert Axis("k", "k", values).numbers == numbers


# --- refusals --------------------------------------------------------------------------------------------


def refusal(recipes: list[str], changes: list[str]) -> str:
    with pytest.raises(RecipeError) as caught:
        load_cells(read_grid(recipes, changes))
    return str(caught.value)


@pytest.mark.parametrize(
    ("recipes", "changes", "words"),
    [
        (["ner"], ["train.lr=1,2", "train.lr=3"], "train.lr is set twice"),
        (["ner"], ["train.lr=1,,2"], "missing value next to a comma"),
        (["ner"], ["train.lr"], "not of the form KEY=A,B,C"),
        (["ner"], ["train.lr=0.1,0.1"], "0.1 is given twice"),
        (["ner", "ner"], [], "ner is given twice"),
        (["ner"], ["recipe=pos"], "recipe is set twice"),
    ],
)
def test_mistakes_in_the_grid_are_refused(recipes: list[str], changes: list[str], words: str) -> None:
    assert words in refusal(recipes, changes)


def test_the_problems_of_all_cells_are_reported_once() -> None:
    text = refusal(
        ["ner", "nr"],
        ["train.lr=0.1,-1", "model.encoder.hidden=0,4,x", "train.epoch=3", "data.vectors=none,nowhere.txt"],
    )
    assert text.count("train.lr:") == 1
    assert "lr=-1" in text
    assert text.count("model.encoder.hidden:") == 2
    assert text.count("did you mean 'epochs'?") == 1
    assert "Did you mean ner?" in text


def test_a_missing_file_is_reported_before_anything_runs(tmp_path: Path) -> None:
    text = refusal(["ner"], [f"data.vectors=none,{tmp_path}/nowhere.txt", "train.lr=0.1,0.2"])
    assert "data.vectors: file not found" in text
    assert text.startswith("compare: data.vectors")
    assert "and 1 more of 4 cells" in text


# --- the recipes of the cells ----------------------------------------------------------------------------


def test_folds_require_a_classifier_without_test_file_or_data_folds(text_toy: Path, toy: Path) -> None:
    own = ["data.test=none"]
    grid = read_grid([str(text_toy / "texts.toml")], [*own, "train.lr=0.1,0.2"])
    data = [recipe.data for recipe in load_cells(grid, folds=4)]
    assert [(each.folds, each.fold) for each in data] == [(4, 1), (4, 1)]  # type: ignore[union-attr]
    with pytest.raises(RecipeError, match="--folds does not apply to a tagger"):
        load_cells(read_grid([str(toy / "toy.toml")], []), folds=4)
    with pytest.raises(RecipeError, match=r"remove --set data\.folds and data\.fold"):
        load_cells(read_grid([str(text_toy / "texts.toml")], [*own, "data.fold=1,2"]), folds=4)
    with pytest.raises(RecipeError, match=r"use --set data\.test=none"):
        load_cells(read_grid([str(text_toy / "texts.toml")], []), folds=4)


def test_cells_parse_values_like_gonie_train(toy: Path) -> None:
    grid = read_grid([str(toy / "toy.toml")], ['model.head.direct=[],["spelling"]', "data.test=none"])
    recipes = load_cells(grid)
    assert [recipe.model.head.direct for recipe in recipes] == [[], ["spelling"]]
    assert [recipe.data.test for recipe in recipes] == [None, None]


def test_cells_default_to_one_thread_and_training_scores(toy: Path) -> None:
    name = str(toy / "toy.toml")
    (recipe,) = load_cells(read_grid([name], []))
    assert (recipe.train.threads, recipe.train.score_train) == (1, 1000)
    (recipe,) = load_cells(read_grid([name], ["train.threads=0", "train.score_train=0"]))
    assert (recipe.train.threads, recipe.train.score_train) == (0, 0)
    assert recipe.train.epochs == load_recipe(name).train.epochs


def test_cells_resolve_what_depends_on_the_training_file(toy: Path) -> None:
    notes: list[str] = []
    changes = [f"data.train={toy / 'train.conll'}", "train.lr=0.1,0.2", "model.elmo.bilm=auto,none"]
    recipes = load_cells(read_grid(["ner"], changes), note=notes.append)
    sections = [recipe.model.contextual.get("elmo") for recipe in recipes]
    assert sections == [ElmoConfig(bilm="en"), None] * 2
    (note,) = notes
    assert "language model: en, because the training file has 80 sentences" in note


def test_cells_write_no_copies_because_all_would_write_the_same_file(toy: Path) -> None:
    notes: list[str] = []
    changes = ["data.augment.copies=1,2", f"data.augment.file={toy / 'copies.conll'}"]
    recipes = load_cells(read_grid([str(toy / "toy.toml")], changes), note=notes.append)
    assert [recipe.data.augment.file for recipe in recipes] == [None, None]
    told = "data.augment.file has no effect: all runs of a comparison would write the same file"
    assert notes.count(told) == 1


def test_a_cell_that_lacks_its_start_is_reported_before_anything_runs(toy: Path) -> None:
    """The other cells would be trained for hours before it fails."""
    grid = read_grid([str(toy / "toy.toml")], ["model.adapter=none,{rank = 2}"])
    with pytest.raises(RecipeError, match=r"model\.adapter: adapters need a trained model.*\{rank = 2\}"):
        load_cells(grid)
