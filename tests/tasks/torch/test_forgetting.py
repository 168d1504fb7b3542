"""Tests the report of forgetting, and models whose labels grow over a chain of three starts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.tasks.load import load
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.evaluation import TagEvaluator
from gonie.training.run import resume_run, start_run
from support.growing_types import write_files

FILES = {"people": ("PER",), "places": ("LOC",), "firms": ("ORG",), "all": ("PER", "LOC", "ORG")}
KEEP = ["train.keep_labels=true", "loss.distill.weight=1", "train.replay=20"]


class Silent:
    """A display that collects notes and results, and fails after some steps if asked to."""

    def __init__(self, steps: int | None = None) -> None:
        self.notes: list[str] = []
        self._left = steps

    def note(self, text: str) -> None:
        self.notes.append(text)

    def step(self, step: object) -> None:
        if self._left is not None:
            self._left -= 1
            if not self._left:
                raise RuntimeError("stopped")

    def __getattr__(self, name: str) -> Any:
        return lambda *args: None


def run(folder: Path, file: str, name: str, *changes: str) -> tuple[Any, Silent]:
    display = Silent()
    result = start_run(load_recipe(folder / f"{file}.toml", changes), folder / name, display)
    assert result is not None
    return result, display


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train taggers of people, then also of places, then also of firms."""
    folder = tmp_path_factory.mktemp("growing")
    write_files(folder, FILES)
    run(folder, "people", "first")
    run(folder, "places", "second", f"train.start={folder / 'first'}", *KEEP)
    run(folder, "firms", "third", f"train.start={folder / 'second'}", *KEEP)
    return folder


def test_the_report_has_every_earlier_run_and_its_types(chain: Path) -> None:
    found = json.loads((chain / "third" / "forgetting.json").read_bytes())
    assert [(each["run"], list(each["labels"])) for each in found["old"]] == [
        ("second", ["LOC"]),
        ("first", ["PER"]),
    ]
    assert found["new"] == ["ORG"]
    for each in found["old"]:
        assert each["overall"]["before"] > 0.95
        assert each["overall"]["after"] > 0.95
        assert each["overall"]["change"] == pytest.approx(
            each["overall"]["after"] - each["overall"]["before"]
        )
        assert (each["scored"], each["examples"], each["metric"]) == (80, 80, "F1")
    assert not (chain / "first" / "forgetting.json").exists()


def test_the_report_begins_with_the_scores_on_old_data(chain: Path) -> None:
    """A reader who added a type looks first for what happened to the old ones."""
    page = (chain / "third" / "report.html").read_text("utf-8")
    first, second, *_ = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert (first, second) == ("Scores on old data", "Types")
    part = page.partition("<h2")[2].partition("<h2")[0]
    assert all(f">{text}<" in part for text in ("second", "LOC", "first", "PER", "new labels", "ORG"))
    plain = (chain / "first" / "report.html").read_text("utf-8")
    assert "Scores on old data" not in plain, "it has no start"


def test_the_terminal_shows_what_changed(chain: Path, tmp_path: Path) -> None:
    """Without kept labels, shared types are compared and the others are dropped."""
    changes = [f"train.start={chain / 'third'}", 'data.types=["PER"]', "train.epochs=1"]
    display = Silent()
    result = start_run(load_recipe(chain / "all.toml", changes), tmp_path / "run", display)
    assert result is not None
    rows = dict(result.output.results)
    assert list(rows) == ["dev F1", "old data of first", "dropped labels", "report"]
    assert rows["old data of first"].startswith("F1 ")
    assert " → " in rows["old data of first"]
    assert "old data of third" not in rows, "the new model has none of its types"
    assert rows["dropped labels"] == "LOC, ORG"


def test_a_start_without_shared_labels_is_not_reported(chain: Path, tmp_path: Path) -> None:
    changes = [f"train.start={chain / 'first'}", "train.epochs=1"]
    display = Silent()
    result = start_run(load_recipe(chain / "firms.toml", changes), tmp_path / "run", display)
    assert result is not None
    assert [name for name, _ in result.output.results] == ["dev F1", "report"]
    assert not any("forgetting" in note for note in display.notes)


def test_files_that_are_gone_are_noted(chain: Path, tmp_path: Path) -> None:
    write_files(tmp_path, FILES, epochs=1)
    run(tmp_path, "people", "start")
    (tmp_path / "people.conll").unlink()
    _, display = run(tmp_path, "all", "run", f"train.start={tmp_path / 'start'}")
    told = f"forgetting is not measured on {tmp_path / 'start'}: "
    assert any(note.startswith(told) for note in display.notes)


def test_an_earlier_run_that_is_gone_is_noted_and_the_others_are_measured(
    chain: Path, tmp_path: Path
) -> None:
    """Or the report would look complete."""
    write_files(tmp_path, FILES, epochs=1)
    run(tmp_path, "people", "first")
    run(tmp_path, "people", "second", f"train.start={tmp_path / 'first'}")
    shutil.rmtree(tmp_path / "first")
    result, display = run(tmp_path, "all", "third", f"train.start={tmp_path / 'second'}")
    assert f"forgetting is not measured on {tmp_path / 'first'}: folder not found" in display.notes
    assert "old data of second" in dict(result.output.results)


def test_a_test_file_is_enough_to_measure_forgetting(tmp_path: Path) -> None:
    """The training file of the start may be gone, for which data.replay is there."""
    write_files(tmp_path, FILES, epochs=1)
    (tmp_path / "test.conll").write_bytes((tmp_path / "people.conll").read_bytes())
    run(tmp_path, "people", "start", f"data.test={tmp_path / 'test.conll'}")
    (tmp_path / "people.conll").unlink()
    result, display = run(tmp_path, "all", "run", f"train.start={tmp_path / 'start'}")
    assert "old data of start" in dict(result.output.results)
    assert not any("forgetting is not measured" in note for note in display.notes)


def test_large_files_are_sampled(chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gonie.tasks.torch.forgetting.MOST", 10)
    changes = [f"train.start={chain / 'first'}", "train.epochs=1"]
    result = start_run(load_recipe(chain / "all.toml", changes), tmp_path / "run", Silent())
    assert result is not None
    assert ", 10 of 80 sentences" in dict(result.output.results)["old data of first"]


def test_the_bundle_of_a_chain_has_all_types(chain: Path) -> None:
    tagger = load(chain / "third")
    spans = tagger("Hansol pays Anna .").spans
    assert [(span.text, span.label) for span in spans] == [("Hansol", "ORG"), ("Anna", "PER")]
    assert [span.label for span in tagger("Seoul is far .").spans] == ["LOC"]
    shown = gonie.explain(tagger, "Hansol pays Anna .", methods=["erasure"])
    assert {"ORG", "PER"} <= {answer.label for answer in shown.answers}
    assert gonie.evaluate(tagger, chain / "all.conll").f1 > 0.9


def test_a_grown_model_is_scored_on_all_types_and_a_file_without_some_is_noted(
    chain: Path, tmp_path: Path
) -> None:
    """data.types of its last file does not limit what it knows, and a file may not be annotated for all."""
    changes = (f"train.start={chain / 'second'}", *KEEP, 'data.types=["ORG"]')
    assert start_run(load_recipe(chain / "all.toml", changes), tmp_path / "run", Silent()) is not None
    tagger = gonie.load(tmp_path / "run")
    assert gonie.evaluate(tagger, chain / "all.conll").f1 > 0.9
    firms = TagEvaluator().score(tagger, chain / "firms.conll", folder=tmp_path / "run", options={})
    (told,) = [note for note in firms.notes if "that the file does not have: LOC, PER" in note]
    rule = told.rpartition("--map ")[2]
    assert gonie.evaluate(tagger, chain / "firms.conll", map=rule).f1 > 0.9 > firms.evaluation.spans.micro.f1


def test_a_run_with_distillation_and_replay_resumes_exactly(chain: Path, tmp_path: Path) -> None:
    changes = [f"train.start={chain / 'second'}", *KEEP, "train.epochs=2", "train.checkpoint_seconds=1e-9"]
    recipe = load_recipe(chain / "firms.toml", changes)
    assert start_run(recipe, tmp_path / "whole", Silent()) is not None
    with pytest.raises(RuntimeError, match="stopped"):
        start_run(recipe, tmp_path / "broken", Silent(steps=7))
    assert resume_run(tmp_path / "broken", Silent()) is not None
    for file in ("last.safetensors", "best.safetensors", "bundle/model.onnx", "forgetting.json"):
        whole, broken = (tmp_path / name / file for name in ("whole", "broken"))
        assert whole.read_bytes() == broken.read_bytes(), file


def test_scores_of_labels_of_a_classifier_are_named(text_toy: Path, tmp_path: Path) -> None:
    """The overall score is an accuracy, and those of labels are F1."""
    result = start_run(load_recipe(text_toy / "texts.toml", ["train.epochs=1"]), tmp_path / "first", Silent())
    assert result is not None
    changes = ["train.epochs=1", f"train.start={tmp_path / 'first'}"]
    result = start_run(load_recipe(text_toy / "texts.toml", changes), tmp_path / "second", Silent())
    assert result is not None
    row = dict(result.output.results)["old data of first"]
    assert re.fullmatch(r"accuracy \S+ → \S+ \(\S+\); F1 by label: bad .*, good .*", row)
