"""Training pair models: dev scores, the files of a run, and the calibrated bundle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gonie
from gonie.errors import InputError
from gonie.export.driver import export_model
from gonie.formats.pairs import PairSource
from gonie.metrics.calibration import fit_temperature
from gonie.nn.inference import to_tensors
from gonie.tasks.classification.scoring import MAJORITY
from gonie.tasks.pairs.encoding import PairEncoding
from gonie.tasks.pairs.evaluation import PairEvaluator
from gonie.tasks.pairs.read_options import pair_options
from gonie.tasks.pairs.recipe import PairRecipe
from gonie.tasks.pairs.torch import job as pair_job
from gonie.tasks.pairs.torch.job import PairJob
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.dev_evaluator import DevEvaluator
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import build_model

KINDS = ("labels", "values")


def job_of(recipe: Path | str, *changes: str) -> PairJob:
    job = prepare(load_recipe(recipe, changes), lambda text: None)
    assert isinstance(job, PairJob)
    return job


def confident(job: PairJob) -> Any:
    """Return an untrained model that is confident but often wrong."""
    torch.manual_seed(5)
    model = job.build()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    return model


def one_by_one(model: Any, job: PairJob) -> np.ndarray:
    """Return the scores of each dev pair, scored alone: (N, K)."""
    rows = []
    for pair in job.data.dev:
        batch = to_tensors(job.data.encoding.encode([pair]).batch(np.arange(1)), torch.device("cpu"))
        rows.append(model.eval()(batch)[0].detach().numpy())
    return np.array(rows)


# --- the score in training -------------------------------------------------------------------------------


@pytest.mark.parametrize("matching", ["esim", "siamese"])
def test_the_dev_score_of_labels_is_the_accuracy(pair_toy: Path, matching: str) -> None:
    job = job_of(pair_toy / "labels.toml", f"model.matching.kind={matching}")
    model = confident(job)
    dev = DevEvaluator(job, model, "dev")
    labels = job.data.encoding.texts.labels
    given = [labels[row.argmax()] for row in one_by_one(model, job)]
    right = np.mean([label == pair.labels[0] for label, pair in zip(given, job.data.dev, strict=True)])
    assert (dev.metric, dev.score()) == ("accuracy", right)
    assert dev.tally().f1 == pytest.approx(right)
    assert 0.0 < right < 1.0


def test_the_dev_score_of_values_is_the_pearson_correlation(pair_toy: Path) -> None:
    job = job_of(pair_toy / "values.toml")
    model = confident(job)
    dev = DevEvaluator(job, model, "dev")
    gold = np.array([pair.value for pair in job.data.dev])
    found = one_by_one(model, job)[:, 0]
    assert dev.metric == "Pearson"
    assert dev.score() == pytest.approx(np.corrcoef(gold, found)[0, 1], abs=1e-4)
    scale = job.data.encoding.scale
    assert scale is not None
    near = np.abs(gold - found) <= 0.1 * (scale.high - scale.low)
    assert dev.tally().f1 == pytest.approx(near.mean())


@pytest.mark.parametrize("kind", KINDS)
def test_evaluating_the_bundle_reproduces_the_scores_of_training(
    kind: str, pair_runs: Path, pair_toy: Path
) -> None:
    """`gonie evaluate` gives the scores in the report of the run."""
    kept = json.loads((pair_runs / kind / "evaluation.json").read_text("utf-8"))
    model: Any = gonie.load(pair_runs / kind)
    for split in ("dev", "test"):
        path = pair_toy / f"{kind}-{split}.tsv"
        found = PairEvaluator().score(model, path, folder=pair_runs / kind, options={"format": "auto"})
        assert json.loads(json.dumps(found.evaluation.to_json())) == kept[split]
    lines = (pair_runs / kind / "metrics.jsonl").read_text("utf-8").splitlines()
    best = max(json.loads(line)["score"] for line in lines)
    name = kept["dev"]["headline"]
    assert kept["dev"][name] == pytest.approx(best, abs=1e-5)


# --- the files of a run ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "rows", "changes"),
    [
        ("text\ttext_pair\tlabel", 'a "b"\tc\tyes\nd\t한글 \u2028 영화\tno\n', []),
        (
            "q1\tq2\tdup",
            "a\tb\t1\nc\td\t0\n",
            ['data.text_columns=["q1", "q2"]', "data.label_column=dup"],
        ),
        ("premise\thypothesis\tscore", "a\tb\t1.25\nc\td\t0\n", []),
        ("label\ttext\ttext_pair\tpoints", "x\ta\tb\t-1\ny\tc\td\t3e2\n", ["data.value_column=points"]),
    ],
    ids=["labels", "own columns", "values", "own values"],
)
def test_the_saved_dev_pairs_are_read_back_unchanged(
    header: str, rows: str, changes: list[str], pair_toy: Path, tmp_path: Path
) -> None:
    """The faithfulness of explanations is measured on these pairs."""
    (tmp_path / "t.tsv").write_text(f"{header}\n{rows}", "utf-8")
    files = [f"data.{split}={tmp_path}/t.tsv" for split in ("train", "dev", "test")]
    job = job_of(pair_toy / "labels.toml", *files, *changes)
    (tmp_path / "samples.jsonl").write_text(job.files()["samples.jsonl"], "utf-8")
    recipe = job.predictor(job.build()).recipe
    again = list(PairSource(tmp_path / "samples.jsonl", pair_options(recipe)))
    assert [(pair.first, pair.second, pair.labels, pair.value) for pair in again] == [
        (pair.first, pair.second, pair.labels, pair.value) for pair in job.data.dev
    ]


def test_the_number_of_saved_pairs_is_limited(pair_toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_job, "SAMPLED", 7)
    files = job_of(pair_toy / "labels.toml").files()
    assert len(files["samples.jsonl"].splitlines()) == 7
    assert set(files) == {"samples.jsonl", "encoding.json", "network.json"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_saved_encoding_is_that_of_training(kind: str, pair_toy: Path) -> None:
    job = job_of(pair_toy / f"{kind}.toml")
    again = PairEncoding.from_json(json.loads(job.files()["encoding.json"]))
    one, other = again.encode(job.data.dev), job.data.encoding.encode(job.data.dev)
    rows = np.arange(len(one))
    for name, array in one.batch(rows).items():
        assert np.array_equal(array, other.batch(rows)[name]), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_bundle_scores_like_the_model_and_is_calibrated_on_dev(
    kind: str, pair_toy: Path, tmp_path: Path
) -> None:
    job = job_of(pair_toy / f"{kind}.toml")
    model = confident(job)
    export_model(job.exportable(model, print), tmp_path / "bundle")
    classifier: Any = gonie.load(tmp_path / "bundle")
    scores = one_by_one(model, job)
    passages = [classifier.tokenise(pair).passage for pair in job.data.dev]
    got = np.stack([reading.scores for reading in classifier.read(passages)])
    np.testing.assert_allclose(got, scores, atol=1e-3)
    if kind == "labels":
        gold = np.array([job.data.encoding.texts.labels.index(pair.labels[0]) for pair in job.data.dev])
        expected = fit_temperature(scores.astype(np.float64), gold, doubt=1 / 22)
        assert classifier.temperature == pytest.approx(expected, rel=1e-2)
        assert classifier.temperature > 1.0, "it is sure of itself, and often wrong"
    else:
        assert classifier.temperature == 1.0
    pairs = job.examples("dev")
    headline = job.evaluate(pairs, job.predict(tmp_path / "bundle", pairs)).headline[1]
    assert headline == pytest.approx(DevEvaluator(job, model, "dev").score(), abs=1e-5)


def test_a_pair_model_is_not_calibrated_on_its_training_pairs(pair_toy: Path) -> None:
    """It would be surer than it may be: it has learned these pairs."""
    notes: list[str] = []
    recipe = load_recipe(pair_toy / "labels.toml")
    for changes in ([f"data.dev={recipe.data.train}"], ["data.dev=none", "data.holdout=0"]):
        job = job_of(pair_toy / "labels.toml", *changes)
        assert job.temperature(confident(job), notes.append) == 1.0
    assert notes == ["probabilities are not calibrated: some or all dev pairs are training pairs"] * 2


def test_the_bundle_records_the_columns_and_the_scale_of_training(pair_runs: Path) -> None:
    for kind, gold in (("labels", "label_column"), ("values", "value_column")):
        model: Any = gonie.load(pair_runs / kind)
        data = model.recipe["data"]
        assert data["text_columns"] == ["sentence1", "sentence2"]
        assert [key for key in ("label_column", "value_column") if key in data] == [gold]
        scale = model.pair_encoding.scale
        assert data.get("scale") == (None if scale is None else list(scale))


# --- baselines and reports -------------------------------------------------------------------------------


def test_the_baseline_always_gives_the_most_frequent_label(pair_toy: Path, tmp_path: Path) -> None:
    rows = "text\ttext_pair\tlabel\n" + "a\tb\tyes\n" * 3 + "c\td\tno\n"
    (tmp_path / "t.tsv").write_text(rows, "utf-8")
    files = [f"data.{split}={tmp_path}/t.tsv" for split in ("train", "dev", "test")]
    (beside,) = job_of(pair_toy / "labels.toml", *files).baselines()
    assert beside.name == MAJORITY
    assert {split: found.headline for split, found in beside.evaluations.items()} == {
        "dev": ("accuracy", 0.75),
        "test": ("accuracy", 0.75),
    }
    assert list(job_of(pair_toy / "values.toml").baselines()) == [], "a constant correlates with nothing"


@pytest.mark.parametrize(("train", "dev"), [("labels", "values"), ("values", "labels")])
@pytest.mark.parametrize("split", ["dev", "test"])
def test_mixing_files_of_labels_and_values_is_refused(
    pair_toy: Path, train: str, dev: str, split: str
) -> None:
    with pytest.raises(
        InputError, match=rf"{dev}-dev\.tsv: the pairs have {dev}, but the model gives {train}"
    ):
        job_of(pair_toy / f"{train}.toml", f"data.{split}={pair_toy}/{dev}-dev.tsv")


@pytest.mark.parametrize("kind", KINDS)
def test_the_report_shows_the_metric_of_the_model(kind: str, pair_runs: Path, parse: Any) -> None:
    page = parse((pair_runs / kind / "report.html").read_text("utf-8"))
    text = " ".join(page.text)
    assert page.runs_and_loads_nothing()
    assert ("Pearson's correlation" in text) == (kind == "values")
    assert ("accuracy" in text.lower()) == (kind == "labels")


def test_the_job_has_a_pair_recipe(pair_toy: Path) -> None:
    job = job_of(pair_toy / "labels.toml")
    assert isinstance(job.recipe, PairRecipe)
    assert job.noun == "pairs"
    assert job.rates(build_model(job)) == {}
