"""What a recipe may say: every key explained, every bound kept, and nothing changed after the fact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from gonie.models.build import CHARS, DROPOUTS, ENCODERS, HEADS, LAYERS
from gonie.models.config import (
    CharsConfig,
    DataConfig,
    DropoutConfig,
    EncoderConfig,
    HeadConfig,
    ModelConfig,
    Recipe,
    Section,
    TrainConfig,
)


def sections(model: type[BaseModel] = Recipe) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        for option in (field.annotation, *get_args(field.annotation)):
            if isinstance(option, type) and issubclass(option, Section):
                yield from sections(option)


@pytest.mark.parametrize("section", list(sections()), ids=lambda section: section.__name__)
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
    ],
)
def test_what_a_recipe_may_name_can_be_built(
    config: type[BaseModel], field: str, table: dict[str, object]
) -> None:
    """A kind that is allowed but not in the table would be a KeyError after minutes of reading data."""
    assert set(get_args(config.model_fields[field].annotation)) == set(table)


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


def test_a_model_that_reads_nothing_is_refused() -> None:
    """It would train for an hour and give every word the same tag."""
    with pytest.raises(ValidationError, match=r"reads nothing.*model\.words\.width"):
        ModelConfig.model_validate({"encoder": {"kind": "lstm"}})
    without = {"head": {"direct": ["spelling"]}, "encoder": {"kind": "none"}}
    for reading in ({"words": {}}, {"chars": {}}, without):
        ModelConfig.model_validate(reading)


WINDOW: dict[str, Any] = {
    "data": {"train": "train.conll"},
    "model": {
        "words": {},
        "encoder": {"kind": "window"},
        "head": {"kind": "sigmoid"},
        "dropout": {"input": 0.0, "output": 0.0},
    },
    "train": {"optimizer": "per-window"},
}


@pytest.mark.parametrize(
    ("section", "change", "named"),
    [
        ("model", {"encoder": {"kind": "lstm"}}, r"model\.encoder\.kind=lstm"),
        ("model", {"head": {"kind": "crf"}}, r"model\.head\.kind=crf"),
        ("model", {"head": {"kind": "sigmoid", "direct": ["spelling"]}}, r"model\.head\.direct"),
        ("model", {"head": {"kind": "sigmoid", "weights": {"PER": 2.0}}}, r"model\.head\.weights"),
        ("model", {"chars": {}}, r"model\.chars"),
        ("model", {"dropout": {"input": 0.0, "output": 0.0, "word": 0.1}}, r"model\.dropout\.word=0\.1"),
        ("model", {"dropout": {}}, r"model\.dropout\.input=0\.5, model\.dropout\.output=0\.5"),
        ("data", {"partial": "more.conll"}, r"data\.partial"),
        ("train", {"weight_decay": 0.1}, r"train\.weight_decay"),
        ("train", {"normalize": True}, r"train\.normalize"),
    ],
)
def test_what_updates_per_window_cannot_do_is_refused_and_not_left_out_in_silence(
    section: str, change: dict[str, Any], named: str
) -> None:
    """A decay of the weights did nothing, and a character network was refused only when all was read."""
    Recipe.model_validate(WINDOW)
    changed = {**WINDOW, section: {**WINDOW[section], **change}}
    with pytest.raises(ValidationError, match=f"it knows no {named}\\. "):
        Recipe.model_validate(changed)
    Recipe.model_validate({**changed, "train": {**changed["train"], "optimizer": "sgd"}})


def test_feature_groups_are_those_of_all_parts_each_once() -> None:
    """A group that two parts share is extracted once; one that none uses costs nothing."""
    config = ModelConfig.model_validate(
        {"features": {"groups": ["context", "spelling"]}, "head": {"direct": ["spelling", "gazetteer"]}}
    )
    assert config.groups == ("context", "spelling", "gazetteer")


@pytest.mark.parametrize(
    ("values", "unit"),
    [({}, "word"), ({"language": "ko"}, "eojeol"), ({"language": "ko", "unit": "syllable"}, "syllable")],
)
def test_a_language_has_its_usual_unit(values: dict[str, str], unit: str) -> None:
    assert DataConfig.model_validate({"train": "x", **values}).token_unit == unit


def test_a_recipe_cannot_be_changed_after_it_was_checked() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        TrainConfig().epochs = 3  # type: ignore[misc]
