"""Tests that ONNX Runtime reports nothing to its makers."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "gonie"
CODE = """
import os, sys
import gonie.runtime.session
print(os.environ["ORT_DISABLE_TELEMETRY"], "onnxruntime" in sys.modules)
"""


@pytest.mark.parametrize(("given", "found"), [(None, "1"), ("0", "0")])
def test_telemetry_is_off_unless_it_is_asked_for(given: str | None, found: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {} if given is None else {"ORT_DISABLE_TELEMETRY": given}
    ended = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == [found, "True"]


def test_no_module_imports_onnx_runtime_directly() -> None:
    """Another import could come first, and would let it report."""
    found = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.Import) and any(each.name == "onnxruntime" for each in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "onnxruntime")
    ]
    assert found == ["runtime/onnx_runtime.py"]
