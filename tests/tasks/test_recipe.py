"""Recipes from TOML and ``--set``: what a user's typing comes to, and what it says when it cannot."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gonie.errors import RecipeError
from gonie.tasks.recipe import load_recipe, recipe_names, write_recipe
from gonie.tasks.sections import TrainConfig


def refusal(*changes: str, name: str = "ner") -> list[str]:
    with pytest.raises(RecipeError) as caught:
        load_recipe(name, changes)
    return caught.value.problems


def test_shipped_recipes_are_found_by_name_and_files_by_path(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[data]\ntrain = "a.conll"\n[model.words]\nwidth = 7\n', "utf-8")
    assert "ner" in recipe_names()
    assert load_recipe("ner").model.head.kind == "crf"
    recipe = load_recipe(own)
    assert recipe.data.train == "a.conll"
    assert recipe.model.words is not None
    assert recipe.model.words.width == 7


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("train.epochs=3", 3),
        ("train.lr=1e-4", 1e-4),
        ("train.normalize=true", True),
        ("train.optimizer=sgd", "sgd"),
        ('train.optimizer="sgd"', "sgd"),
        (" train.epochs = 3 ", 3),
        ("train.batch_sentences=auto", "auto"),
    ],
)
def test_a_change_reads_as_toml_or_as_the_text_itself(change: str, value: object) -> None:
    key = change.partition("=")[0].strip().removeprefix("train.")
    assert getattr(load_recipe("ner", [change]).train, key) == value


def test_tables_and_lists_can_be_set() -> None:
    data = load_recipe("ner", ["data.columns={pos = 1}", "data.gazetteers.city=cities.txt"]).data
    assert data.columns == {"pos": 1}
    assert data.gazetteers == {"city": "cities.txt"}
    assert load_recipe("ner", ['model.head.direct=["spelling"]']).model.head.direct == ["spelling"]


def test_a_file_name_with_an_equals_sign_stays_whole() -> None:
    assert load_recipe("ner", ["data.train=a=b.conll"]).data.train == "a=b.conll"


def test_the_last_of_two_changes_holds() -> None:
    assert load_recipe("ner", ["train.epochs=3", "train.epochs=4"]).train.epochs == 4


def test_none_is_a_value_where_it_is_a_choice() -> None:
    """Taken for "take the key away", it would leave the default: an LSTM for who asked for no encoder."""
    recipe = load_recipe("ner", ["model.encoder.kind=none", "model.words.tuned=None"])
    assert recipe.model.encoder.kind == "none"
    assert recipe.model.words is not None
    assert recipe.model.words.tuned == "none"


def test_an_encoder_without_input_is_refused() -> None:
    with pytest.raises(RecipeError, match="the encoder has nothing to read"):
        load_recipe("crf", ["model.encoder.kind=lstm"])


def test_none_takes_a_key_or_a_section_away() -> None:
    recipe = load_recipe("ner", ["data.test=none", "model.chars=none"])
    assert recipe.data.test is None
    assert recipe.model.chars is None


def test_a_section_that_the_recipe_lacks_can_be_added() -> None:
    chars = load_recipe("demo-ko", ["model.chars.jamo=true"]).model.chars
    assert chars is not None
    assert chars.jamo


# --- one's own training file -----------------------------------------------------------------------------


@pytest.mark.parametrize("absent", [{}, {"data.train": "x.conll"}])
def test_a_value_in_place_of_a_section_is_refused(absent: dict[str, str]) -> None:
    with pytest.raises(RecipeError, match=r"data: .* got 'x\.conll'"):
        load_recipe("ner", ["data=x.conll"], absent=absent)


def test_what_is_absent_is_filled_in_and_nothing_else_is_touched() -> None:
    """A check that reads no files takes recipes that leave data.train to the user."""
    filled = load_recipe("chunk", absent={"data.train": "x.conll"})
    assert (filled.data.train, filled.data.columns) == ("x.conll", {"pos": 1})
    assert load_recipe("ner", absent={"data.train": "x.conll"}) == load_recipe("ner")
    assert load_recipe("chunk", ["data.train=y"], absent={"data.train": "x.conll"}).data.train == "y"


def test_a_training_file_of_ones_own_forgets_what_belonged_to_the_other() -> None:
    """Else `--set data.train=mine.conll` would be scored on gonie's own English test file."""
    recipe = load_recipe("ner", ["data.train=mine.conll"])
    assert (recipe.data.train, recipe.data.dev, recipe.data.test) == ("mine.conll", None, None)
    recipe = load_recipe("ner", ["data.dev=d.conll", "data.train=mine.conll"])
    assert (recipe.data.dev, recipe.data.test) == ("d.conll", None)


def test_columns_are_forgotten_too_unless_they_are_given(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[data]\ntrain = "a"\ncolumns = {pos = 1}\ntag_column = 3\n[model.words]\n', "utf-8")
    changed = load_recipe(own, ["data.train=b"]).data
    assert (changed.columns, changed.tag_column) == ({}, None)
    assert load_recipe(own, ["data.train=b", "data.columns.chunk=2"]).data.columns == {"pos": 1, "chunk": 2}
    assert load_recipe(own, ["data.train=a"]).data.columns == {"pos": 1}, "the same file is no other file"


def test_a_recipe_without_a_training_file_keeps_its_columns(tmp_path: Path) -> None:
    """`chunk` says how CoNLL-2000 files look and asks for the files: its columns are meant for them."""
    own = tmp_path / "mine.toml"
    own.write_text("[data]\ncolumns = {pos = 1}\n[model.words]\n", "utf-8")
    assert load_recipe(own, ["data.train=b"]).data.columns == {"pos": 1}


# --- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("train.epoch=3", "train.epoch: unknown key; did you mean 'epochs'?"),
        ("model.wrds.width=3", "model.wrds: unknown key; did you mean 'words'?"),
        ("model.words.widht=3", "model.words.widht: unknown key; did you mean 'width'?"),
        ("model.encoder.qqq=3", "model.encoder.qqq: unknown key; known: kind, hidden, layers"),
        ("qqq=3", "qqq: unknown key; known: task, data, model, train"),
        ("train.epochs=many", "train.epochs: input should be a valid integer"),
        ("train.epochs=0", "train.epochs: input should be greater than or equal to 1, got 0"),
        (
            "train.optimizer=sdg",
            "train.optimizer: input should be 'sgd', 'adam', 'adamw'",
        ),
        (
            "data.tag_column=[1]",
            "data.tag_column: input should be a valid integer or input should be a valid",
        ),
        ("data.columns.pos=x", "data.columns.pos: input should be a valid integer"),
        ("train=3", "train: input should be a valid dictionary"),
        ("train.epochs", "--set train.epochs: not of the form key=value"),
        ("=3", "--set =3: not of the form key=value"),
        ("train.epochs.more=3", "--set train.epochs.more=3: epochs is a value, not a section"),
        ("data.train=none", "data.train: missing value (training file"),
        ("model=none", "model: missing section"),
        ("train.lr=inf", "train.lr: input should be a finite number"),
    ],
)
def test_a_mistake_is_named_with_what_was_meant(change: str, words: str) -> None:
    (problem,) = refusal(change)
    assert problem.startswith(words)


def test_all_problems_are_reported_together() -> None:
    """One at a time would be as many runs as mistakes."""
    problems = refusal("train.epoch=3", "train.lr", "data.holdout=2", "data.tag_column=[1]")
    assert len(problems) == 4
    assert {problem.partition(":")[0] for problem in problems} == {
        "train.epoch",
        "--set train.lr",
        "data.holdout",
        "data.tag_column",
    }


def test_a_recipe_that_is_not_there_names_the_nearest() -> None:
    assert "did you mean 'demo'?" in refusal(name="dmo")[0]
    assert "shipped recipes: " in refusal(name="zzzz")[0]


@pytest.mark.parametrize(("content", "words"), [(b"[data\n", "invalid TOML"), (b"\xff\xfe", "invalid TOML")])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    assert words in refusal(name=str(path))[0]


# --- written back ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ner", "demo-ko"])
def test_a_resolved_recipe_reads_back_as_itself(name: str, tmp_path: Path) -> None:
    """The run folder's recipe.toml is what a run is resumed and repeated from."""
    recipe = load_recipe(name, ["data.columns.pos=1", 'data.gazetteers.city=a "quoted" file.txt'])
    written = write_recipe(recipe)
    path = tmp_path / "recipe.toml"
    path.write_text(written, "utf-8")
    assert load_recipe(path) == recipe
    assert write_recipe(load_recipe(path)) == written


def test_a_resolved_recipe_names_every_key_that_has_a_value() -> None:
    values = tomllib.loads(write_recipe(load_recipe("ner")))
    assert set(values["train"]) == set(TrainConfig.model_fields)
