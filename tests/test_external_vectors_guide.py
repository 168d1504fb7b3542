"""Tests the example of the guide to external vectors with its own settings: the vectors decide."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "external-vectors.md"


@pytest.mark.long
def test_the_scores_in_the_guide_are_those_of_its_commands(
    gonie: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8")
    code = re.findall(r"^<!-- run -->\n```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    exec(compile(code[0], "block", "exec"), {})
    (block,) = re.findall(r"```sh\n(gonie train bilstm-crf.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for command in block.replace("\\\n", " ").splitlines():
        outcome = gonie(*shlex.split(command)[1:], "--set", "train.device=cpu")
        assert outcome.code == 0, outcome.err
        assert "also in the training data" not in outcome.out + outcome.err
    shown = dict(re.findall(r"^\| `(runs/\w+)` \| .* \| ([\d.]+) \|$", text, re.MULTILINE))
    assert set(shown) == {"runs/words", "runs/pictures"}
    for run, score in shown.items():
        found = json.loads(Path(run, "evaluation.json").read_text("utf-8"))["test"]["f1"]
        assert 100 * found == pytest.approx(float(score), abs=2), run
