"""Recipes from TOML files and ``--set``: the resulting values, and the messages for mistakes."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from gonie.errors import RecipeError
from gonie.tasks.recipe import load_recipe, recipe_names
from gonie.tasks.sections import TrainConfig
from gonie.tasks.written_recipe import recipe_origin, write_recipe


def refusal(*changes: str, name: str = "ner") -> list[str]:
    with pytest.raises(RecipeError) as caught:
        load_recipe(name, changes)
    return caught.value.problems


@pytest.mark.parametrize("value", ['["typo"]', '{"typo":1}', "typo"])
def test_a_table_that_is_none_is_answered_with_its_names_and_a_setting_that_works(value: str) -> None:
    with pytest.raises(RecipeError) as error:
        load_recipe("demo-ko", [f"data.noise.kinds={value}"])
    assert "must be a table of names and values" in str(error.value)
    assert "its names are spaces-lost, spaces-added, typos, " in str(error.value)
    _, _, typed = str(error.value).partition("For example: --set ")
    (setting,) = shlex.split(typed)
    assert setting == "data.noise.kinds={typos = 1.0}"
    assert load_recipe("demo-ko", [setting]).data.noise.kinds == {"typos": 1.0}


@pytest.mark.parametrize(
    ("change", "meant"),
    [
        ("data.noise.kinds={typo = 1.0}", "typos"),
        ("data.unit=morphem", "morpheme"),
        ("model.encoder.kind=lstn", "lstm"),
    ],
)
def test_a_misspelt_value_is_answered_with_the_nearest_one(change: str, meant: str) -> None:
    with pytest.raises(RecipeError, match=rf"; did you mean '{meant}'\?"):
        load_recipe("demo-ko", [change])


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
def test_a_change_is_read_as_toml_or_else_as_text(change: str, value: object) -> None:
    key = change.partition("=")[0].strip().removeprefix("train.")
    assert getattr(load_recipe("ner", [change]).train, key) == value


def test_tables_and_lists_can_be_set() -> None:
    data = load_recipe("ner", ["data.columns={pos = 1}", "data.gazetteers.city=cities.txt"]).data
    assert data.columns == {"pos": 1}
    assert data.gazetteers == {"city": "cities.txt"}
    assert load_recipe("ner", ['model.head.direct=["spelling"]']).model.head.direct == ["spelling"]


def test_a_file_name_may_contain_an_equals_sign() -> None:
    assert load_recipe("ner", ["data.train=a=b.conll"]).data.train == "a=b.conll"


def test_the_last_of_two_changes_wins() -> None:
    assert load_recipe("ner", ["train.epochs=3", "train.epochs=4"]).train.epochs == 4


def test_none_is_a_value_for_keys_that_offer_it() -> None:
    """If it removed the key, a user who asks for no encoder would get the default, an LSTM."""
    recipe = load_recipe("ner", ["model.encoder.kind=none", "model.words.tuned=None"])
    assert recipe.model.encoder.kind == "none"
    assert recipe.model.words is not None
    assert recipe.model.words.tuned == "none"


def test_an_encoder_without_input_is_refused() -> None:
    with pytest.raises(RecipeError, match="the encoder has no input"):
        load_recipe("crf", ["model.encoder.kind=lstm"])


def test_none_removes_a_key_or_a_section() -> None:
    recipe = load_recipe("ner", ["data.test=none", "model.chars=none"])
    assert recipe.data.test is None
    assert recipe.model.chars is None


def test_a_section_that_the_recipe_lacks_can_be_added() -> None:
    chars = load_recipe("demo-ko", ["model.chars.jamo=true"]).model.chars
    assert chars is not None
    assert chars.jamo


# --- the user's own training file ------------------------------------------------------------------------


@pytest.mark.parametrize("absent", [{}, {"data.train": "x.conll"}])
def test_a_value_in_place_of_a_section_is_refused(absent: dict[str, str]) -> None:
    with pytest.raises(RecipeError, match=r"^ner: data: must be a section.*--set data\.train=x\.conll$"):
        load_recipe("ner", ["data=x.conll"], absent=absent)


def test_absent_fills_in_only_missing_keys() -> None:
    """A check that reads no files also accepts recipes without data.train."""
    filled = load_recipe("chunk", absent={"data.train": "x.conll"})
    assert (filled.data.train, filled.data.columns) == ("x.conll", {"pos": 1})
    assert load_recipe("ner", absent={"data.train": "x.conll"}) == load_recipe("ner")
    assert load_recipe("chunk", ["data.train=y"], absent={"data.train": "x.conll"}).data.train == "y"


def test_a_new_training_file_drops_the_dev_and_test_files() -> None:
    """Otherwise `--set data.train=mine.conll` would be scored on gonie's own English test file."""
    recipe = load_recipe("ner", ["data.train=mine.conll"])
    assert (recipe.data.train, recipe.data.dev, recipe.data.test) == ("mine.conll", None, None)
    recipe = load_recipe("ner", ["data.dev=d.conll", "data.train=mine.conll"])
    assert (recipe.data.dev, recipe.data.test) == ("d.conll", None)


def test_a_new_training_file_drops_the_columns_unless_given(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[data]\ntrain = "a"\ncolumns = {pos = 1}\ntag_column = 3\n[model.words]\n', "utf-8")
    changed = load_recipe(own, ["data.train=b"]).data
    assert (changed.columns, changed.tag_column) == ({}, None)
    assert load_recipe(own, ["data.train=b", "data.columns.chunk=2"]).data.columns == {"pos": 1, "chunk": 2}
    assert load_recipe(own, ["data.train=a"]).data.columns == {"pos": 1}, "the same file is no other file"


@pytest.mark.parametrize(
    ("recipe", "change", "message"),
    [
        (
            "similarity-ko",
            "model.head.kind=prototypes",
            "model.head.kind: unknown key for pair classifiers; only taggers and classifiers have it",
        ),
        (
            "similarity-ko",
            "data.augment.copies=2",
            "data.augment: unknown key for pair classifiers; only taggers and classifiers have it",
        ),
        ("sentiment-nsmc", "heads.pos.train=a", "heads: unknown key for classifiers; only taggers have it"),
        (
            "similarity-ko",
            "data.text_column=a",
            "data.text_column: unknown key for pair classifiers; only classifiers have it; did you mean "
            "'text_columns'?",
        ),
    ],
)
def test_a_key_of_another_task_is_refused_with_the_tasks_that_have_it(
    recipe: str, change: str, message: str
) -> None:
    with pytest.raises(RecipeError, match=rf": {re.escape(message)}$"):
        load_recipe(recipe, [change])


def test_a_recipe_without_a_training_file_keeps_its_columns(tmp_path: Path) -> None:
    """`chunk` describes the columns of CoNLL-2000 files, and the user passes the files."""
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
        ("train.epochs=many", "train.epochs: must be a whole number: 'many'"),
        ("train.epochs=1.5", "train.epochs: must be a whole number: 1.5"),
        ("train.epochs=0", "train.epochs: must be at least 1: 0"),
        ("train.lr=fast", "train.lr: must be a number: 'fast'"),
        ("train.lr=0", "train.lr: must be greater than 0: 0"),
        ("train.normalize=maybe", "train.normalize: must be true or false: 'maybe'"),
        ("train.optimizer=sdg", "train.optimizer: must be 'sgd', 'adam', 'adamw'"),
        ("train.batch_sentences=many", "train.batch_sentences: must be a whole number or 'auto': 'many'"),
        ("data.holdout=1", "data.holdout: must be less than 1: 1"),
        ("data.train=", "data.train: must not be empty"),
        ("data.train=3", "data.train: must be a text or a table of names and values: 3"),
        ("data.types=a, b", "data.types: must be a list: 'a, b'; use '[\"a\", \"b\"]'"),
        ("data.types={a=1}", "data.types: must be a list: {'a': 1}"),
        ("model.encoder.kernels=3,4", "model.encoder.kernels: must be a list: '3,4'; use '[3, 4]'"),
        ("model.encoder.kernels=3", "model.encoder.kernels: must be a list: 3; use '[3]'"),
        ("model.encoder.kernels=[]", "model.encoder.kernels: must be a list of 1 or more items: []"),
        ("data.tag_column=[1]", "data.tag_column: must be a whole number or a text: [1]"),
        ("data.columns.pos=x", "data.columns.pos: must be a whole number: 'x'"),
        ("data.columns=x", "data.columns: must be a table of names and values: 'x'"),
        (
            "loss.adversary=true",
            "loss.adversary: must be a table of names and values: true. For example: "
            "--set loss.adversary.weight=1",
        ),
        (
            "data.leave_out=law",
            "data.leave_out: needs a training file for each of several domains; name them",
        ),
        ("data.noise.copies=1", "data.noise.copies works only with Korean text"),
        ("train=3", "train: must be a section with keys of its own: 3"),
        (
            "train.episodes=10",
            "train.episodes: must be a section with keys of its own: 10; its keys are ways, shots, queries, "
            "number. For example: --set train.episodes.ways=5",
        ),
        (
            "model.adapter=low-rank",
            "model.adapter: must be a section with keys of its own: 'low-rank'; its keys are kind, rank, "
            "hidden, embedding, rate. For example: --set model.adapter.kind=low-rank",
        ),
        ("data=3", "data: must be a section with keys of its own: 3; its keys are train, dev, test"),
        ("model.elmo=x", "model.elmo: must be a section with keys of its own: 'x'; its keys are"),
        ("task=foo", "task: unknown task 'foo'; use tag, classify or pair"),
        ("train.epochs", "--set train.epochs: not of the form key=value"),
        ("=3", "--set =3: not of the form key=value"),
        ("train.epochs.more=3", "--set train.epochs.more=3: epochs is a value, not a section"),
        ("data.train=none", "data.train: missing value (training file"),
        ("model=none", "model: missing section"),
        ("train.lr=inf", "train.lr: must be a finite number: inf"),
    ],
)
def test_a_mistake_is_reported_with_its_key_and_a_hint(change: str, words: str) -> None:
    (problem,) = refusal(change)
    assert problem.startswith(words)


@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_single_file_beside_named_files_is_refused_with_the_names_to_type(split: str, order: int) -> None:
    """One of the files would not be read, whatever the order of the settings."""
    changes = [f"data.{split}=in/politics.conll", f"data.{split}.ai=ai.conll"][::order]
    (problem,) = refusal(*changes)
    assert problem == (
        f"data.{split}: a single file, in/politics.conll, cannot be combined with named files; name all of "
        f"them: --set data.{split}.politics=in/politics.conll --set data.{split}.ai=ai.conll"
    )


def test_two_files_of_the_same_name_are_refused() -> None:
    """The first one would not be read. A setting that is repeated as it is changes nothing."""
    assert refusal("data.train.a=in/ai.conll", "data.train.a=art.conll", "data.train.b=b.conll") == [
        "data.train.a: in/ai.conll and art.conll have the same name, a; give each its own"
    ]
    for first in ("a.conll", '"a.conll"', "none"):
        changes = [f"data.dev.a={first}", "data.dev.a=a.conll"]
        assert load_recipe("ner", changes).data.dev == {"a": "a.conll"}


def test_the_suggested_name_of_a_file_is_not_one_that_is_taken() -> None:
    (problem,) = refusal("data.train=a/web.conll", "data.train.web=b/web.conll")
    assert problem.endswith("--set data.train.NAME=a/web.conll --set data.train.web=b/web.conll")


@pytest.mark.parametrize(
    ("changes", "files"),
    [
        (["data.dev.a=a.conll", "data.dev.b=b.conll"], {"a": "a.conll", "b": "b.conll"}),
        (['data.dev={a="a.conll"}', "data.dev.b=b.conll"], {"a": "a.conll", "b": "b.conll"}),
        (["data.dev=none", "data.dev.b=b.conll"], {"b": "b.conll"}),
    ],
)
def test_named_files_replace_the_single_file_of_the_recipe(
    changes: list[str], files: dict[str, str], tmp_path: Path
) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[data]\ntrain = "t.conll"\ndev = "d.conll"\n[model.words]\n', "utf-8")
    assert load_recipe(own, changes).data.dev == files


def test_all_problems_are_reported_together() -> None:
    """Otherwise the user would fix one mistake per run."""
    problems = refusal("train.epoch=3", "train.lr", "data.holdout=2", "data.tag_column=[1]")
    assert len(problems) == 4
    assert {problem.partition(":")[0] for problem in problems} == {
        "train.epoch",
        "--set train.lr",
        "data.holdout",
        "data.tag_column",
    }


def test_an_unknown_recipe_is_refused_with_a_suggestion() -> None:
    assert refusal(name="dmo")[0].startswith("no such recipe: dmo. Did you mean demo?")
    assert "no such recipe: zzzz. gonie recipes lists all recipes: bilstm, " in refusal(name="zzzz")[0]


def test_a_single_problem_is_one_line_and_several_are_a_list() -> None:
    with pytest.raises(RecipeError, match=r"^ner: train\.lr: must be a number: 'x'$"):
        load_recipe("ner", ["train.lr=x"])
    with pytest.raises(RecipeError, match=r"^ner: 2 problems\n  - train\.epochs: .*\n  - train\.lr: [^\n]*$"):
        load_recipe("ner", ["train.lr=x", "train.epochs=x"])


@pytest.mark.parametrize(("content", "words"), [(b"[data\n", "invalid TOML"), (b"\xff\xfe", "invalid TOML")])
def test_invalid_toml_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    assert words in refusal(name=str(path))[0]


# --- writing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ner", "demo-ko"])
def test_a_written_recipe_reads_back_unchanged(name: str, tmp_path: Path) -> None:
    """A run is resumed and repeated from the recipe.toml in its folder."""
    recipe = load_recipe(name, ["data.columns.pos=1", 'data.gazetteers.city=a "quoted" file.txt'])
    written = write_recipe(recipe)
    path = tmp_path / "recipe.toml"
    path.write_text(written, "utf-8")
    assert load_recipe(path) == recipe
    assert write_recipe(load_recipe(path)) == written


def test_a_written_recipe_names_its_origin(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(write_recipe(load_recipe("ner"), origin="ner"), "utf-8")
    assert recipe_origin(path) == "ner"
    assert load_recipe(path) == load_recipe("ner")
    path.write_text(write_recipe(load_recipe("ner")), "utf-8")
    assert recipe_origin(path) is None


def test_a_written_recipe_contains_every_training_key() -> None:
    values = tomllib.loads(write_recipe(load_recipe("ner")))
    assert set(values["train"]) == set(TrainConfig.model_fields) - {"start", "episodes"}  # unset


NAMED = ("data.train.web=a.conll", "data.train.news=b.conll")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["data.leave_out=law"], "data.leave_out: unknown domain 'law'; use web or news"),
        (
            ["data.train.more=./a.conll"],
            "data.train.web and data.train.more are the same file: ./a.conll; remove one",
        ),
    ],
)
def test_domains_that_cannot_be_meant_are_refused(changes: list[str], message: str) -> None:
    """A file with two names would be trained on twice, and left out of neither."""
    with pytest.raises(RecipeError) as caught:
        load_recipe("ner", [*NAMED, *changes])
    assert str(caught.value) == f"ner: {message}"
