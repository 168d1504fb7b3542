"""Language models from shapes: the right layers and the published number of parameters."""

from __future__ import annotations

import pytest

from gonie.nn.bilm import ClippedLSTM, ProjectedLSTM
from gonie.tasks.language_model.recipe import LanguageModelConfig, WordSoftmaxConfig
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm, build_language_model


def test_the_small_published_shape_has_its_published_size() -> None:
    """The authors' table of models says 13.6 million parameters."""
    bilm = build_bilm(BilmConfig())
    assert sum(weight.numel() for weight in bilm.parameters()) == 13_593_312


@pytest.mark.parametrize(("clip", "kind"), [(0.0, ProjectedLSTM), (3.0, ClippedLSTM)])
def test_clipping_selects_the_slower_layer(clip: float, kind: type[ProjectedLSTM]) -> None:
    shape = BilmConfig(filters=[(1, 2)], width=4, hidden=6, layers=3, cell_clip=clip, state_clip=clip)
    bilm = build_bilm(shape)
    assert bilm.layers == 4
    assert {type(layer) for way in (bilm.ahead, bilm.back) for layer in way.layers} == {kind}


def test_directions_share_no_weights() -> None:
    bilm = build_bilm(BilmConfig(filters=[(1, 2)], width=4, hidden=6))
    ahead, back = ({id(weight) for weight in way.parameters()} for way in (bilm.ahead, bilm.back))
    assert not ahead & back


def test_the_softmax_is_as_large_as_the_vocabulary() -> None:
    config = LanguageModelConfig(
        filters=[(1, 2)], width=4, hidden=6, softmax=WordSoftmaxConfig(exact=3, sampled=2)
    )
    model = build_language_model(config, 10)
    assert model.softmax.weight.shape == (10, 4)
    assert (model.softmax.exact, model.softmax.sampled) == (3, 2)
