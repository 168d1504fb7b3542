"""What is told of a model's mixes is what they do, each under the place where it is used."""

from __future__ import annotations

import pytest
import torch

from gonie.features.encoding import Encoding
from gonie.tasks.language_model.recipe import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.tagging.recipe import TaggerConfig
from gonie.tasks.torch.layer_shares import layer_shares
from gonie.tasks.torch.parts import build, find_elmo

BILM = BilmConfig(byte_width=2, filters=[(1, 3)], width=2, hidden=3)


@pytest.mark.parametrize(
    ("at", "places"), [("input", ["input"]), ("output", ["output"]), ("both", ["input", "output"])]
)
@torch.no_grad()
def test_each_mix_is_told_under_its_place(encoding: Encoding, at: str, places: list[str]) -> None:
    config = TaggerConfig.model_validate(
        {"words": {}, "elmo": {"bilm": "", "at": at, "normalize": True}, "encoder": {"hidden": 2}}
    )
    model = build(config, encoding, bilm=build_bilm(BILM))
    elmo = find_elmo(model)
    assert elmo is not None
    for number, mix in enumerate(elmo.mixes):
        mix.weights[number] = 3.0  # type: ignore[index,operator,union-attr]
        mix.scale.fill_(number + 1.5)  # type: ignore[operator,union-attr]
    found = layer_shares(model, config.elmo)
    assert [each["place"] for each in found] == places
    for number, each in enumerate(found):
        assert sum(each["shares"]) == pytest.approx(1.0)
        assert max(range(3), key=each["shares"].__getitem__) == number
        assert (each["scale"], each["normalized"]) == (number + 1.5, True)


def test_a_model_without_has_nothing_to_tell(encoding: Encoding) -> None:
    config = TaggerConfig.model_validate({"words": {}, "encoder": {"hidden": 2}})
    assert layer_shares(build(config, encoding), config.elmo) == []
