"""The files of external vectors of a recipe: which data file each belongs to, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gonie.errors import InputError, RecipeError
from gonie.tasks.external import RecipeVectors, open_vectors
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.prepare import synthetic

TRAIN, VECTORS = "data.train=train.conll", "model.external.train=train.npz"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write files of vectors of 2 numbers, and one of 3."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("train", "dev", "test", "web", "news"), start=1):
        np.savez(f"{name}.npz", x=np.full((number, 2), number, dtype=np.float32))
    np.savez("wide.npz", x=np.zeros((2, 3)))


def recipe(name: str, *changes: str) -> CorpusRecipe:
    found: CorpusRecipe = load_recipe(name, list(changes))
    return found


def opened(name: str, *changes: str) -> list[str]:
    """Open the vectors of a recipe, and return the notes."""
    own = recipe(name, *changes)
    notes: list[str] = []
    open_vectors(own.model.contextual["external"], own.data, notes.append)  # type: ignore[arg-type]
    return notes


def test_every_file_is_read_and_noted() -> None:
    dev = ("data.dev=dev.conll", "model.external.dev=dev.npz")
    assert opened("ner", TRAIN, VECTORS, *dev) == [
        "train.npz: 1 vector of 2 numbers, one for each token, in the order of the file",
        "dev.npz: 2 vectors of 2 numbers, one for each token, in the order of the file",
    ]
    assert "one for each text" in opened("classify", "data.train=t.tsv", VECTORS)[0]
    assert "one for each text" in opened("ner", TRAIN, VECTORS, "model.external.per=text")[0]


def test_vectors_belong_to_data_files_by_split_and_domain() -> None:
    named = recipe(
        "ner",
        'data.train={web = "web.conll", news = "news.conll"}',
        "data.dev=dev.conll",
        "data.leave_out=news",
        'model.external.train={web = "web.npz", news = "news.npz"}',
        "model.external.dev=dev.npz",
    )
    vectors = RecipeVectors(named)
    found = {name: vectors.of(f"{name}.conll") for name in ("web", "news", "dev")}
    assert {name: None if own is None else own.path for name, own in found.items()} == {
        "web": "web.npz",
        "news": "news.npz",
        "dev": "dev.npz",
    }
    assert vectors.of("other.conll") is None
    assert vectors.of("dev.conll") is found["dev"]
    assert bool(vectors)
    assert not RecipeVectors(recipe("ner"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["data.dev=dev.conll"], r"model\.external\.dev: the vectors of dev\.conll are missing"),
        (["data.test=t.conll"], r"model\.external\.test: the vectors of t\.conll are missing"),
        (["model.external.dev=dev.npz"], r"model\.external\.dev: there is no data\.dev"),
        (["model.external.train.web=web.npz"], r"model\.external\.train: the vectors of train\.conll are"),
        (["data.partial=p.conll"], r"data\.partial: cannot be combined with model\.external"),
        (["data.replay=r.conll"], r"data\.replay: .* train\.replay keeps them"),
        (["data.augment.copies=2"], r"set data\.augment\.copies=0"),
        (
            ["data.dev=train.conll", "model.external.dev=dev.npz"],
            r"train\.conll has two files of vectors: train\.npz and dev\.npz",
        ),
    ],
)
def test_files_that_do_not_fit_the_data_are_refused(changes: list[str], message: str) -> None:
    setting = [] if "train.web" in changes[0] else [VECTORS]
    with pytest.raises(RecipeError, match=message):
        opened("ner", TRAIN, *setting, *changes)


def test_a_dev_file_that_is_trained_on_needs_its_vectors_once() -> None:
    assert len(opened("ner", TRAIN, VECTORS, "data.dev=train.conll")) == 1


def test_files_of_several_widths_are_refused() -> None:
    with pytest.raises(InputError, match=r"wide\.npz: vectors of 3 numbers, but those of train\.npz have 2"):
        opened("ner", TRAIN, VECTORS, "data.dev=d.conll", "model.external.dev=wide.npz")


def test_classifiers_read_one_vector_per_text_and_pairs_none() -> None:
    with pytest.raises(RecipeError, match=r"model\.external\.per = token: classifiers read one vector"):
        opened("classify", "data.train=t.tsv", VECTORS, "model.external.per=token")
    assert opened("classify", "data.train=t.tsv", VECTORS, "data.augment.copies=1")
    with pytest.raises(RecipeError, match="works only with taggers and classifiers"):
        opened("pairs", VECTORS)
    with pytest.raises(RecipeError, match="works only with taggers and classifiers"):
        synthetic(recipe("pairs", VECTORS))


def test_all_keys_that_name_files_belong_to_the_data() -> None:
    source = CONTEXTUAL["external"]
    assert set(source.loaded_by) == set(source.section.of_files)
