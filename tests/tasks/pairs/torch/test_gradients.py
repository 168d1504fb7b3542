"""If these break, weights belong to the wrong words or do not add up to the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gonie
from gonie.explaining.torch.path_integral import integrate
from gonie.tasks.classification.explanation import TextAnswer
from gonie.tasks.pairs.torch import task
from gonie.tasks.torch.trained import load_trained
from gonie.text.labelled_text import LabelledPair

PAIRS = [
    LabelledPair("The plot is fine.", "The cast is lovely and the plot is clever."),
    LabelledPair("The film is endless. The cast is dull.", "lovely"),
    LabelledPair("dull", "dull"),
]


@pytest.fixture(params=["labels", "values"])
def trained(request: pytest.FixtureRequest, pair_runs: Path) -> tuple[Any, Any]:
    folder = pair_runs / request.param
    return load_trained(folder).model.eval(), gonie.load(folder)


def answer_of(model: Any, pair: LabelledPair) -> TextAnswer:
    return TextAnswer(model.tokenise(pair).passage, model.labels[0])


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.first)
def test_the_function_gives_the_log_odds_of_the_answer(trained: tuple[Any, Any], pair: LabelledPair) -> None:
    network, model = trained
    path = task.odds_path(network, model, answer_of(model, pair))
    with torch.no_grad():
        one, *rest = path.function(*(torch.stack([x] * 3) for x in path.inputs)).tolist()
    assert rest == pytest.approx([one] * 2, abs=1e-5), "points are read one beside the other"
    found = model(pair.first, pair.second)
    scale = model.pair_encoding.scale
    share = found.scores[model.labels[0]] if scale is None else scale.share(found.value)
    assert one == pytest.approx(np.log(share / (1 - share)), abs=1e-3)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.first)
def test_each_weight_belongs_to_its_token(trained: tuple[Any, Any], pair: LabelledPair) -> None:
    """This holds whichever text is longer; here a weight is the sum of the token's vector."""
    network, model = trained
    path = task.odds_path(network, model, answer_of(model, pair))
    found = path.words(path.inputs)
    words = [word for sentence in model.tokenise(pair).passage.sentences for word in sentence.words]
    table = network.embedding.weight.detach()
    encoding = model.encoding.words
    wanted = [float(table[encoding.word_id(word)].sum()) for word in words]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.first)
def test_with_more_steps_the_weights_sum_to_the_answer(trained: tuple[Any, Any], pair: LabelledPair) -> None:
    """Integrated gradients are complete: they sum to the answer minus that of zero vectors."""
    network, model = trained
    path = task.odds_path(network, model, answer_of(model, pair))
    with torch.no_grad():
        ends = [path.function(*(share * x.unsqueeze(0) for x in path.inputs)).item() for share in (0, 1)]
    gaps = []
    for steps in (32, 512):
        integral = integrate(path.function, path.inputs, steps=steps)
        assert integral.rise == pytest.approx(ends[1] - ends[0], abs=1e-4)
        gaps.append(abs(integral.rise - float(path.words(integral.weights).sum())))
    assert gaps[1] < 0.03
    assert gaps[1] <= gaps[0] + 0.01
