"""Recipes of taggers: invalid combinations are refused before any data is read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gonie.errors import RecipeError
from gonie.tasks.recipe import load_recipe, recipe_types
from gonie.tasks.tagging.heads import head_recipe
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


@pytest.mark.parametrize("kind", ["prototypes", "nearest"])
def test_partial_tags_are_refused_with_a_head_that_needs_all_tags(kind: str) -> None:
    """Before any file is read: none of these exists."""
    with pytest.raises(
        RecipeError, match=rf"model\.head\.kind = {kind}: cannot be combined with data\.partial"
    ):
        load_recipe("ner", ["data.train=a", "data.partial=b", f"model.head.kind={kind}"])


# --- auxiliary heads -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (["heads.pos.layer=1"], r"heads\.pos\.train: missing value .*--set heads\.pos\.train="),
        (["heads.pos.train=a", "heads.pos.layr=1"], r"heads\.pos\.layr: unknown key; did you mean 'layer'"),
        (["heads.pos.train=a", "heads.pos.weight=-1"], r"heads\.pos\.weight: must be at least 0: -1"),
        (["heads.pos.train=a", "heads.pos.kind=nearest"], r"heads\.pos\.kind: nearest has no loss"),
        (["heads.tags.train=a"], r"heads: invalid name: 'tags'"),
        (["heads.a/b.train=a"], r"heads: invalid name: 'a/b'"),
        (["heads.pos.train=a", "heads.POS.train=b"], r"heads: two names differ only in case: pos, POS"),
        (["heads.pos.train=a", "model.head.kind=prototypes"], r"prototypes trains no encoder"),
        (["heads.pos.train=a", "train.optimizer=per-window"], r"per-window does not support .*heads\.pos"),
    ],
)
def test_invalid_heads_are_refused(changes: list[str], problem: str) -> None:
    with pytest.raises(RecipeError, match=problem):
        load_recipe("ner", changes)


@pytest.mark.parametrize("name", ["subjectivity", "pairs"])
def test_other_tasks_have_no_heads(name: str) -> None:
    with pytest.raises(RecipeError, match="heads: unknown key"):
        load_recipe(name, ["heads.pos.train=a"])


def test_the_recipe_of_a_head_has_its_files_and_the_words_of_the_main_one() -> None:
    """Keys that tell how to read the main file do not apply to that of the head."""
    changes = ["data.train=a.conll", "data.tag_column=3", "data.lowercase=false", "data.cache=kept"]
    head = ["heads.pos.train=b.conllu", "heads.pos.tag_column=upos", "heads.pos.layer=1"]
    recipe = load_recipe("ner", [*changes, *head, "model.encoder.layers=3", "loss.perturb.weight=1"])
    own = head_recipe(recipe, "pos")
    assert (own.data.train, own.data.tag_column, own.data.dev) == ("b.conllu", "upos", None)
    assert not own.data.lowercase
    assert own.data.cache == "kept/heads/pos"
    assert own.model.encoder.layers == 1
    assert (own.heads, own.loss) == ({}, {})
    assert type(own).model_validate(own.model_dump()) == own
