"""Scores per domain inside a run: each domain is scored as `gonie evaluate` would score its file alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gonie.api.events import run_scores
from gonie.errors import RecipeError
from gonie.metrics.grouped import gap
from gonie.tasks.evaluated_files import score_files
from gonie.tasks.evaluation import FORMAT
from gonie.tasks.loaded import load_model
from gonie.tasks.recipe import load_recipe
from gonie.training.run import RunResult, start_run

TOYS = [
    ("toy", "toy.toml"),
    ("text_toy", "texts.toml"),
    ("pair_toy", "labels.toml"),
    ("pair_toy", "values.toml"),
]


def trained(recipe: Path, folder: Path, silence: Any, *changes: str) -> RunResult:
    result = start_run(load_recipe(recipe, [*changes, "train.epochs=2"]), folder, silence)
    assert result is not None
    return result


def files_of(recipe: Path) -> dict[str, str]:
    data = load_recipe(recipe).data
    return {"train": data.train, "dev": data.dev, "test": data.test}


@pytest.mark.parametrize(("toys", "name"), TOYS)
def test_every_domain_of_dev_and_test_is_scored(
    toys: str, name: str, tmp_path: Path, *, silence: Any, request: pytest.FixtureRequest
) -> None:
    recipe = request.getfixturevalue(toys) / name
    files = files_of(recipe)
    result = trained(
        recipe,
        tmp_path / "run",
        silence,
        f"data.train.web={files['train']}",
        *(f"data.{split}.{domain}={files[split]}" for split in ("dev", "test") for domain in ("web", "news")),
    )
    scores = json.loads((tmp_path / "run" / "evaluation.json").read_text("utf-8"))
    loaded = load_model(tmp_path / "run")
    for split in ("dev", "test"):
        assert list(scores[split]["domains"]) == ["web", "news"]
        alone = score_files(
            loaded.evaluator({}),
            loaded.model,
            {"web": Path(files[split])},
            folder=tmp_path / "run",
            options={FORMAT: "auto"},
        ).pooled.evaluation.to_json()
        headline = str(alone["headline"])
        for own in scores[split]["domains"].values():
            assert own[headline] == pytest.approx(alone[headline])
            assert own["intervals"] == alone["intervals"]
        assert scores[split]["out_of_domain"] == ["news"]
        assert scores[split]["gap"]["news"]["score"] == pytest.approx(0.0), "the same file under two names"
        found = run_scores(result)[split]
        assert found.domains["news"].value == pytest.approx(alone[headline])
        assert list(found.gap) == ["news"]
    for line in (tmp_path / "run" / "metrics.jsonl").read_text("utf-8").splitlines():
        epoch = json.loads(line)
        assert list(epoch["domains"]) == ["web", "news"]
        assert epoch["domains"]["web"] == pytest.approx(epoch["domains"]["news"], abs=1e-6)
        assert epoch["domains"]["web"] == pytest.approx(epoch["score"], abs=1e-6)
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "Scores by domain" in page
    assert "news (out of domain)" in page


def test_a_domain_that_is_left_out_is_compared_with_the_dev_score_of_the_others(
    toy: Path, tmp_path: Path, silence: Any
) -> None:
    files = files_of(toy / "toy.toml")
    for domain in ("web", "news", "chat"):
        shutil.copy(files["train"], tmp_path / domain)
    result = trained(
        toy / "toy.toml",
        tmp_path / "run",
        silence,
        *(f"data.train.{domain}={tmp_path / domain}" for domain in ("web", "news", "chat")),
        f"data.test.news={files['test']}",
        "data.leave_out=news",
    )
    found = result.output.domains
    assert list(found) == ["dev", "test"]
    assert list(found["dev"].evaluations) == ["web", "chat"]
    assert found["dev"].scores.gaps == {}
    test = found["test"].scores
    assert test.outside == ["news"]
    assert test.reference is not None
    assert (test.reference.score, test.trained) == (result.evaluations["dev"].headline[1], "dev")
    assert test.gaps["news"] == gap(test.scores["news"], test.reference)
    assert test.scores["news"].seen is not None, "recall of mentions of the training domains"


def test_named_test_files_beside_an_unnamed_training_file_are_compared_with_the_first(
    toy: Path, tmp_path: Path, silence: Any
) -> None:
    files = files_of(toy / "toy.toml")
    changes = [f"data.test.{domain}={files['test']}" for domain in ("a", "b")]
    found = trained(toy / "toy.toml", tmp_path / "run", silence, *changes).output.domains
    assert list(found) == ["test"]
    assert found["test"].scores.outside == []
    assert list(found["test"].scores.gaps) == ["b"]
    assert "domains" not in (tmp_path / "run" / "metrics.jsonl").read_text("utf-8")


def test_one_domain_has_nothing_to_compare(toy: Path, tmp_path: Path, silence: Any) -> None:
    files = files_of(toy / "toy.toml")
    changes = [f"data.{split}.web={path}" for split, path in files.items()]
    result = trained(toy / "toy.toml", tmp_path / "run", silence, *changes)
    assert result.output.domains == {}
    assert "domains" not in json.loads((tmp_path / "run" / "evaluation.json").read_text("utf-8"))["test"]


@pytest.mark.parametrize("named", [True, False], ids=["by name", "by file"])
def test_a_domain_that_the_start_was_trained_on_is_not_out_of_domain(
    toy: Path, tmp_path: Path, silence: Any, *, named: bool
) -> None:
    """Its score would be called that of new text, though the model has learned its sentences."""
    files = files_of(toy / "toy.toml")
    for domain in ("web", "news", "chat"):
        shutil.copy(files["train"], tmp_path / domain)
    old = f"data.train.news={tmp_path / 'news'}" if named else f"data.train={tmp_path / 'news'}"
    trained(toy / "toy.toml", tmp_path / "start", silence, old, f"data.dev={files['dev']}")
    settings = [
        f"train.start={tmp_path / 'start'}",
        *(f"data.train.{domain}={tmp_path / domain}" for domain in ("web", "chat")),
        *(f"data.test.{domain}={files['test']}" for domain in ("web", "law")),
        f"data.test.news={files['test'] if named else tmp_path / 'news'}",
    ]
    found = trained(toy / "toy.toml", tmp_path / "run", silence, *settings).output.domains["test"].scores
    assert found.outside == ["law"]
    left_out = [*settings[:3], f"data.train.news={tmp_path / 'news'}", "data.leave_out=news"]
    with pytest.raises(RecipeError, match=r"data.leave_out: .*start, .*was trained on news; start from"):
        trained(toy / "toy.toml", tmp_path / "other", silence, *left_out)
