"""Training taggers: the files of a run, the bundle and the baselines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gonie.export.driver import export_model
from gonie.features.encoding import Encoding
from gonie.metrics.baselines import BASELINES
from gonie.metrics.novelty import SeenMentions
from gonie.tasks.load import load_tagger
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.calibration import fit_span_temperature
from gonie.tasks.tagging.evaluation import TagEvaluator
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.torch.prepare import prepare
from gonie.text.schemes import Scheme
from gonie.training.fit import begin_training, build_model


@pytest.fixture
def job(toy: Path) -> TagJob:
    made = prepare(load_recipe(toy / "toy.toml"), lambda text: None)
    assert isinstance(made, TagJob)
    return made


def test_the_saved_encoding_and_mentions_are_read_back(job: TagJob) -> None:
    files = job.files()
    assert Encoding.from_json(json.loads(files["encoding.json"])).labels == job.data.encoding.labels
    seen = SeenMentions.from_json(json.loads(files["seen.json"]))
    assert seen.to_json() == job.data.seen.to_json()


def test_a_bundle_follows_the_rules_of_the_recipe(toy: Path, tmp_path: Path) -> None:
    """Without them, the exported tagger would give sequences that the recipe forbids."""
    recipe = load_recipe(toy / "toy.toml", ['model.head.forbidden=["O -> *-LOC"]'])
    job = prepare(recipe, lambda text: None)
    export_model(job.exportable(begin_training(job).model, print), tmp_path / "bundle")
    tagger = load_tagger(tmp_path / "bundle")
    for sentence in job.data.dev:  # type: ignore[attr-defined]
        (found,) = tagger.tag_sentences([sentence])
        pairs = zip(found.tags, found.tags[1:], strict=False)
        assert not any(one == "O" and other.endswith("-LOC") for one, other in pairs)


def test_a_bundle_reads_a_mistyped_word_as_the_word_that_is_meant(toy: Path, tmp_path: Path) -> None:
    recipe = load_recipe(toy / "toy.toml", ["data.correct_typos=true", "model.chars=none"])
    job = prepare(recipe, lambda text: None)
    export_model(job.exportable(begin_training(job).model, print), tmp_path / "bundle")
    tagger = load_tagger(tmp_path / "bundle")
    (right, mistyped) = tagger.tag_tokens([["Paris", "is", "Rome"], ["Pairs", "is", "Rome"]])
    assert "paris" in tagger.encoding.words
    assert [token.score for token in mistyped.tokens] == [token.score for token in right.tokens]


@pytest.mark.parametrize(("scheme", "counted"), [("BIOES", "IOB2"), ("IO", "IO")])
def test_tags_are_counted_in_the_scheme_of_the_training_file(
    toy: Path, tmp_path: Path, scheme: str, counted: str
) -> None:
    """Otherwise ``gonie evaluate`` would give another accuracy for the same file."""
    recipe = load_recipe(toy / "toy.toml", [f"data.model_scheme={scheme}", "model.head.constrained=true"])
    job = prepare(recipe, lambda text: None)
    export_model(
        job.exportable(begin_training(job).model, print), tmp_path / "bundle"
    )  # untrained: many errors
    sentences = job.examples("dev")
    found = job.evaluate(sentences, job.predict(tmp_path / "bundle", sentences))
    assert found.scheme.kind == counted
    model = load_tagger(tmp_path / "bundle")
    again = TagEvaluator().score(model, toy / "dev.conll", folder=tmp_path, options={}).evaluation
    assert found.tokens.accuracy == again.tokens.accuracy < 1
    assert found.headline == again.headline


def test_the_baselines_are_trained_on_the_training_sentences(job: TagJob) -> None:
    rows = list(job.baselines())
    assert [row.name for row in rows] == list(BASELINES)
    by_heart = rows[-1].evaluations["dev"].headline
    assert by_heart[0] == "f1"
    assert by_heart[1] > 0.5, "the toy language has few names, and all were met"


def test_examples_are_called_sentences(job: TagJob) -> None:
    assert job.noun == "sentences"
    assert job.rates(build_model(job)) == {}


def test_a_tagger_is_calibrated_on_dev_and_the_bundle_keeps_it(job: TagJob, tmp_path: Path) -> None:
    """Otherwise users would read probabilities that are far too high."""
    model, notes = begin_training(job).model, []
    export_model(job.exportable(model, notes.append), tmp_path / "bundle")
    (told,) = notes
    tagger = load_tagger(tmp_path / "bundle")
    expected = fit_span_temperature(job.predictor(model), job.encode(model, "dev", notes.append))
    assert tagger.temperature == expected.temperature != 1
    assert told == expected.note()
    plain = tagger.with_temperature(1.0)
    for one, other in zip(*(each.tag_sentences(job.data.dev) for each in (tagger, plain)), strict=True):
        assert one.tags == other.tags


@pytest.mark.parametrize("files", ["single", "named"])
def test_a_tagger_is_not_calibrated_on_its_training_sentences(toy: Path, tmp_path: Path, files: str) -> None:
    """It would be surer than it may be: it has learned these sentences."""
    (tmp_path / "same.conll").symlink_to(toy / "train.conll")
    named = [f"data.train.{split}={toy / split}.conll" for split in ("train", "test")]
    notes: list[str] = []
    recipe = load_recipe(
        toy / "toy.toml", [f"data.dev={tmp_path / 'same.conll'}", *(named if files == "named" else [])]
    )
    job = prepare(recipe, lambda text: None)
    assert job.temperature(begin_training(job).model, notes.append) == 1.0  # type: ignore[attr-defined]
    assert notes == ["probabilities are not calibrated: some or all dev sentences are training sentences"]


def test_plain_tags_have_no_temperature(job: TagJob) -> None:
    scheme = Scheme(kind="plain")
    changed = replace(
        job.data, encoding=Encoding.from_json({**job.data.encoding.to_json(), "scheme": scheme.to_json()})
    )
    assert TagJob(job.recipe, changed).temperature(begin_training(job).model, print) == 1.0
