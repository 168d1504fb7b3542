"""Recipe sections: every key has a description, values are validated, and recipes are frozen."""

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
def test_every_key_has_a_description(section: type[BaseModel]) -> None:
    """The recipe reference and the help in editors are generated from these descriptions."""
    assert section.__doc__
    for name, field in section.model_fields.items():
        assert field.description, f"{section.__name__}.{name} has no description"


@pytest.mark.parametrize(
    ("config", "field", "table"),
    [(DropoutConfig, "kind", DROPOUTS), (PoolingConfig, "norm", {"none": None, **NORMS})],
)
def test_every_allowed_value_can_be_built(
    config: type[BaseModel], field: str, table: dict[str, object]
) -> None:
    """A kind that is allowed but not in the table would raise a KeyError after minutes of reading data."""
    assert set(get_args(config.model_fields[field].annotation)) == set(table)


def test_recipes_have_a_key_for_every_contextual_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A source added to the table can be named in recipes without further changes."""

    class LookupConfig(ContextualConfig):
        """Contextual vectors from a table."""

    source = dataclasses.replace(CONTEXTUAL["elmo"], section=LookupConfig, description="looked up")
    monkeypatch.setitem(CONTEXTUAL, "lookup", source)
    for name, kind in recipe_types("train").items():
        assert issubclass(kind, TASKS[name].recipe())
        model = kind.model_fields["model"].annotation
        assert isinstance(model, type)
        assert issubclass(model, EmbeddingConfig)
        assert (kind.__doc__, kind.__name__) == (TASKS[name].recipe().__doc__, TASKS[name].recipe().__name__)
        assert list(model.model_fields)[-len(CONTEXTUAL) :] == list(CONTEXTUAL)
        assert model.model_fields["lookup"].description == "looked up"
    recipe = load_recipe("bilstm-crf", ["model.lookup.at=output"])
    assert {key: type(config) for key, config in recipe.model.contextual.items()} == {"lookup": LookupConfig}
    monkeypatch.undo()
    with pytest.raises(RecipeError, match=r"model\.lookup: unknown key"):
        load_recipe("bilstm-crf", ["model.lookup.at=output"])


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
def test_vectors_added_after_the_encoder_are_not_its_input(changes: list[str], seen: bool) -> None:
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
def test_invalid_training_values_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TrainConfig.model_validate(values)


@pytest.mark.parametrize(
    ("values", "unit"),
    [({}, "word"), ({"language": "ko"}, "eojeol"), ({"language": "ko", "unit": "syllable"}, "syllable")],
)
def test_a_language_has_a_default_token_unit(values: dict[str, str], unit: str) -> None:
    assert CorpusConfig.model_validate({"train": "x", **values}).token_unit == unit


def test_a_validated_recipe_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        TrainConfig().epochs = 3  # type: ignore[misc]


def test_a_label_map_may_be_given_by_name() -> None:
    recipe = load_recipe("ner-ko", ["data.map=nikl"])
    assert recipe.data.map["OGG_POLITICS"] == "OG"
    with pytest.raises(RecipeError, match=r"data.map.*no such label map: niki\. Did you mean nikl"):
        load_recipe("ner-ko", ["data.map=niki"])
    with pytest.raises(RecipeError, match=r"data.map.*invalid label map: 'mine'.*naver, nikl"):
        load_recipe("ner-ko", ["data.map=mine"])
