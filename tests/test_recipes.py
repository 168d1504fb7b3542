"""The recipes that ship: each loads, trains, exports and tags, and the commands in its comment are right."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gonie import load
from gonie.errors import RecipeError
from gonie.models.recipe import load_recipe, locate, recipe_names
from gonie.models.tag_config import TagRecipe as Recipe
from gonie.training.run import start_run

FOLDER = Path(__file__).parent.parent / "src" / "gonie" / "recipes"
DOCS = Path(__file__).parent.parent / "docs" / "recipe.md"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
SIX = {
    "rnn": ("rnn", False, "softmax"),
    "lstm": ("peephole", False, "softmax"),
    "bilstm": ("peephole", True, "softmax"),
    "crf": ("none", None, "crf"),
    "lstm-crf": ("peephole", False, "crf"),
    "bilstm-crf": ("peephole", True, "crf"),
}

ENTITIES = "Anna\tB-PER\nKim\tI-PER\nsaw\tO\nSeoul\tB-LOC\n.\tO\n\nOslo\tB-LOC\nis\tO\nfar\tO\n\n"
PARTS = "the\tDET\ndog\tNOUN\nran\tVERB\n\na\tDET\ncat\tNOUN\nslept\tVERB\n\n"
CHUNKS = (
    "He PRP B-NP\nreckons VBZ B-VP\nthe DT B-NP\ndeficit NN I-NP\n. . O\n\nThey PRP B-NP\nran VBD B-VP\n\n"
)
SYLLABLES = "## klue-ner-v1_dev_00000\t<서울:LC>은 춥다\n서\tB-LC\n울\tI-LC\n은\tO\n \tO\n춥\tO\n다\tO\n\n"
TINY = {"pos": PARTS, "chunk": CHUNKS, "demo-ko": SYLLABLES, "ner-ko": SYLLABLES}
SMALL = {
    "words": ("model.words.width=8",),
    "chars": ("model.chars.width=4", "model.chars.hidden=4"),
    "encoder": ("model.encoder.hidden=6",),
}


def comment(name: str) -> list[str]:
    """The comment that a recipe begins with, without its signs; commands over two lines are joined."""
    lines = (FOLDER / f"{name}.toml").read_text("utf-8").splitlines()
    head = lines[: next(i for i, line in enumerate(lines) if not line.startswith("#"))]
    return "\n".join(line.removeprefix("#").strip() for line in head).replace("\\\n", " ").splitlines()


def commands(name: str) -> Iterator[list[str]]:
    for line in comment(name):
        if line.startswith("gonie "):
            yield shlex.split(re.split(r"\s{3,}", line)[0] if "\\" not in line else line)


def test_what_lies_in_the_folder_ships() -> None:
    assert recipe_names() == NAMES
    assert set(NAMES) >= {*SIX, "ner", "pos", "chunk", "ner-ko", "demo", "demo-ko"}


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_begins_with_the_commands_that_use_it(name: str) -> None:
    """They are the first thing that a reader copies: each must be one that gonie takes."""
    if name.startswith("demo"):
        assert any("`gonie demo`" in line for line in comment(name))
        return
    found = list(commands(name))
    assert any(command[1:3] == ["train", name] for command in found)
    for command in found:
        if command[1] == "train":
            changes = [command[i + 1] for i, word in enumerate(command) if word == "--set"]
            assert set(command[3::2]) <= {"--set"}
            load_recipe(command[2], changes)


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_a_recipe_is_in_the_documentation(name: str) -> None:
    documented = DOCS.read_text("utf-8")
    values = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    for changes in values.pop("variants", {}).values():
        assert all(f"`{key}`" in documented for key in changes)
    for key in _keys(values):
        if not key.startswith("data.columns."):
            assert f"`{key}`" in documented, f"{name}: {key} is not in {DOCS.name}"


def _keys(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")
        else:
            yield prefix + key


@pytest.mark.parametrize("name", [name for name in NAMES if name != "chunk"])
def test_the_files_that_a_recipe_names_ship(name: str) -> None:
    data = load_recipe(name).data
    for path in (data.train, data.dev, data.test):
        assert path is not None
        assert path.startswith("bundled:")
        assert locate(path).is_file()
        assert (locate(path).parent / "LICENSE.md").is_file()


def test_chunk_asks_for_its_training_file() -> None:
    with pytest.raises(RecipeError, match=r"data\.train: expected a value.*--set data\.train="):
        load_recipe("chunk")


@pytest.mark.parametrize("name", SIX)
def test_the_six_models_differ_in_what_the_paper_says(name: str) -> None:
    kind, both, head = SIX[name]
    model = load_recipe(name).model
    assert (model.encoder.kind, model.head.kind) == (kind, head)
    assert both is None or model.encoder.bidirectional is both
    assert model.head.direct == ["spelling", "context"]
    assert (model.words is None) == (kind == "none")
    assert load_recipe(name).train == load_recipe("bilstm-crf").train
    assert load_recipe("rnn").model.encoder.activation == "sigmoid"


def tiny(name: str, folder: Path) -> Recipe:
    """The recipe over a few sentences, small and an epoch long; its kinds of parts as they are."""
    path = folder / ("tiny.klue" if name.endswith("-ko") else "tiny.conll")
    path.write_text(TINY.get(name, ENTITIES) * 6, "utf-8")
    files = [f"data.{split}={path}" for split in ("train", "dev", "test")]
    settings = [*files, "train.epochs=1", "train.device=cpu"]
    model = load_recipe(name, settings).model
    small = [change for part, changes in SMALL.items() if getattr(model, part) for change in changes]
    return load_recipe(name, [*settings, *small])


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_trains_exports_and_tags(name: str, tmp_path: Path, silence: Any, gonie: Any) -> None:
    result = start_run(tiny(name, tmp_path), tmp_path / "run", silence)
    assert result is not None
    (_, dev), (_, test) = result.evaluations.items()
    assert dev.headline == test.headline
    if name == "chunk":  # its features need parts of speech beside the words
        shown = gonie("tag", tmp_path / "run", "--input", "conll", "--file", tmp_path / "tiny.conll")
        assert shown.code == 0, shown.err
        assert "reckons" in shown.out
        assert gonie("tag", tmp_path / "run", "He ran.").refused("'pos'")
        return
    text = "서울은 춥다" if name.endswith("-ko") else "Anna Kim saw the dog."
    document = load(tmp_path / "run")(text)
    assert "".join(token.text for token in document.tokens) == text.replace(" ", "")
    assert all(tag for tag in document.tags)
