"""Tests samples of a fixed size (``data.size``): they are nested, and dev and test stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError, RecipeError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.job import ExampleJob
from gonie.tasks.torch.prepare import data_key, prepare, read_dev
from gonie.tasks.written_recipe import write_recipe


@pytest.fixture(params=["tag", "classify", "pair"])
def recipe_file(request: pytest.FixtureRequest, toy: Path, text_toy: Path, pair_toy: Path) -> Path:
    return {
        "tag": toy / "toy.toml",
        "classify": text_toy / "texts.toml",
        "pair": pair_toy / "labels.toml",
    }[request.param]


def prepared(path: Path, *changes: str, notes: list[str] | None = None) -> ExampleJob:
    return prepare(load_recipe(path, changes), (notes if notes is not None else []).append)


def keys(examples: Any) -> list[str]:
    return [repr(each) for each in examples]


def test_samples_are_nested_and_held_out_data_is_whole(recipe_file: Path) -> None:
    whole = prepared(recipe_file)
    notes: list[str] = []
    small = prepared(recipe_file, "data.size=8", notes=notes)
    large = prepared(recipe_file, "data.size=24")
    some, more, every = (keys(job.examples("train")) for job in (small, large, whole))
    assert (len(some), len(more)) == (small.labelled, large.labelled) == (8, 24)
    assert len(every) == whole.labelled
    assert set(some) <= set(more) <= set(every)
    assert every == sorted(every, key=every.index), "in the order of the file"
    for split in ("dev", "test"):
        assert keys(small.examples(split)) == keys(whole.examples(split))
    assert len(small.train) == 8
    (line,) = [note for note in notes if "sampled" in note]
    assert f"sampled 8 of {whole.labelled} {small.noun} (data.size = 8)" in line


def test_the_seed_draws_the_sample(recipe_file: Path) -> None:
    one, same, other = (
        keys(prepared(recipe_file, "data.size=8", f"train.seed={seed}").examples("train"))
        for seed in (1, 1, 2)
    )
    assert one == same
    assert set(one) != set(other)
    recipes = [load_recipe(recipe_file, ["data.size=8", f"train.seed={seed}"]) for seed in (1, 2)]
    assert data_key(recipes[0]) != data_key(recipes[1]), "otherwise a comparison would share their data"


def test_a_written_recipe_gives_the_same_sample(recipe_file: Path, tmp_path: Path) -> None:
    recipe = load_recipe(recipe_file, ["data.size=8"])
    (tmp_path / "recipe.toml").write_text(write_recipe(recipe), "utf-8")
    again = prepare(load_recipe(tmp_path / "recipe.toml"), lambda text: None)
    assert keys(again.examples("train")) == keys(prepared(recipe_file, "data.size=8").examples("train"))


def test_held_out_examples_do_not_depend_on_the_size(recipe_file: Path) -> None:
    """Without a dev file, dev is held out of the whole file, and the sample is drawn from the rest."""
    held, small = (
        prepared(recipe_file, "data.dev=none"),
        prepared(recipe_file, "data.dev=none", "data.size=8"),
    )
    assert keys(small.examples("dev")) == keys(held.examples("dev"))
    assert set(keys(small.examples("train"))) <= set(keys(held.examples("train")))
    assert small.labelled == 8
    dev = read_dev(small.recipe, lambda text: None)
    assert keys(dev) == keys(small.examples("dev")), "an export is checked on the same examples"


def test_all_examples_can_be_the_sample_but_not_more(recipe_file: Path) -> None:
    whole = prepared(recipe_file)
    assert keys(prepared(recipe_file, f"data.size={whole.labelled}").examples("train")) == keys(
        whole.examples("train")
    )
    with pytest.raises(InputError, match=f"only {whole.labelled} .* to train on.*at most {whole.labelled}"):
        prepared(recipe_file, f"data.size={whole.labelled + 1}")


def test_tiny_files_are_dev_and_training_data(toy: Path, tmp_path: Path) -> None:
    """Nothing can be held out of them, so the sample is also dev, as without a size."""
    (tmp_path / "tiny.conll").write_text("Anna B-PER\nsleeps O\n\nIt O\nrains O\n\n", "utf-8")
    job = prepared(toy / "toy.toml", f"data.train={tmp_path / 'tiny.conll'}", "data.size=1")
    assert keys(job.examples("dev")) == keys(job.examples("train"))
    assert job.labelled == 1


def test_texts_have_the_share_of_each_label(text_toy: Path) -> None:
    whole, few = (prepared(text_toy / "texts.toml", *size) for size in ((), ("data.size=20",)))
    for label, times in few.labels.items():
        assert abs(times - 20 * whole.labels[label] / whole.labelled) < 1.5


def test_a_size_and_shots_are_refused(toy: Path) -> None:
    with pytest.raises(RecipeError, match=r"data\.size cannot be combined with train\.shots"):
        load_recipe(toy / "toy.toml", ["data.size=8", "train.shots=2"])


def test_words_of_other_sentences_are_unknown(toy: Path) -> None:
    whole, few = prepared(toy / "toy.toml"), prepared(toy / "toy.toml", "data.size=4")
    known = {word.lower() for sentence in few.examples("train") for word in sentence.words}
    assert len(few.encoding.words) < len(whole.encoding.words)
    assert len(few.encoding.words) <= len(known) + 3
