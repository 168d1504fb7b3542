"""Training classifiers: the files of a run, the calibrated bundle, learning rates and baselines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from gonie.export.driver import export_model
from gonie.features.text_encoding import TextEncoding
from gonie.formats.labelled import LabelledSource
from gonie.metrics.classes import ClassEvaluation
from gonie.tasks.classification.read_options import text_options
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.scoring import MAJORITY
from gonie.tasks.classification.torch import job as text_job
from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.load import load_classifier
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.dev_evaluator import DevEvaluator
from gonie.tasks.torch.job import Split
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import begin_training, build_model
from gonie.training.optim import RATE, build_optimizer


def job_of(recipe: Path | str, *changes: str) -> TextJob:
    job = prepare(load_recipe(recipe, changes), lambda text: None)
    assert isinstance(job, TextJob)
    return job


def evaluate(job: TextJob, bundle: Path, split: Split = "dev") -> ClassEvaluation:
    return job.evaluate(job.examples(split), job.predict(bundle, job.examples(split)))


def own(path: Path, text: str) -> list[str]:
    """Write a file and return the changes that use it for all splits."""
    path.write_text(text, "utf-8")
    return [f"data.{split}={path}" for split in ("train", "dev", "test")]


BAG = "heads.label.scores.direct"
RELATIONS = 'x\tThe <e1>rain <e2>fell</e2></e1> <e2></e2>\ny\tA <e1>dog</e1><e2>s</e2> "q"\n'
SEVERAL = "a|b, c\tone\n\ttwo\nb, c\tthree\n"


@pytest.mark.parametrize(
    ("header", "rows", "changes"),
    [
        ("label\ttext", "good\ta <b>film</b>\nbad\tno\n", []),
        (
            "stars\treview",
            "1\t한글 \u2028 영화\n5\tno\n",
            ["data.text_column=review", "data.label_column=stars"],
        ),
        ("label\ttext", RELATIONS, ['data.marks=["e1", "e2"]']),
        ("label\ttext", SEVERAL, ["data.label_separator=|"]),
    ],
    ids=["plain", "own columns", "marks", "several labels"],
)
def test_the_saved_dev_texts_are_read_back_unchanged(
    header: str, rows: str, changes: list[str], text_toy: Path, tmp_path: Path
) -> None:
    """The faithfulness of explanations is measured on these texts."""
    job = job_of(text_toy / "texts.toml", *own(tmp_path / "t.tsv", f"{header}\n{rows}"), *changes)
    (tmp_path / "samples.jsonl").write_text(job.files()["samples.jsonl"], "utf-8")
    options = text_options(job.recipe.model_dump(mode="json"))
    again = list(LabelledSource(tmp_path / "samples.jsonl", options))
    assert [(text.text, text.labels, text.marks) for text in again] == [
        (text.text, text.labels, text.marks) for text in job.data.dev
    ]


def test_the_number_of_saved_texts_is_limited(text_toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_job, "SAMPLED", 7)
    files = job_of(text_toy / "texts.toml").files()
    assert len(files["samples.jsonl"].splitlines()) == 7
    assert set(files) == {"samples.jsonl", "encoding.json", "network.json"}


def test_the_saved_texts_are_spread_over_the_whole_file(
    text_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a file that is sorted by label, the first texts all have the same label."""
    monkeypatch.setattr(text_job, "SAMPLED", 4)
    rows = "".join(f"{label}\tfilm {number}\n" for label in ("bad", "good") for number in range(20))
    job = job_of(text_toy / "texts.toml", *own(tmp_path / "t.tsv", f"label\ttext\n{rows}"))
    kept = [json.loads(line)["label"] for line in job.files()["samples.jsonl"].splitlines()]
    assert kept == ["bad", "bad", "good", "good"]


def test_the_saved_encoding_is_that_of_training(text_toy: Path) -> None:
    job = job_of(text_toy / "texts.toml")
    again = TextEncoding.from_json(json.loads(job.files()["encoding.json"]))
    one, other = again.encode(job.data.dev), job.data.encoding.encode(job.data.dev)
    rows = np.arange(len(one))
    assert one.batch(rows).keys() == other.batch(rows).keys()
    for name, array in one.batch(rows).items():
        assert np.array_equal(array, other.batch(rows)[name]), name


def test_a_bundle_scores_like_the_model_and_is_calibrated_on_dev(text_toy: Path, tmp_path: Path) -> None:
    job = job_of(text_toy / "texts.toml")
    model = begin_training(job).model
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    export_model(job.exportable(model, print), tmp_path / "bundle")
    classifier = load_classifier(tmp_path / "bundle")
    assert classifier.temperature == pytest.approx(job.temperature(model, print))
    passages = [classifier.passage(text) for text in job.data.dev]
    for got, wanted in zip(classifier.read(passages), job.predictor(model).read(passages), strict=True):
        np.testing.assert_allclose(got.scores, wanted.scores, atol=1e-4)
    assert evaluate(job, tmp_path / "bundle").headline[1] == DevEvaluator(job, model, "dev").score()
    assert evaluate(job, tmp_path / "bundle", "test").texts == 20


def test_a_classifier_is_not_calibrated_on_its_training_texts(text_toy: Path) -> None:
    """It would be surer than it may be: it has learned these texts."""
    notes: list[str] = []
    recipe = load_recipe(text_toy / "texts.toml")
    for changes in ([f"data.dev={recipe.data.train}"], ["data.dev=none", "train.shots=2"]):
        job = job_of(text_toy / "texts.toml", *changes)
        assert job.temperature(begin_training(job).model, notes.append) == 1.0
    assert notes == ["probabilities are not calibrated: some or all dev texts are training texts"] * 2


def test_marks_of_a_file_format_are_marks_of_the_model(text_toy: Path, tmp_path: Path) -> None:
    """Relation files contain marks by default, so the exported model must read marks too."""
    lines = [
        f'{at}\t"The <e1>rain</e1> {verb} the <e2>flood</e2>."\n{relation}\nComment:\n'
        for at, (verb, relation) in enumerate([("caused", "Cause-Effect(e1,e2)"), ("and", "Other")] * 4, 1)
    ]
    job = job_of(text_toy / "texts.toml", *own(tmp_path / "TRAIN.TXT", "\n".join(lines)))
    assert job.recipe.data.marks == []
    export_model(job.exportable(begin_training(job).model, print), tmp_path / "bundle")
    classifier = load_classifier(tmp_path / "bundle")
    (sentence,) = classifier.passage("The <e1>rain</e1> fell.").sentences
    assert sentence.words == ("The", "<e1>", "rain", "</e1>", "fell", ".")


def test_n_grams_have_their_own_learning_rate(text_toy: Path) -> None:
    """Most n-grams are rare and would hardly be trained at the rate of the network."""
    job = job_of(text_toy / "texts.toml", "model.bag.rate=7")
    model = build_model(job)
    assert any(name.startswith(BAG) for name, _ in model.named_parameters())
    optimizer = build_optimizer(job.recipe.train, model.named_parameters(), job.rates(model))
    named = {id(parameter): name for name, parameter in model.named_parameters()}
    rates = {named[id(p)]: group[RATE] for group in optimizer.param_groups for p in group["params"]}
    assert {name: rate for name, rate in rates.items() if rate != 1.0} == {f"{BAG}.bag.weight": 7.0}
    plain = job_of(text_toy / "texts.toml", "model.bag=none")
    assert plain.rates(build_model(plain)) == {}


def test_the_baseline_always_gives_the_most_frequent_label(text_toy: Path, tmp_path: Path) -> None:
    rows = "label\ttext\n" + "b\tx\n" * 3 + "a\ty\n"
    job = job_of(text_toy / "texts.toml", *own(tmp_path / "t.tsv", rows))
    (baseline,) = job.baselines()
    assert baseline.name == MAJORITY
    assert {split: found.headline for split, found in baseline.evaluations.items()} == {
        "dev": ("accuracy", 0.75),
        "test": ("accuracy", 0.75),
    }


def test_the_report_is_a_page_with_the_labels(text_toy: Path, tmp_path: Path) -> None:
    job = job_of(text_toy / "texts.toml")
    export_model(job.exportable(begin_training(job).model, print), tmp_path / "bundle")
    found = evaluate(job, tmp_path / "bundle")
    page = job.report(found, title="t", curve=[], details={"seed": 1}, first={})
    assert "<html" in page
    assert "good" in page


def test_the_job_has_a_classifier_recipe(text_toy: Path) -> None:
    job = job_of(text_toy / "texts.toml")
    assert isinstance(job.recipe, TextRecipe)
    assert job.noun == "texts"
