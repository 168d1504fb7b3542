"""Tests training on named files: every example has its domain, and one domain can be left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError, RecipeError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import CorpusConfig
from gonie.tasks.torch.prepare import prepare, read_dev
from gonie.tasks.written_recipe import write_recipe

WEB = "Anna\tB-PER\nsleeps\tO\n\nin\tO\nOslo\tB-LOC\n\n"
NEWS = "Bert\tI-PER\nsleeps\tO\n\nin\tO\nLima\tI-LOC\nnow\tO\n\nBert\tI-PER\n\n"  # IOB1


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "web.conll").write_text(WEB * 4, "utf-8")
    (tmp_path / "news.conll").write_text(NEWS * 4, "utf-8")
    (tmp_path / "dev.conll").write_text(WEB, "utf-8")
    return tmp_path


def recipe_of(toy: Path, files: Path, *changes: str) -> Any:
    named = [f"data.train.{name}={files / name}.conll" for name in ("web", "news")]
    return load_recipe(toy / "toy.toml", [*named, *changes])


def ignore(text: str) -> None:
    pass


def test_every_sentence_of_a_batch_has_the_number_of_its_domain(toy: Path, files: Path) -> None:
    job = prepare(recipe_of(toy, files, f"data.dev={files}/dev.conll"), ignore)
    assert job.train.domains is not None
    assert job.train.domains.tolist() == [0] * 8 + [1] * 12
    assert job.train.batch(np.array([0, 9]))["domains"].tolist() == [0, 1]


def test_files_may_have_different_tag_schemes(toy: Path, files: Path) -> None:
    job = prepare(recipe_of(toy, files, f"data.dev={files}/dev.conll"), ignore)
    assert job.labels["S-PER"] == 4 + 8
    assert job.labels["S-LOC"] == 4 + 4


def test_a_file_of_plain_tags_beside_entities_is_refused(toy: Path, files: Path) -> None:
    (files / "news.conll").write_text("Bert\tNOUN\nsleeps\tVERB\nwell\tADV\n\n" * 30, "utf-8")
    with pytest.raises(InputError, match="those of web are IOB2"):
        prepare(recipe_of(toy, files), ignore)


def test_a_domain_that_is_left_out_is_the_test_set(toy: Path, files: Path) -> None:
    recipe = recipe_of(toy, files, "data.leave_out=news")
    job = prepare(recipe, ignore)
    assert job.size("test") == 12
    assert len(job.train) + job.size("dev") == 8
    data = recipe_of(toy, files, "data.leave_out=news", f"data.test.news={files}/dev.conll").data
    assert data.files("test") == {"news": f"{files}/dev.conll"}
    assert list(data.files("train")) == ["web"]


def test_dev_and_test_files_may_be_named_too(toy: Path, files: Path) -> None:
    recipe = recipe_of(toy, files, f"data.dev.web={files}/dev.conll", f"data.dev.news={files}/news.conll")
    dev = read_dev(recipe, ignore)
    assert [sentence.meta["domain"] for sentence in dev] == ["web"] * 2 + ["news"] * 12


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (["data.leave_out=sport"], "data.leave_out: unknown domain 'sport'; use web or news"),
        (["data.train={}"], "train has no files"),
    ],
)
def test_unknown_domains_and_no_files_are_refused(
    toy: Path, files: Path, changes: list[str], problem: str
) -> None:
    with pytest.raises(RecipeError, match=problem):
        recipe_of(toy, files, *changes)


def test_leave_out_needs_named_files(toy: Path) -> None:
    with pytest.raises(RecipeError, match=r"data\.leave_out: needs a training file for each of several"):
        load_recipe(toy / "toy.toml", ["data.leave_out=web"])


def test_a_run_folder_keeps_named_files(toy: Path, files: Path, tmp_path: Path) -> None:
    recipe = recipe_of(toy, files, "data.leave_out=web")
    path = tmp_path / "again.toml"
    path.write_text(write_recipe(recipe), "utf-8")
    assert load_recipe(path) == recipe


def test_named_files_replace_the_file_of_a_recipe_and_its_companions(toy: Path, files: Path) -> None:
    data: CorpusConfig = recipe_of(toy, files).data
    assert list(data.files("train")) == ["web", "news"]
    assert data.files("dev") == {}
    assert data.train_name == f"{files}/web.conll, {files}/news.conll"


@pytest.mark.parametrize("name", ["texts", "labels"])
def test_texts_and_pairs_have_domains(name: str, text_toy: Path, pair_toy: Path) -> None:
    folder = text_toy if name == "texts" else pair_toy
    whole = load_recipe(folder / f"{name}.toml")
    train, dev = whole.data.train, whole.data.dev
    recipe = load_recipe(
        folder / f"{name}.toml", [f"data.train.a={train}", f"data.train.b={dev}", f"data.dev={dev}"]
    )
    job = prepare(recipe, ignore)
    single = prepare(whole, ignore)
    assert job.train.domains is not None
    assert job.train.domains.tolist() == [0] * len(single.train) + [1] * single.size("dev")
    assert job.train.batch(np.array([len(single.train), 0]))["domains"].tolist() == [1, 0]
    assert single.train.domains is None
