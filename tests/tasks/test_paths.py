"""Paths in recipes: exactly the keys marked as paths are made absolute and checked for existence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from gonie.errors import InputError
from gonie.tasks.paths import (
    CacheFolder,
    InputFile,
    LanguageModelName,
    OutputFile,
    locate,
    locate_bilm,
    missing_paths,
    output_problems,
    shadowed_folder,
    shipped_bilms,
    with_absolute_paths,
)
from gonie.tasks.recipe import load_recipe
from gonie.tasks.section import Section

SHIPPED = "Use the name of a shipped one (en, ko), or a folder written by gonie pretrain or gonie import-elmo"


class Part(Section):
    """A section within a section."""

    file: InputFile | None = None
    cache: CacheFolder | None = None


class Paths(Section):
    """Every kind of key that holds paths, and keys that hold none."""

    one: InputFile = "one.txt"
    many: list[InputFile] = Field(default=[])
    named: dict[str, InputFile] = Field(default={})
    folder: LanguageModelName | None = None
    cache: CacheFolder | None = None
    part: Part | None = None
    parts: dict[str, Part] = Field(default={})
    format: str = "conll"
    words: list[str] = Field(default=["a/b"])
    columns: dict[str, str] = Field(default={"a": "b"})
    number: int = 3


class Writes(Paths):
    """Also a key of a file to write."""

    out: OutputFile


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- absolute paths --------------------------------------------------------------------------------------


def test_only_paths_are_made_absolute_at_any_depth(here: Path) -> None:
    section = Paths(
        many=["a", "sub/b"],
        named={"city": "c.txt"},
        folder="lm",
        cache="cached",
        part=Part(file="d", cache="e"),
        parts={"first": Part(file="f")},
    )
    assert with_absolute_paths(section).model_dump() == {
        "one": f"{here}/one.txt",
        "many": [f"{here}/a", f"{here}/sub/b"],
        "named": {"city": f"{here}/c.txt"},
        "folder": f"{here}/lm",
        "cache": f"{here}/cached",
        "part": {"file": f"{here}/d", "cache": f"{here}/e"},
        "parts": {"first": {"file": f"{here}/f", "cache": None}},
        "format": "conll",
        "words": ["a/b"],
        "columns": {"a": "b"},
        "number": 3,
    }
    assert section.one == "one.txt", "the section itself stays as it was"


def test_unset_paths_stay_unset(here: Path) -> None:
    found = with_absolute_paths(Paths(part=Part()))
    assert (found.many, found.named, found.folder, found.cache) == ([], {}, None, None)
    assert found.part == Part()
    assert with_absolute_paths(Paths()).part is None


def test_absolute_paths_are_kept_and_the_home_folder_is_expanded(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    found = with_absolute_paths(Paths(one="/data/a.txt", folder="~/lm"))
    assert (found.one, found.folder) == ("/data/a.txt", "/home/anna/lm")
    assert with_absolute_paths(found) == found, "once is enough"


def test_paths_of_bundled_files_are_not_changed() -> None:
    """The package may be installed elsewhere when a run is resumed."""
    assert with_absolute_paths(Paths(one="bundled:english/train.conll")).one == "bundled:english/train.conll"
    assert with_absolute_paths(load_recipe("ner")) == load_recipe("ner")


def test_bundled_files_are_located_in_the_package() -> None:
    assert locate("bundled:english/train.conll").is_file()
    assert locate("here/mine.conll") == Path("here/mine.conll")
    assert locate("~/mine.conll") == Path.home() / "mine.conll"


# --- language models -------------------------------------------------------------------------------------


def test_shipped_language_models_go_by_their_names() -> None:
    assert [*shipped_bilms()] == ["en", "ko"]
    for name in ("en", "ko"):
        assert (locate_bilm(name) / "bilm.json").is_file()
        assert (locate_bilm(name) / "weights.safetensors").is_file()
        assert missing_paths(Paths(one="bundled:english/train.conll", folder=name)) == []


def test_the_name_of_a_shipped_language_model_is_not_made_absolute(here: Path) -> None:
    """The package may be installed elsewhere when a run is resumed."""
    assert with_absolute_paths(Paths(folder="en")).folder == "en"
    assert with_absolute_paths(Paths(one="en")).one == f"{here}/en", "data files have no names"
    assert with_absolute_paths(Paths(cache="en")).cache == f"{here}/en"


def test_a_folder_with_the_name_of_a_shipped_language_model_needs_a_path(here: Path) -> None:
    assert shadowed_folder("en") is None
    (here / "en").mkdir()
    assert locate_bilm("en") != here / "en"
    assert "write ./en" in (shadowed_folder("en") or "")
    assert shadowed_folder("./en") is None
    assert locate_bilm("./en").samefile(here / "en")
    assert with_absolute_paths(Paths(folder="./en")).folder == f"{here}/en"


def test_an_unknown_language_model_is_refused_with_the_names_of_the_shipped_ones(here: Path) -> None:
    with pytest.raises(InputError, match=r"not found: fr\. Use the name of a shipped one \(en, ko\)"):
        locate_bilm("fr")
    for old in ("pretrained/en", f"{here}/clone/pretrained/en"):
        with pytest.raises(InputError, match=r"part of the package now: use en$"):
            locate_bilm(old)
    (here / "pretrained/en").mkdir(parents=True)
    assert locate_bilm("pretrained/en") == Path("pretrained/en"), "an existing folder is used"


# --- missing paths ---------------------------------------------------------------------------------------


def test_every_missing_file_and_folder_is_reported_with_its_key() -> None:
    """A sweep of hours must not fail at its last run because of a missing file."""
    section = Paths(
        many=["a", "b"], named={"city": "c.txt", "river": "r.txt"}, folder="lm", part=Part(file="d")
    )
    assert missing_paths(section) == [
        "one: file not found: one.txt",
        "many: file not found: a",
        "many: file not found: b",
        "named.city: file not found: c.txt",
        "named.river: file not found: r.txt",
        f"folder: language model not found: lm. {SHIPPED}",
        "part.file: file not found: d",
    ]


def test_a_transformer_that_is_the_name_of_a_hub_is_not_looked_up() -> None:
    (problem,) = missing_paths(load_recipe("ner", ["model.transformer.path=bert-base-cased"]))
    assert problem.startswith(
        "model.transformer.path: folder not found: bert-base-cased. gonie downloads nothing"
    )


def test_existing_files_and_missing_caches_are_not_reported(here: Path) -> None:
    (here / "one.txt").touch()
    (here / "lm").mkdir()
    section = Paths(folder="lm", cache="cached", part=Part(cache="cached-too"), many=["one.txt", "b"])
    assert missing_paths(section) == ["many: file not found: b"]
    assert missing_paths(Paths(one="bundled:english/train.conll")) == []
    assert missing_paths(Paths(one="bundled:english/none")) == ["one: file not found: bundled:english/none"]


# --- the recipes -----------------------------------------------------------------------------------------

INPUTS: dict[str, list[str]] = {
    "ner": [
        "data.train=x",
        "data.dev=x",
        "data.test=x",
        "data.vectors=x",
        "data.gazetteers.city=x",
        "data.partial=x",
        "model.elmo.bilm=x",
    ],
    "subjectivity": [
        "data.train=x",
        "data.dev=x",
        "data.test=x",
        "data.vectors=x",
        "data.gazetteers.city=x",
        "model.elmo.bilm=x",
    ],
    "pairs": [
        "data.train=x",
        "data.dev=x",
        "data.test=x",
        "data.vectors=x",
        "data.gazetteers.city=x",
        "model.elmo.bilm=x",
    ],
    "elmo-small": ['data.text=["x"]', "data.heldout=x", "model.start=x"],
}
CACHES: dict[str, list[str]] = {
    "ner": ["data.cache", "model.elmo.cache"],
    "subjectivity": ["data.cache", "model.elmo.cache"],
    "pairs": ["data.cache", "model.elmo.cache"],
    "elmo-small": ["data.cache"],
}


def recipe_of(name: str, *further: str) -> Any:
    command = "pretrain" if name == "elmo-small" else "train"
    return load_recipe(name, [*INPUTS[name], *further], command=command)


@pytest.mark.parametrize("name", INPUTS)
def test_all_input_files_of_a_recipe_are_checked(name: str) -> None:
    """If a key is not marked as a path, a missing file is noticed only during training."""
    keys = [problem.partition(":")[0] for problem in missing_paths(recipe_of(name))]
    assert sorted(keys) == sorted(change.partition("=")[0] for change in INPUTS[name])


@pytest.mark.parametrize("name", INPUTS)
def test_all_paths_of_a_recipe_are_made_absolute(name: str, here: Path) -> None:
    recipe = with_absolute_paths(recipe_of(name, *(f"{key}=x" for key in CACHES[name])))
    keys = [*(change.partition("=")[0] for change in INPUTS[name]), *CACHES[name]]
    for key in keys:
        value: Any = recipe
        for part in key.split("."):
            value = value[part] if isinstance(value, dict) else getattr(value, part)
        assert value in (str(here / "x"), [str(here / "x")]), key


# --- outputs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reads",
    [{"one": "a"}, {"many": ["b", "a"]}, {"named": {"x": "a"}}, {"parts": {"x": Part(file="a")}}],
)
def test_an_output_that_is_read_under_any_key_is_refused(here: Path, reads: dict[str, Any]) -> None:
    (here / "a").write_text("x", "utf-8")
    (here / "link").symlink_to("a")
    for path in ("a", "./a", str(here / "a"), "link"):
        (problem,) = output_problems(Writes(**reads, out=path))
        assert problem == f"out: cannot write {Path(path)}: it is an input file. Choose another file"
        assert output_problems(Writes(out=path), [Paths(**reads)]) == [problem]


def test_the_folder_of_an_output_must_exist(here: Path) -> None:
    assert output_problems(Writes(out="new")) == []
    (problem,) = output_problems(Writes(out="none/new"))
    told = f"out: cannot write none/new: folder {here / 'none'} does not exist. Run: mkdir -p "
    assert problem.startswith(told)
