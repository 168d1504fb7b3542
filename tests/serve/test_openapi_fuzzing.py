"""schemathesis makes requests from /openapi.json, valid and invalid, and compares the answers with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.running_service import LETTERS, TEXTS, RunningService

TESTS = Path(__file__).parent.parent
HOOKS = {
    "SCHEMATHESIS_HOOKS": "support.schemathesis_hooks",
    "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
    "PYTHONWARNINGS": "ignore",
}
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "negative_data_rejection",
    "unsupported_method",
)


@pytest.mark.long
def test_answers_conform_to_the_openapi_document(tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    with RunningService(LETTERS, TEXTS) as service:
        _try_all(service, tmp_path)
        assert service.tag().status_code == 200
        assert service.stop() == 0
        assert "Traceback" not in service.log


def _try_all(service: RunningService, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "run",
        f"http://127.0.0.1:{service.port}/openapi.json",
    ]
    options = ["--checks", ",".join(CHECKS), "--max-examples", "60", "--seed", "1"]
    options += ["--phases", "examples,coverage,fuzzing"]
    made = subprocess.run(
        [*command, *options, "--no-color", "--request-timeout", "60"],
        cwd=tmp_path,
        env={**os.environ, **HOOKS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout[-8000:] + made.stderr[-2000:]
