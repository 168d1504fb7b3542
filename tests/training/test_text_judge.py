"""The dev score of a classifier: the number that evaluating its answers one by one gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gonie.metrics.calibration import fit_temperature
from gonie.metrics.classes import evaluate_classes
from gonie.models.build_text import build_classifier
from gonie.models.classifier import Classifier
from gonie.models.recipe import load_recipe
from gonie.models.scorer import to_tensors
from gonie.models.text_config import TextRecipe
from gonie.training import text_judge
from gonie.training.text_data import TextData, read_text_data
from gonie.training.text_judge import TextJudge


def untrained(text_toy: Path, *changes: str) -> tuple[Classifier, TextData]:
    recipe = load_recipe(text_toy / "texts.toml", changes)
    assert isinstance(recipe, TextRecipe)
    data = read_text_data(recipe, lambda text: None)
    torch.manual_seed(5)
    model = build_classifier(recipe.model, data.encoding)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))  # random, and sure of itself: some labels are right
    return model, data


def one_by_one(model: Classifier, data: TextData) -> np.ndarray:
    rows = []
    for text in data.dev:
        corpus = data.encoding.encode([text])
        rows.append(
            model.eval()(to_tensors(corpus.batch(np.arange(1)), torch.device("cpu")))[0].detach().numpy()
        )
    return np.array(rows)


@pytest.mark.parametrize("changes", [(), ("model.sentences.encoder.hidden=4",)], ids=["flat", "two levels"])
def test_the_score_is_that_of_the_answers_one_by_one(
    text_toy: Path, changes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An epoch chosen by another score than the one reported would be the wrong epoch."""
    monkeypatch.setattr(text_judge, "BATCH_TEXTS", 3)
    model, data = untrained(text_toy, *changes)
    judge = TextJudge(model, data.encoding, data.dev)
    scores = one_by_one(model, data)
    np.testing.assert_allclose(judge.scores(), scores, atol=1e-5)
    labels = data.encoding.labels
    given = [(labels[row.argmax()],) for row in scores]
    chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    found = evaluate_classes(data.dev, given, chances, labels, bootstrap=0)
    assert judge.score() == found.headline[1]
    assert judge.metric == found.headline[0] == "accuracy"
    assert 0.0 < judge.score() < 1.0
    assert judge.tally().f1 == pytest.approx(judge.score())


def test_the_score_follows_the_model_and_leaves_it_in_training(text_toy: Path) -> None:
    model, data = untrained(text_toy)
    judge = TextJudge(model, data.encoding, data.dev)
    model.train()
    before = judge.score()
    assert model.training
    with torch.no_grad():
        for parameter in model.heads.parameters():
            parameter.neg_()
    assert judge.score() == pytest.approx(1.0 - before)


def test_several_labels_are_those_likelier_than_not(text_toy: Path, tmp_path: Path) -> None:
    rows = ["label\ttext", *["a|b\tone two", "a\ttwo", "\tthree", "b\tfour"] * 5]
    (tmp_path / "t.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    files = [f"data.{split}={tmp_path}/t.tsv" for split in ("train", "dev", "test")]
    model, data = untrained(text_toy, *files, "data.label_separator=|")
    judge = TextJudge(model, data.encoding, data.dev)
    scores = one_by_one(model, data)
    given = [tuple(np.array(data.encoding.labels)[row >= 0]) for row in scores]
    found = evaluate_classes(
        data.dev, given, 1 / (1 + np.exp(-scores)), data.encoding.labels, several=True, bootstrap=0
    )
    assert judge.score() == pytest.approx(found.headline[1])
    assert judge.metric == "F1"
    assert np.isfinite(judge.temperature())


def test_relations_are_scored_as_their_task_is(tmp_path: Path, text_toy: Path) -> None:
    rows = ["Cause-Effect(e1,e2)\tone", "Cause-Effect(e2,e1)\ttwo", "Other\tthree"] * 4
    (tmp_path / "t.tsv").write_text("\n".join(["label\ttext", *rows]) + "\n", "utf-8")
    files = [f"data.{split}={tmp_path}/t.tsv" for split in ("train", "dev", "test")]
    model, data = untrained(text_toy, *files)
    assert TextJudge(model, data.encoding, data.dev).metric == "relation F1"


def test_the_temperature_is_fitted_to_these_texts(text_toy: Path) -> None:
    model, data = untrained(text_toy)
    judge = TextJudge(model, data.encoding, data.dev)
    gold = np.array([data.encoding.label_ids[text.labels[0]] for text in data.dev])
    expected = fit_temperature(one_by_one(model, data).astype(np.float64), gold)
    assert judge.temperature() == pytest.approx(expected, rel=1e-3)
    assert judge.temperature() > 1.5, "it is sure of itself, and often wrong"


def test_a_label_never_met_in_training_is_missed_and_nothing_more(text_toy: Path, tmp_path: Path) -> None:
    (tmp_path / "dev.tsv").write_text("label\ttext\ngood\ta fine film\nawful\tno\n", "utf-8")
    model, data = untrained(text_toy, f"data.dev={tmp_path}/dev.tsv")
    judge = TextJudge(model, data.encoding, data.dev)
    assert judge.score() <= 0.5
    assert np.isfinite(judge.temperature())
