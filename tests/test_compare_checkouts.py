"""Tests the tool that compares two checkouts: it reports all differences and nothing else."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]

PACKAGE = '''
"""A gonie that learns and answers what it is told to."""
from types import SimpleNamespace

def load(path, *, threads=None):
    class Model:
        def __call__(self, text):
            return SimpleNamespace(label="a", score={score}, scores={{"a": {score}}}, labels=("a",))
        def pipe(self, texts):
            return map(self, texts)
    return Model()
'''
COMMAND = """
import json, pathlib, struct, sys

def save(name, path):
    header = json.dumps({{name: {{"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<f", {weight}))

run = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
(run / "bundle").mkdir(parents=True)
(run / "bundle" / "bundle.json").write_text("{{}}")
save("{tensor}", run / "best.safetensors")
save("model.{tensor}", run / "last.safetensors")
steps = 50 if "train.epochs=50" in sys.argv else 1
record = json.dumps({{"epoch": 1, "loss": {loss}, "seconds": {weight}}})
(run / "metrics.jsonl").write_text((record + "\\n") * steps)
sys.exit({code})
"""

Make = Callable[..., Path]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    module = importlib.import_module("compare_checkouts")
    monkeypatch.setattr(module, "FULL", module.FEW)
    return module


@pytest.fixture
def differences(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("checkouts.differences")


@pytest.fixture
def checkout(tmp_path: Path) -> Make:
    """Return a function that makes checkouts of a fake gonie."""

    def make(
        name: str,
        *,
        weight: float = 1.0,
        loss: float = 2.0,
        score: float = 0.5,
        tensor: str = "w",
        code: int = 0,
    ) -> Path:
        root = tmp_path / name
        package = root / "src" / "gonie"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(PACKAGE.format(score=score))
        (package / "__main__.py").write_text(
            COMMAND.format(weight=weight, loss=loss, tensor=tensor, code=code)
        )
        (package / "corpora").symlink_to(ROOT / "src" / "gonie" / "corpora")
        golden = root / "tests" / "bundles" / "1" / "words"
        golden.mkdir(parents=True)
        (golden / "bundle.json").write_text("{}")
        return root

    return make


def test_equal_checkouts_have_no_differences(
    tool: ModuleType, checkout: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = checkout("before"), checkout("after")
    assert tool.main([str(before), str(after), "--case", "ner"]) == 0
    assert "all equal in 1 cases" in capsys.readouterr().out


def test_different_weights_are_reported_and_single_steps_compared(
    tool: ModuleType, checkout: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = checkout("before"), checkout("after", weight=1.5)
    work = tmp_path / "work"
    assert tool.main([str(before), str(after), "--case", "ner", "--work", str(work)]) == 1
    out = capsys.readouterr().out
    assert "! best.safetensors w differs by up to 0.5" in out
    assert "! last.safetensors model.w differs by up to 0.5" in out
    assert "- the losses of 50 single steps are equal to six digits" in out
    assert "differences in ner" in out
    assert len(list(work.glob("after/ner-steps-*/run/best.safetensors"))) == 1


def test_cases_with_rounding_differences_pass_if_their_losses_match(
    tool: ModuleType, checkout: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "ROUNDED", {"ner": "sums have another order"})
    asked = [str(checkout("before")), str(checkout("after", weight=1.5)), "--case", "ner"]
    assert tool.main(asked) == 0
    assert "may differ: sums have another order" in capsys.readouterr().out
    asked[1] = str(checkout("far", weight=1.5, loss=2.00001))
    assert tool.main(asked) == 1
    assert "differ from step 1 on: 2 in BEFORE, 2.00001 in AFTER" in capsys.readouterr().out


def test_different_answers_are_reported_by_their_tolerance(
    tool: ModuleType, checkout: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = checkout("before"), checkout("after", score=0.5 + 1e-7, loss=2.0 + 1e-9)
    assert tool.main([str(before), str(after), "--case", "ner"]) == 1
    out = capsys.readouterr().out
    assert "1/words /one by one/0/score is 0.5 in BEFORE" in out  # the golden bundle, to within 1e-9
    assert "bundle of BEFORE /one by one/0/score" in out  # the bundle that BEFORE trained, too
    assert "bundle /one by one" not in out  # the bundle of AFTER's own run, to within 1e-6
    assert "metrics.jsonl" not in out  # equal to six digits


def test_failed_training_is_reported(
    tool: ModuleType, checkout: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = checkout("before"), checkout("after", code=2)
    assert tool.main([str(before), str(after), "--case", "ner"]) == 1
    assert "training failed in AFTER" in capsys.readouterr().out


def test_invalid_arguments_are_refused(
    tool: ModuleType, checkout: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = str(checkout("before"))
    assert tool.main([before, str(tmp_path)]) == 2
    assert "has no src/gonie" in capsys.readouterr().err
    assert tool.main([before, before, "--work", before]) == 2
    assert "needs an empty folder" in capsys.readouterr().err
    assert tool.main([before, before, "--keep", str(tmp_path / "kept")]) == 2
    assert "needs a Git repository" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        tool.main([before, before, "--case", "nothing"])


def test_cached_runs_are_reused(tool: ModuleType, checkout: Make, tmp_path: Path) -> None:
    root = checkout("before")
    case = tool.CASES[0]
    keeping = tool.Trainer(
        tool.Checkout(root, tmp_path), tmp_path / "kept", {"data": root, "pretrained": root}, True
    )
    first, second = keeping(case), keeping(case)
    assert (first.kept, second.kept) == (False, True)
    assert first.folder == second.folder
    other = tool.Trainer(keeping.checkout, keeping.folder, {"data": tmp_path, "pretrained": root}, True)
    assert not other(case).kept  # other data


def tensors(differences: ModuleType, **values: list[float]) -> dict[str, object]:
    return {
        name.replace("__", "."): differences.Tensor("F32", (len(v),), np.array(v, "<f4").tobytes())
        for name, v in values.items()
    }


def test_renamed_tensors_are_recognised(differences: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tensors(differences, model__old__w=[1, 2]), tensors(differences, model__new__w=[1, 2])
    problems = differences.compare_tensors(one, two).problems
    assert problems == [
        "model.old.w is missing in AFTER (model.new.w has the same values)",
        "model.new.w is only in AFTER",
    ]
    monkeypatch.setattr(differences, "RENAMED", [(r"\bold\.", "new.")])
    assert not differences.compare_tensors(one, two).problems


def test_parameters_of_the_optimizer_may_be_renumbered(differences: ModuleType) -> None:
    one = tensors(differences, optimizer__0__step=[1], optimizer__1__step=[2])
    two = tensors(differences, optimizer__0__step=[2], optimizer__1__step=[1])
    found = differences.compare_tensors(one, two)
    assert not found.problems
    assert len(found.notes) == 1
    two = tensors(differences, optimizer__0__step=[2], optimizer__1__step=[3])
    assert len(differences.compare_tensors(one, two).problems) == 2


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ({"a": [1.0, None]}, {"a": [1.0 + 1e-8, None]}, True),
        ({"a": 1.0}, {"a": 1.00001}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": "x"}, {"a": "y"}, False),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": []}, {"a": {}}, False),
        ({"a": float("nan")}, {"a": float("nan")}, False),
    ],
)
def test_values_are_compared_to_six_digits(
    differences: ModuleType, first: object, second: object, equal: bool
) -> None:
    assert (not differences.compare_values(first, second, differences.SIX_DIGITS).problems) is equal


def test_renamed_and_added_metrics_are_recognised(
    differences: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = {
        "before": {"loss": 1.0, "score": 0.5, "seconds": 3},
        "after": {"loss": 1.0, "dev": 0.5, "rate": 1},
    }
    for side, record in records.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "metrics.jsonl").write_text(json.dumps(record))
    runs = tmp_path / "before", tmp_path / "after"
    assert differences.compare_metrics(*runs).problems == ["metrics.jsonl /0/score is only in BEFORE"]
    monkeypatch.setattr(differences, "RENAMED_METRICS", {"score": "dev"})
    found = differences.compare_metrics(*runs)
    assert not found.problems
    assert found.notes == ["metrics.jsonl also has rate in AFTER"]


@pytest.mark.parametrize(("loss", "equal"), [(1.000009, True), (1.00002, False)])
def test_a_redefined_loss_is_compared_to_five_digits(
    differences: ModuleType, tmp_path: Path, loss: float, equal: bool
) -> None:
    for side, value in {"before": 1.0, "after": loss}.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "metrics.jsonl").write_text(json.dumps({"loss": value, "score": 0.5}))
    runs = tmp_path / "before", tmp_path / "after"
    assert differences.compare_metrics(*runs).problems
    assert (not differences.compare_metrics(*runs, redefined="without its penalty").problems) is equal


def test_the_data_files_of_all_cases_exist(tool: ModuleType, tmp_path: Path) -> None:
    """Making the data twice gives the same folder."""
    corpora = ROOT / "src" / "gonie" / "corpora"
    data = tool.shared_data(corpora, tmp_path, tool.FEW)
    assert tool.shared_data(corpora, tmp_path, tool.FEW) == data
    places = {"data": data, "pretrained": ROOT / "src" / "gonie" / "pretrained"}
    arguments = [part for case in tool.CASES for part in case.arguments(places)]
    named = {word.strip('"{},') for part in arguments for word in part.replace("=", " ").split()}
    files = [Path(word) for word in named if word.startswith((str(data), str(ROOT)))]
    assert len(files) > 20
    assert not [file for file in files if not file.exists()]
