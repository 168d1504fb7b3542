"""Tests layers: freezing, gradual unfreezing and learning rates by depth."""

from __future__ import annotations

import pytest

from gonie.errors import InputError, RecipeError
from gonie.nn.encoders import Deep, NoEncoder
from gonie.nn.encoders.adapter import Adapted
from gonie.nn.encoders.bypass import Bypass
from gonie.nn.protocols import Encoder
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.layers import (
    freeze_layers,
    layer_notes,
    layer_rates,
    lower_encoder,
    resting_layers,
)
from gonie.tasks.torch.prepare import synthetic

DEEP = ("model.encoder.layers=2", "model.words.width=4", "model.chars.width=4")
NAMES = {
    "ner": ["embedding", "encoder", "head"],
    "subjectivity": ["embedding", "encoder", "pooling", "head"],
    "reviews-han": ["embedding", "encoder", "pooling", "sentences", "head"],
    "pairs": ["embedding", "encoder", "matching", "hidden", "head"],
}


@pytest.mark.parametrize("name", NAMES)
def test_the_layers_cover_every_weight_of_a_network_once(name: str) -> None:
    model = synthetic(load_recipe(name, ["model.encoder.layers=1"])).model
    layers = model.layers()
    assert list(layers) == NAMES[name]
    found = [id(weight) for layer in layers.values() for weight in layer.parameters()]
    assert sorted(found) == sorted(map(id, model.parameters()))


def test_each_layer_of_a_deep_encoder_is_a_layer() -> None:
    model = synthetic(load_recipe("ner", DEEP)).model
    assert list(model.layers()) == ["embedding", "encoder.1", "encoder.2", "head"]


def trained(model: object) -> set[str]:
    return {name.split(".")[0] for name, weight in model.named_parameters() if weight.requires_grad}  # type: ignore[attr-defined]


def test_frozen_layers_are_not_trained_and_encoder_stands_for_all_its_layers() -> None:
    recipe = load_recipe("ner", [*DEEP, 'train.freeze=["encoder"]'])
    model = synthetic(recipe).model
    freeze_layers(model, recipe.train)
    assert trained(model) == {"embedding", "heads"}


@pytest.mark.parametrize(
    ("kind", "number"), [("low-rank", 2 * 2 * (2 * 2 + 2)), ("bottleneck", 8), ("both", 32)]
)
def test_with_adapters_only_they_and_the_head_are_trained(kind: str, number: int) -> None:
    recipe = load_recipe("ner", [*DEEP, f"model.adapter.kind={kind}", "model.adapter.embedding=2"])
    model = synthetic(recipe).model
    freeze_layers(model, recipe.train)
    names = [name for name, weight in model.named_parameters() if weight.requires_grad]
    parts = [name for name in names if not name.startswith("heads.")]
    assert all(any(key in name for key in ("before.", "after.", "change")) for name in parts)
    assert len([name for name in parts if name.startswith("encoder.")]) == number
    assert len([name for name in parts if name.startswith("embedding.")]) == 1 + 4, "words and characters"


def test_with_adapters_more_layers_can_be_frozen_but_none_is_trained() -> None:
    recipe = load_recipe("ner", [*DEEP, "model.adapter.kind=low-rank", 'train.freeze=["head"]'])
    model = synthetic(recipe).model
    freeze_layers(model, recipe.train)
    names = [name for name, weight in model.named_parameters() if weight.requires_grad]
    assert names
    assert all("change" in name for name in names)


@pytest.mark.parametrize(
    ("names", "problem"), [('["encodr"]', "encoder"), ('["embedding", "encoder", "head"]', "all layers")]
)
def test_an_unknown_layer_and_a_frozen_model_are_refused(names: str, problem: str) -> None:
    recipe = load_recipe("ner", ["model.encoder.layers=1", f"train.freeze={names}"])
    with pytest.raises(RecipeError, match=rf"train\.freeze.*{problem}"):
        freeze_layers(synthetic(recipe).model, recipe.train)


def test_layers_are_unfrozen_one_by_one_from_the_top() -> None:
    recipe = load_recipe("ner", [*DEEP, "train.unfreeze=2"])
    model = synthetic(recipe).model
    resting = resting_layers(model, recipe.train)
    names = {id(layer): name for name, layer in model.layers().items()}
    found = [[names[id(layer)] for layer in resting(done)] for done in (0.0, 1.9, 2.0, 4.5, 6.0, 9.0)]
    three, two, one = ["embedding", "encoder.1", "encoder.2"], ["embedding", "encoder.1"], ["embedding"]
    assert found == [three, three, two, one, [], []]
    assert not list(resting_layers(model, load_recipe("ner", DEEP).train)(0.0))


def test_frozen_layers_do_not_count_in_unfreezing() -> None:
    """Or the first epochs would train nothing, which fails."""
    recipe = load_recipe("ner", [*DEEP, "train.unfreeze=1", 'train.freeze=["head", "encoder.1"]'])
    model = synthetic(recipe).model
    freeze_layers(model, recipe.train)
    resting = resting_layers(model, recipe.train)
    names = {id(layer): name for name, layer in model.layers().items()}
    assert [[names[id(layer)] for layer in resting(done)] for done in (0.0, 1.0)] == [["embedding"], []]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (['train.freeze=["embedding"]'], ["train.freeze: "]),
        (["model.adapter.kind=low-rank"], ["adapters: "]),
        (
            ["train.unfreeze=2", "train.epochs=4"],
            [
                "train.unfreeze: training ends before these layers are trained: embedding, encoder.1; set "
                "train.epochs to more than 6, or lower train.unfreeze"
            ],
        ),
        (["train.unfreeze=2", "train.epochs=7"], []),
        ([], []),
    ],
)
def test_layers_that_are_not_trained_are_noted(changes: list[str], words: list[str]) -> None:
    recipe = load_recipe("ner", [*DEEP, *changes])
    model = synthetic(recipe).model
    freeze_layers(model, recipe.train)
    notes = list(layer_notes(model, recipe))
    assert len(notes) == len(words)
    assert all(note.startswith(start) for note, start in zip(notes, words, strict=True))
    share = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    assert all(f": {share:,} of" in note for note in notes if "parameters" in note)


def test_each_layer_learns_slower_than_the_one_above() -> None:
    recipe = load_recipe("ner", [*DEEP, "train.layer_rate=0.5", "model.elmo=none"])
    model = synthetic(recipe).model
    assert layer_rates(model, recipe.train) == {
        "encoder.layers.0.": 0.25,
        "encoder.layers.1.": 0.5,
        "embedding.": 0.125,
        "heads.": 1.0,
    }
    assert layer_rates(model, load_recipe("ner", DEEP).train) == {}


def test_the_lower_layers_of_an_encoder_share_its_parts() -> None:
    layers = [NoEncoder(width=4), NoEncoder(width=4), NoEncoder(width=4)]
    deep = Deep(layers=layers)
    assert lower_encoder(deep, None) is deep
    assert lower_encoder(deep, 3) is deep
    assert lower_encoder(deep, 1) is layers[0]
    two = lower_encoder(deep, 2)
    assert isinstance(two, Deep)
    assert list(two.layers) == layers[:2]
    past = lower_encoder(Bypass(encoder=deep, passed=3), 1)
    assert isinstance(past, Bypass)
    assert (past.encoder, past.passed, past.width) == (layers[0], 3, 7)


@pytest.mark.parametrize(
    ("encoder", "layer", "problem"),
    [
        (NoEncoder(width=4), 2, "no layer 2: the encoder has 1 layer"),
        (Adapted(encoder=Deep(layers=[NoEncoder(width=4)] * 2), hidden=2), 1, "adapters are at the top"),
    ],
)
def test_layers_that_cannot_be_read_are_refused(encoder: Encoder, layer: int, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        lower_encoder(encoder, layer)
