"""What a recipe may say: every key explained, every bound kept, and nothing changed after the fact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest
from gonie.tasks.torch.parts import CHARS, DROPOUTS, ENCODERS, HEADS, LAYERS
from pydantic import BaseModel, ValidationError

from gonie.tasks.classification.recipe import PoolingConfig, TextHeadConfig
from gonie.tasks.classification.torch.build import NORMS, POOLINGS, TEXT_HEADS
from gonie.tasks.recipe import recipe_types
from gonie.tasks.sections import CharsConfig, CorpusConfig, DropoutConfig, EncoderConfig, Section, TrainConfig
from gonie.tasks.tagging.recipe import HeadConfig


def sections(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        for option in (field.annotation, *get_args(field.annotation)):
            if isinstance(option, type) and issubclass(option, Section):
                yield from sections(option)


SECTIONS = dict.fromkeys(section for recipe in recipe_types("train").values() for section in sections(recipe))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_says_what_it_means(section: type[BaseModel]) -> None:
    """docs/recipe.md and an editor's help are made of these sentences; a key without one is a riddle."""
    assert section.__doc__
    for name, field in section.model_fields.items():
        assert field.description, f"{section.__name__}.{name} has no description"


@pytest.mark.parametrize(
    ("config", "field", "table"),
    [
        (CharsConfig, "kind", CHARS),
        (HeadConfig, "kind", HEADS),
        (DropoutConfig, "kind", DROPOUTS),
        (EncoderConfig, "kind", {**LAYERS, **ENCODERS}),
        (PoolingConfig, "norm", {"none": None, **NORMS}),
        (TextHeadConfig, "kind", {"auto": None, **TEXT_HEADS}),
    ],
)
def test_what_a_recipe_may_name_can_be_built(
    config: type[BaseModel], field: str, table: dict[str, object]
) -> None:
    """A kind that is allowed but not in the table would be a KeyError after minutes of reading data."""
    assert set(get_args(config.model_fields[field].annotation)) == set(table)


def test_every_pooling_that_a_recipe_may_name_can_be_built() -> None:
    (choices,) = get_args(PoolingConfig.model_fields["kinds"].annotation)
    assert set(get_args(choices)) == set(POOLINGS)


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
