"""Installs gonie without extras in a new environment and uses bundles there, without torch."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUNDLES = ROOT / "tests/bundles/4"
TAGGER, CLASSIFIER, WITH_TRANSFORMER = BUNDLES / "letters", BUNDLES / "texts", BUNDLES / "pieces"
ABSENT = ("torch", "transformers", "onnx", "numba", "scipy", "pyarrow", "kiwipiepy", "ray", "sklearn")


@pytest.mark.long
def test_bundles_work_in_a_core_install(tmp_path: Path) -> None:
    """Most users of a bundle have only the core install."""
    python = _environment(tmp_path / "core")
    found = _run(python, "-c", f"import importlib.util as u; print([n for n in {ABSENT} if u.find_spec(n)])")
    assert found.strip() == "[]"
    found = _run(
        python, "-c", "from gonie.tasks.paths import shipped_bilms; print(*shipped_bilms().values())"
    )
    for folder in map(Path, found.split()):
        assert folder.is_relative_to(tmp_path)
        assert (folder / "weights.safetensors").is_file()

    sentence = "Anna Kim lives in Seoul ."
    conll = tmp_path / "gold.conll"
    tags = json.loads(_run(python, "-c", TAG, str(TAGGER), sentence))
    assert len(tags) == 6
    conll.write_text("".join(f"{w}\t{t}\n" for w, t in zip(sentence.split(), tags, strict=True)), "utf-8")
    scores = tmp_path / "scores.json"
    _run(python, "-m", "gonie", "evaluate", str(TAGGER), str(conll), "--json", str(scores))
    assert json.loads(scores.read_text("utf-8"))["accuracy"] == 1.0

    told = _run(python, "-m", "gonie", "tag", str(TAGGER), sentence, "--output", "jsonl")
    assert json.loads(told)["text"] == sentence
    told = _run(python, "-m", "gonie", "classify", str(CLASSIFIER), "The plot is silly.", "--output", "jsonl")
    assert json.loads(told)["label"] in {"good", "bad"}
    _bulk(python, tmp_path)
    refused = subprocess.run(
        [python, "-m", "gonie", "train", "ner"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "pip install" in refused.stderr


@pytest.mark.long
def test_a_transformer_needs_only_its_tokenizer(tmp_path: Path) -> None:
    """A bundle runs without PyTorch and the library transformers, in the environment of its users."""
    python = _environment(tmp_path / "core")
    text = "Anna Kim lives in Seoul."
    refused = subprocess.run(
        [python, "-m", "gonie", "tag", str(WITH_TRANSFORMER), text],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "needs tokenizers, which is not installed. Run: pip install 'gonie[tokenizers]'" in refused.stderr
    _install(python, f"{ROOT}[tokenizers]")
    absent = _run(python, "-c", f"import importlib.util as u; print([n for n in {ABSENT} if u.find_spec(n)])")
    assert absent.strip() == "[]"
    told = json.loads(_run(python, "-m", "gonie", "tag", str(WITH_TRANSFORMER), text, "--output", "jsonl"))
    wanted = json.loads(
        WITH_TRANSFORMER.with_name("pieces.expected.jsonl").read_text("utf-8").splitlines()[0]
    )
    assert [[span["start"], span["end"], span["label"]] for span in told["spans"]] == [
        span[:3] for span in wanted["spans"]
    ]


TAG = """
import json, sys, gonie
(document,) = gonie.load(sys.argv[1]).tag_tokens([sys.argv[2].split()])
assert "torch" not in sys.modules
print(json.dumps([token.tag for token in document.tokens]))
"""


def _bulk(python: str, folder: Path) -> None:
    """Process files in bulk and check that every row is there with the right answer."""
    lines = [f"Anna Kim lives in Seoul , {number} times ." for number in range(300)]
    (folder / "lines.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "lines.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in lines), "utf-8")
    files = ["--file", str(folder / "lines.txt"), "--file", str(folder / "lines.jsonl")]
    how = ["--engine", "local", "--workers", "2", "--shard-size", "4000"]
    for command, model in (("tag", TAGGER), ("classify", CLASSIFIER)):
        out = folder / command
        _run(python, "-m", "gonie", command, str(model), *files, "--out", str(out), *how)
        parts = sorted(out.glob("part-*.jsonl"))
        assert len(parts) > 2
        records = [json.loads(line) for part in parts for line in part.read_text("utf-8").splitlines()]
        assert [record["text"] for record in records] == 2 * lines
        alone = _run(python, "-m", "gonie", command, str(model), lines[7], "--output", "jsonl")
        assert records[7].items() >= json.loads(alone).items()


def _environment(folder: Path) -> str:
    """Create an environment with gonie and its required dependencies, and return its Python."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    _install(python, str(ROOT))
    return python


def _install(python: str, what: str) -> None:
    """Install a package, or skip the test where that is impossible."""
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what]
    made = subprocess.run(
        [*install, "-c", str(ROOT / "constraints.txt")], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"pip could not install {what} here: {made.stderr.strip().splitlines()[-1:]}")


def _run(python: str, *arguments: str) -> str:
    made = subprocess.run(
        [python, *arguments], capture_output=True, text=True, check=False, cwd=Path(sys.prefix)
    )
    assert made.returncode == 0, made.stderr
    return made.stdout
