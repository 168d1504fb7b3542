"""Tests the core install: without the extras, models load and the commands work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BUNDLES = Path(__file__).parent.parent / "bundles"

# The packages of pyproject's extras, and their dependencies.
EXTRAS = (
    "torch onnx numba scipy threadpoolctl tomli_w psutil matplotlib pyarrow h5py kiwipiepy fastapi uvicorn "
    "ray captum sklearn pandas triton sympy hypothesis pytest"
)
WITHOUT = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {EXTRAS.split()}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
"""


@pytest.fixture(autouse=True)
def same_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def gonie(*arguments: str | Path) -> str:
    argv = ["gonie", *map(str, arguments)]
    return run(f"sys.argv = {argv!r}\nfrom gonie.cli.main import main\nmain()")


def test_the_extras_cannot_be_imported() -> None:
    program = f"for name in {EXTRAS.split()}:\n    try: __import__(name)\n    except ImportError: print(name)"
    assert run(program).split() == EXTRAS.split()


def test_models_of_every_format_load_and_predict() -> None:
    folders = sorted(str(path.parent) for path in BUNDLES.glob("*/*/bundle.json"))
    program = (
        f"import gonie\nfor folder in {folders!r}:\n"
        "    found = gonie.load(folder)('Anna Kim lives in Seoul.')\n"
        "    print(found.label if isinstance(found, gonie.Classification) else found.spans[0].label)"
    )
    wanted = ["good" if folder.endswith("texts") else "PER" for folder in folders]
    assert run(program).split() == wanted


def test_gonie_tag_and_gonie_classify_work(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("Anna lives in Oslo .\nit rains .\n", "utf-8")
    tagged = gonie("tag", BUNDLES / "4/letters", "--file", tmp_path / "lines.txt", "--output", "jsonl")
    assert [len(json.loads(line)["spans"]) for line in tagged.splitlines()] == [2, 0]
    told = gonie("classify", BUNDLES / "4/texts", "dull", "--output", "jsonl")
    assert json.loads(told)["label"] == "bad"


def test_gonie_evaluate_works(tmp_path: Path) -> None:
    (tmp_path / "gold.conll").write_text("Anna\tB-PER\nlives\tO\nin\tO\nOslo\tB-LOC\n.\tO\n", "utf-8")
    gonie("evaluate", BUNDLES / "4/letters", tmp_path / "gold.conll", "--json", tmp_path / "tags.json")
    assert json.loads((tmp_path / "tags.json").read_text("utf-8"))["f1"] == 1.0
    (tmp_path / "gold.tsv").write_text("label\ttext\nbad\tThe plot is dull.\n", "utf-8")
    gonie("evaluate", BUNDLES / "4/texts", tmp_path / "gold.tsv", "--json", tmp_path / "texts.json")
    assert json.loads((tmp_path / "texts.json").read_text("utf-8"))["accuracy"] == 1.0


def test_training_says_what_to_install(tmp_path: Path) -> None:
    argv = ["gonie", "train", "ner", "--out", str(tmp_path / "run")]
    program = f"sys.argv = {argv!r}\nfrom gonie.cli.main import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'gonie[train]'" in done.stderr.replace("\n", " ")


def test_the_cost_of_the_core_can_be_measured() -> None:
    tool = Path(__file__).parents[2] / "tools" / "core_cost.py"
    done = subprocess.run(
        [sys.executable, tool, BUNDLES / "4/letters", "--times", "1"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["import", "load", "resident"]
