"""The language model that `auto` chooses, and the settings that turn it off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gonie.errors import RecipeError
from gonie.tasks.elmo import MOST_SENTENCES, ElmoConfig
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.paths import missing_paths, with_absolute_paths
from gonie.tasks.recipe import load_recipe, recipe_names
from gonie.tasks.sections import CorpusConfig

AUTO = ElmoConfig(bilm="auto", at="both", l2=0.5)


def resolve(sentences: int, **data: Any) -> tuple[Any, str]:
    return CONTEXTUAL["elmo"].resolve(AUTO, CorpusConfig(train="x", **data), range(sentences))


def test_auto_is_the_shipped_model_where_it_was_measured_to_win() -> None:
    for number in (1, 600, MOST_SENTENCES):
        section, reason = resolve(number)
        assert section == ElmoConfig(bilm="en", at="both", l2=0.5), "other keys are kept"
        assert f"en, because the training file has {number:,} sentences, at most 10,000" in reason
        assert "--set model.elmo.bilm=none" in reason


@pytest.mark.parametrize(
    ("sentences", "data", "reason"),
    [
        (MOST_SENTENCES + 1, {}, "more than 10,000 sentences. To use it: --set model.elmo.bilm=en"),
        (9, {"vectors": "v.txt"}, "pretrained word vectors. To use it: --set model.elmo.bilm=en"),
        (9, {"language": "ko"}, "en is for English words, not for ko eojeols"),
        (9, {"unit": "syllable"}, "en is for English words, not for en syllables"),
    ],
)
def test_elsewhere_auto_is_none(sentences: int, data: dict[str, str], reason: str) -> None:
    section, told = resolve(sentences, **data)
    assert section is None
    assert told.startswith("language model: none, because ")
    assert told.endswith(reason)


def test_a_long_file_is_not_read_to_its_end() -> None:
    read = 0

    def endless() -> Iterator[int]:
        nonlocal read
        while True:
            read += 1
            yield read

    assert CONTEXTUAL["elmo"].resolve(AUTO, CorpusConfig(train="x"), endless()).section is None
    assert read == MOST_SENTENCES + 1


@pytest.mark.parametrize("change", ["model.elmo.bilm=none", "model.elmo.bilm=None", "model.elmo=none"])
def test_none_turns_it_off(change: str) -> None:
    recipe = load_recipe("ner", [change])
    assert recipe.model.elmo is None
    assert recipe.model.contextual == {}


def test_only_recipes_of_entities_have_it_by_default() -> None:
    named = ["data.train=x"]  # chunk has no training file of its own
    with_default = [name for name in recipe_names("tag") if load_recipe(name, named).model.contextual]
    assert with_default == ["ner", "ner-ko-elmo"]
    assert load_recipe("ner").model.elmo == ElmoConfig(bilm="auto")


def test_auto_is_not_a_path() -> None:
    recipe = load_recipe("ner")
    assert with_absolute_paths(recipe).model.elmo.bilm == "auto"
    assert not missing_paths(recipe)
    assert load_recipe("ner", ["model.elmo.bilm=./auto"]).model.elmo.undecided is False


def test_auto_alone_is_no_input() -> None:
    """It may turn out to be none."""
    recipe = load_recipe("ner", ["model.words=none"])
    assert recipe.model.sees_tokens
    bare = ["model.words=none", "model.chars=none"]
    with pytest.raises(RecipeError, match="the model has no input"):
        load_recipe("ner", bare)
    assert load_recipe("ner", [*bare, "model.elmo.bilm=en"]).model.sees_tokens
