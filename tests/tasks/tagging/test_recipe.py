"""Recipes of taggers: invalid combinations are refused before any data is read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gonie.tasks.recipe import load_recipe, recipe_types
from gonie.tasks.tagging.recipe import TaggerConfig


def test_a_model_without_input_is_refused() -> None:
    """It would train for an hour and give every word the same tag."""
    with pytest.raises(ValidationError, match=r"has no input.*model\.words\.width"):
        TaggerConfig.model_validate({"encoder": {"kind": "lstm"}})
    without = {"head": {"direct": ["spelling"]}, "encoder": {"kind": "none"}}
    for reading in ({"words": {}}, {"chars": {}}, without):
        TaggerConfig.model_validate(reading)


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
        ("model", {"elmo": {"bilm": "lm"}}, r"model\.elmo"),
        ("model", {"dropout": {"input": 0.0, "output": 0.0, "word": 0.1}}, r"model\.dropout\.word=0\.1"),
        ("model", {"dropout": {}}, r"model\.dropout\.input=0\.5, model\.dropout\.output=0\.5"),
        ("data", {"partial": "more.conll"}, r"data\.partial"),
        ("loss", {"distance": {"weight": 1.0}}, r"loss\.distance"),
        ("train", {"weight_decay": 0.1}, r"train\.weight_decay"),
        ("train", {"normalize": True}, r"train\.normalize"),
    ],
)
def test_settings_that_per_window_does_not_support_are_refused(
    section: str, change: dict[str, Any], named: str
) -> None:
    """Otherwise weight decay is silently ignored, and a character network fails after reading the data."""
    recipe = recipe_types("train")["tag"]
    recipe.model_validate(WINDOW)
    changed = {**WINDOW, section: {**WINDOW.get(section, {}), **change}}
    with pytest.raises(ValidationError, match=f"does not support {named};"):
        recipe.model_validate(changed)
    recipe.model_validate({**changed, "train": {**changed["train"], "optimizer": "sgd"}})


def test_feature_groups_of_all_parts_are_listed_once() -> None:
    """A group that two parts share is extracted only once."""
    config = TaggerConfig.model_validate(
        {"features": {"groups": ["context", "spelling"]}, "head": {"direct": ["spelling", "gazetteer"]}}
    )
    assert config.groups == ("context", "spelling", "gazetteer")


def test_names_of_numbered_tags_may_be_separated_by_commas() -> None:
    """As the message for numbered tags proposes: --set data.tag_names=O,B-PER."""
    recipe = load_recipe("tag", ["data.train=mine.jsonl", "data.tag_names=O, B-PER"])
    assert recipe.data.tag_names == ["O", "B-PER"]
