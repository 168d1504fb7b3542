"""The dev score: the same number as scoring the sentences one by one through the whole prediction path."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gonie.data.schemes import problems
from gonie.data.tokenize import tokenizer
from gonie.metrics.evaluation import evaluate
from gonie.models.build import build
from gonie.models.recipe import load_recipe
from gonie.models.scorer import TorchScorer
from gonie.runtime.predictor import Predictor
from gonie.training.tag_data import read_tag_data
from gonie.training.tag_judge import TagJudge, build_decoder


@pytest.mark.parametrize("constrained", [True, False])
@pytest.mark.parametrize("head", ["crf", "softmax"])
def test_the_dev_score_is_the_predictors(toy: Path, head: str, constrained: bool) -> None:
    """An epoch chosen by another score than the one reported would be the wrong epoch."""
    changes = [f"model.head.kind={head}", f"model.head.constrained={str(constrained).lower()}"]
    recipe = load_recipe(toy / "toy.toml", changes)
    prepared = read_tag_data(recipe, lambda text: None)
    encoding = prepared.encoding
    torch.manual_seed(5)
    model = build(recipe.model, encoding)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)  # random, and sure of itself: some tags are right and many are not
    predictor = Predictor(
        encoding=encoding,
        tokenizer=tokenizer(language="en", unit="word"),
        scorer=TorchScorer(model),
        decoder=build_decoder(model, recipe.model, encoding),
    )
    tags = [predictor.tag_sentences([sentence])[0].tags for sentence in prepared.dev]
    expected = evaluate(prepared.dev, tags, scheme=encoding.scheme, bootstrap=0)
    assert TagJudge(model, recipe.model, encoding, prepared.dev).score() == expected.headline[1]
    broken = sum(len(problems(sequence, encoding.scheme)) for sequence in tags)
    assert (broken == 0) if constrained else (broken > 0)


def test_plain_tags_are_scored_by_accuracy(tmp_path: Path) -> None:
    (tmp_path / "t.conll").write_text("a\tDET\ndog\tNOUN\n\nthe\tDET\ncat\tNOUN\n", "utf-8")
    (tmp_path / "r.toml").write_text(f'[data]\ntrain = "{tmp_path}/t.conll"\n[model.words]\nwidth = 4\n')
    recipe = load_recipe(tmp_path / "r.toml")
    prepared = read_tag_data(recipe, lambda text: None)
    model = build(recipe.model, prepared.encoding)
    scorer = TagJudge(model, recipe.model, prepared.encoding, prepared.dev)
    assert scorer.metric == "accuracy"
    assert 0.0 <= scorer.score() <= 1.0


@pytest.mark.parametrize(("scheme", "metric"), [("IO", "token F1"), ("BIOES", "F1")])
def test_a_score_over_tokens_is_called_one(toy: Path, scheme: str, metric: str) -> None:
    """Beside models that are scored over spans it would be read as theirs."""
    recipe = load_recipe(toy / "toy.toml", [f"data.model_scheme={scheme}"])
    prepared = read_tag_data(recipe, lambda text: None)
    model = build(recipe.model, prepared.encoding)
    assert TagJudge(model, recipe.model, prepared.encoding, prepared.dev).metric == metric
