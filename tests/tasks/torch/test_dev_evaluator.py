"""The dev score in training equals that of the exported model; otherwise a wrong epoch may be chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gonie.metrics.calibration import fit_temperature
from gonie.metrics.classes import evaluate_classes
from gonie.metrics.evaluation import evaluate
from gonie.nn.inference import to_tensors
from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.tagger import MAX_TOKENS
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.torch.dev_evaluator import DevEvaluator
from gonie.tasks.torch.prepare import prepare
from gonie.text.labelled_text import LabelledText
from gonie.text.schemes import problems


def tagging(recipe: Path, *changes: str) -> TagJob:
    job = prepare(load_recipe(recipe, changes), lambda text: None)
    assert isinstance(job, TagJob)
    return job


def confident(job: TagJob | TextJob) -> torch.nn.Module:
    """Return an untrained model that is confident but often wrong."""
    torch.manual_seed(5)
    model = job.build()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    return model


# --- taggers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constrained", [True, False])
@pytest.mark.parametrize("head", ["crf", "softmax"])
def test_the_dev_score_of_a_tagger_is_that_of_its_answers(toy: Path, head: str, constrained: bool) -> None:
    changes = [f"model.head.kind={head}", f"model.head.constrained={str(constrained).lower()}"]
    job = tagging(toy / "toy.toml", *changes)
    model = confident(job)
    scheme = job.data.encoding.scheme
    tags = [job.predictor(model).tag_sentences([sentence])[0].tags for sentence in job.data.dev]
    expected = evaluate(job.data.dev, tags, scheme=scheme, bootstrap=0)
    dev = DevEvaluator(job, model, "dev")
    assert dev.score() == expected.headline[1]
    assert [answer.tags for answer in dev.answers()] == tags
    broken = sum(len(problems(sequence, scheme)) for sequence in tags)
    assert (broken == 0) if constrained else (broken > 0)


def test_a_long_document_is_scored_in_windows(toy: Path, tmp_path: Path) -> None:
    """A document of 3,000 tokens without a sentence end gets the same scores as in use."""
    lines = (toy / "dev.conll").read_text("utf-8").split("\n")
    tokens = [line for line in lines if line] * 40
    (tmp_path / "dev.conll").write_text("\n".join(tokens[:3000]) + "\n", "utf-8")
    job = tagging(toy / "toy.toml", f"data.dev={tmp_path}/dev.conll")
    model = confident(job)
    (document,) = job.data.dev
    assert len(document) == 3000 > MAX_TOKENS
    (answer,) = DevEvaluator(job, model, "dev").answers()
    (alone,) = job.predictor(model).tag_sentences([document])
    assert answer.windows == alone.windows > 1
    assert answer.tags == alone.tags
    np.testing.assert_allclose(answer.scores, alone.scores, atol=1e-6)


def test_empty_and_long_sentences_are_tagged_in_order(toy: Path) -> None:
    job = tagging(toy / "toy.toml")
    predictor = job.predictor(confident(job))
    long = job.data.dev[0].words * MAX_TOKENS
    sentences = [
        job.data.dev[1],
        type(job.data.dev[0])(words=()),
        type(job.data.dev[0])(words=long[: MAX_TOKENS + 200]),
        job.data.dev[2],
    ]
    found = predictor.tag_encoded(predictor.encode(sentences))
    assert [len(tagging.tags) for tagging in found] == [len(sentence) for sentence in sentences]
    assert [t.tags for t in found] == [t.tags for t in predictor.tag_sentences(sentences)]


def test_plain_tags_are_scored_by_accuracy(tmp_path: Path) -> None:
    (tmp_path / "t.conll").write_text("a\tDET\ndog\tNOUN\n\nthe\tDET\ncat\tNOUN\n", "utf-8")
    (tmp_path / "r.toml").write_text(f'[data]\ntrain = "{tmp_path}/t.conll"\n[model.words]\nwidth = 4\n')
    job = tagging(tmp_path / "r.toml")
    dev = DevEvaluator(job, job.build(), "dev")
    assert dev.metric == "accuracy"
    assert 0.0 <= dev.score() <= 1.0


@pytest.mark.parametrize(("scheme", "metric"), [("IO", "token F1"), ("BIOES", "F1")])
def test_the_metric_says_whether_tokens_or_spans_are_scored(toy: Path, scheme: str, metric: str) -> None:
    """Otherwise a token F1 could be mistaken for a span F1."""
    assert tagging(toy / "toy.toml", f"data.model_scheme={scheme}").metric("dev") == metric


# --- classifiers -----------------------------------------------------------------------------------------


def untrained(text_toy: Path, *changes: str) -> tuple[TextJob, ClassifyingNetwork]:
    job = prepare(load_recipe(text_toy / "texts.toml", changes), lambda text: None)
    assert isinstance(job, TextJob)
    model = confident(job)
    assert isinstance(model, ClassifyingNetwork)
    return job, model


def one_by_one(model: ClassifyingNetwork, job: TextJob) -> np.ndarray:
    """Return the scores of each dev text, scored alone: (N, K)."""
    rows = []
    for text in job.data.dev:
        batch = to_tensors(job.data.encoding.encode([text]).batch(np.arange(1)), torch.device("cpu"))
        rows.append(model.eval()(batch)[0].detach().numpy())
    return np.array(rows)


def table(tmp_path: Path, *rows: str) -> list[str]:
    """Write a file of labelled texts and return the changes that name it."""
    (tmp_path / "t.tsv").write_text("\n".join(["label\ttext", *rows]) + "\n", "utf-8")
    return [f"data.{split}={tmp_path}/t.tsv" for split in ("train", "dev", "test")]


@pytest.mark.parametrize("changes", [(), ("model.sentences.encoder.hidden=4",)], ids=["flat", "two levels"])
def test_the_dev_score_of_a_classifier_is_that_of_its_answers(
    text_toy: Path, changes: tuple[str, ...]
) -> None:
    job, model = untrained(text_toy, *changes)
    dev = DevEvaluator(job, model, "dev")
    scores = one_by_one(model, job)
    labels = job.data.encoding.labels
    given = [(labels[row.argmax()],) for row in scores]
    chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    for answer, row in zip(dev.answers(), chances, strict=True):
        np.testing.assert_allclose([answer.scores[label] for label in labels], row, atol=1e-4)
    found = evaluate_classes(job.data.dev, given, chances, labels, bootstrap=0)
    assert dev.score() == found.headline[1]
    assert dev.metric == found.headline[0] == "accuracy"
    assert 0.0 < dev.score() < 1.0
    assert dev.tally().f1 == pytest.approx(dev.score())


def test_scoring_uses_the_current_weights_and_keeps_the_training_mode(text_toy: Path) -> None:
    job, model = untrained(text_toy)
    dev = DevEvaluator(job, model, "dev")
    model.train()
    before = dev.score()
    assert model.training
    with torch.no_grad():
        for parameter in model.heads.parameters():
            parameter.neg_()
    assert dev.score() == pytest.approx(1.0 - before)


def test_texts_beyond_the_limits_are_cut_as_in_use(text_toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gonie.tasks.classification.long_texts.LONGEST", 3)
    job, model = untrained(text_toy, "data.max_tokens=0")
    dev = DevEvaluator(job, model, "dev")
    assert max(answer.tokens for answer in dev.answers()) == 3
    assert dev.answers() == list(job.predictor(model).pipe(job.data.dev))


def test_multi_label_answers_have_a_probability_of_at_least_half(text_toy: Path, tmp_path: Path) -> None:
    files = table(tmp_path, *["a|b\tone two", "a\ttwo", "\tthree", "b\tfour"] * 5)
    job, model = untrained(text_toy, *files, "data.label_separator=|")
    scores, labels = one_by_one(model, job), job.data.encoding.labels
    given = [tuple(np.array(labels)[row >= 0]) for row in scores]
    found = evaluate_classes(
        job.data.dev, given, 1 / (1 + np.exp(-scores)), labels, multi_label=True, bootstrap=0
    )
    dev = DevEvaluator(job, model, "dev")
    assert dev.score() == pytest.approx(found.headline[1])
    assert dev.metric == "F1"
    assert np.isfinite(job.temperature(model, print))


def test_relations_are_scored_by_relation_f1(tmp_path: Path, text_toy: Path) -> None:
    files = table(tmp_path, *["Cause-Effect(e1,e2)\tone", "Cause-Effect(e2,e1)\ttwo", "Other\tthree"] * 4)
    job, _ = untrained(text_toy, *files)
    assert job.metric("dev") == "relation F1"


def test_the_temperature_is_fitted_to_the_dev_texts(text_toy: Path) -> None:
    job, model = untrained(text_toy)
    gold = np.array([job.data.encoding.label_ids[text.labels[0]] for text in job.data.dev])
    expected = fit_temperature(one_by_one(model, job).astype(np.float64), gold)
    assert job.temperature(model, print) == pytest.approx(expected, rel=1e-3)
    assert job.temperature(model, print) > 1.5, "it is sure of itself, and often wrong"


def test_a_label_unseen_in_training_counts_as_an_error(text_toy: Path, tmp_path: Path) -> None:
    (tmp_path / "dev.tsv").write_text("label\ttext\ngood\ta fine film\nawful\tno\n", "utf-8")
    job, model = untrained(text_toy, f"data.dev={tmp_path}/dev.tsv")
    assert isinstance(job.data.dev[0], LabelledText)
    assert DevEvaluator(job, model, "dev").score() <= 0.5
    assert np.isfinite(job.temperature(model, print))
