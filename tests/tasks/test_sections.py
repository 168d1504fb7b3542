"""What a recipe may say: every key explained, every bound kept, and nothing changed after the fact."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import get_args

import pytest
from pydantic import BaseModel, ValidationError

from gonie.errors import RecipeError
from gonie.tasks.classification.recipe import PoolingConfig
from gonie.tasks.classification.torch.build import NORMS
from gonie.tasks.contextual import ContextualConfig
from gonie.tasks.language_model.recipe import PretrainRecipe
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.recipe import load_recipe, recipe_types
from gonie.tasks.section import Section
from gonie.tasks.sections import CorpusConfig, DropoutConfig, EmbeddingConfig, TrainConfig, with_sources
from gonie.tasks.table import TASKS
from gonie.tasks.torch.build import DROPOUTS


def sections(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        for option in (field.annotation, *get_args(field.annotation)):
            if isinstance(option, type) and issubclass(option, Section):
                yield from sections(option)


SECTIONS = dict.fromkeys(
    section
    for command in ("train", "pretrain")
    for recipe in recipe_types(command).values()
    for section in sections(recipe)
)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_says_what_it_means(section: type[BaseModel]) -> None:
    """The page of recipes and an editor's help are made of these sentences."""
    assert section.__doc__
    for name, field in section.model_fields.items():
        assert field.description, f"{section.__name__}.{name} has no description"


@pytest.mark.parametrize(
    ("config", "field", "table"),
    [(DropoutConfig, "kind", DROPOUTS), (PoolingConfig, "norm", {"none": None, **NORMS})],
)
def test_what_a_recipe_may_name_can_be_built(
    config: type[BaseModel], field: str, table: dict[str, object]
) -> None:
    """A kind that is allowed but not in the table would be a KeyError after minutes of reading data."""
    assert set(get_args(config.model_fields[field].annotation)) == set(table)


def test_a_recipe_has_a_key_for_every_contextual_source_and_stays_one_of_its_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A source that is added to the table can be named in recipes; nothing else needs to know of it."""

    class LookupConfig(ContextualConfig):
        """Vectors in context from a table."""

    source = dataclasses.replace(CONTEXTUAL["elmo"], section=LookupConfig, description="looked up")
    monkeypatch.setitem(CONTEXTUAL, "lookup", source)
    for name, kind in recipe_types("train").items():
        assert issubclass(kind, TASKS[name].recipe())
        model = kind.model_fields["model"].annotation
        assert isinstance(model, type)
        assert issubclass(model, EmbeddingConfig)
        assert (kind.__doc__, kind.__name__) == (TASKS[name].recipe().__doc__, TASKS[name].recipe().__name__)
        assert list(model.model_fields)[-2:] == ["elmo", "lookup"]
        assert model.model_fields["lookup"].description == "looked up"
    recipe = load_recipe("ner", ["model.lookup.at=output"])
    assert {key: type(config) for key, config in recipe.model.contextual.items()} == {"lookup": LookupConfig}
    monkeypatch.undo()
    with pytest.raises(RecipeError, match=r"model\.lookup: unknown key"):
        load_recipe("ner", ["model.lookup.at=output"])


def test_a_recipe_without_embeddings_has_no_contextual_sources() -> None:
    assert with_sources(PretrainRecipe) is PretrainRecipe


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        (["model.elmo.bilm=lm"], True),
        (["model.elmo.bilm=lm", "model.elmo.at=both"], True),
        (["model.elmo.bilm=lm", "model.elmo.at=output"], False),
        (["model.chars.width=3"], True),
        ([], False),
    ],
)
def test_vectors_beside_the_encoders_states_are_nothing_for_it_to_read(
    changes: list[str], seen: bool
) -> None:
    assert load_recipe("crf", changes).model.sees_tokens is seen


@pytest.mark.parametrize(
    "values",
    [
        {"lr": 0},
        {"lr": float("inf")},
        {"lr": float("nan")},
        {"epochs": 0},
        {"average": 1.0},
        {"momentum": 1.0},
        {"clip": -1},
        {"batch_tokens": 0},
        {"batch_sentences": "many"},
        {"checkpoint_seconds": 0},
        {"seed": -1},
        {"device": "gpu"},
    ],
    ids=str,
)
def test_a_value_that_cannot_work_is_refused_before_training(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TrainConfig.model_validate(values)


@pytest.mark.parametrize(
    ("values", "unit"),
    [({}, "word"), ({"language": "ko"}, "eojeol"), ({"language": "ko", "unit": "syllable"}, "syllable")],
)
def test_a_language_has_its_usual_unit(values: dict[str, str], unit: str) -> None:
    assert CorpusConfig.model_validate({"train": "x", **values}).token_unit == unit


def test_a_recipe_cannot_be_changed_after_it_was_checked() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        TrainConfig().epochs = 3  # type: ignore[misc]
