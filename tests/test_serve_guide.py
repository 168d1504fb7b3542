"""Runs the commands of the guides to `gonie serve`, one after the other, in one shell.

``<!-- shell -->`` marks the blocks that run. Other blocks need root, a registry or a public name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle
from support.service_process import GONIE, free_port, running_service

pytest.importorskip("fastapi", reason="the extra serve is not installed")

GUIDES = Path(__file__).parents[1] / "docs" / "guides"
BLOCK = re.compile(r"^<!-- shell -->\n```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^<!-- shell -->\n```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
STOP = 'trap \'kill -KILL "${service:-}" "${swapped:-}" 2> /dev/null || true\' EXIT\n'
"""Ends the services if a command fails."""


@pytest.mark.long
@pytest.mark.parametrize("page", ["serve.md", "serve.ko.md"])
def test_the_commands_of_the_guide_work(
    page: str, toy_run: Path, text_bundle: Callable, tmp_path: Path
) -> None:
    for program in ("bash", "curl"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    shutil.copytree(toy_run, tmp_path / "runs" / "ner")
    write_bundle(tmp_path / "runs" / "intents" / "bundle", text_bundle())
    (tmp_path / "bin").mkdir()
    gonie = tmp_path / "bin" / "gonie"
    gonie.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gonie "$@"\n', "utf-8")
    gonie.chmod(0o755)
    blocks = BLOCK.findall((GUIDES / page).read_text("utf-8"))
    ports = {"8000": str(free_port()), "8001": str(free_port())}
    script = STOP + "\n".join(blocks).replace("8000", ports["8000"]).replace("8001", ports["8001"])
    script = script.replace("gonie serve ner=runs/ner", f"gonie serve --port {ports['8000']} ner=runs/ner")
    names = ("http_proxy", "https_proxy", "all_proxy")
    environment = {name: value for name, value in os.environ.items() if name.lower() not in names}
    environment |= {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "GONIE_LANG": "en"}
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    logs = "".join(path.read_text("utf-8") for path in tmp_path.glob("*.log"))
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}\n{logs}"
    assert len(blocks) >= 7
    lines = list(objects(ended.stdout))
    assert [line["error"] for line in lines if "row" in line] == ["no key 'text'. The object's keys: 'id'"]
    assert not [line for line in lines if "status" in line and line["status"] not in ("ready", 200)]
    assert {"documents", "results"} <= {key for line in lines for key in line}
    assert re.search("swapped", logs)
    assert ended.stdout.rstrip().endswith("stopped")


@pytest.mark.parametrize("page", ["README.md", "README.ko.md"])
def test_the_service_of_the_readme_prints_what_is_shown(page: str, toy_run: Path, tmp_path: Path) -> None:
    (block,) = CONSOLE.findall((GUIDES.parents[1] / page).read_text("utf-8"))
    serve, curl = (line[2:] for line in block.splitlines() if line.startswith("$ "))
    shown = [line for line in block.splitlines() if not line.startswith("$ ")]
    port = free_port()
    assert serve.startswith("gonie ")
    assert serve.endswith(" serve runs/mine &")
    command = [*GONIE, *serve.split()[1:-2], f"mine={toy_run}", "--port", str(port)]
    with running_service(command, tmp_path, port=port) as service:
        ended = subprocess.run(
            ["bash", "-c", curl.replace("8000", str(port))], capture_output=True, text=True, check=True
        )
        assert service.log().splitlines() == [line.replace("8000", str(port)) for line in shown[:2]]
    assert ended.stdout.startswith(shown[2].partition('[{"start')[0])  # the toy model has other spans


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects at the beginning of lines, which may follow each other without a line end."""
    for line in text.splitlines():
        at = 0
        while line.startswith("{", at):
            found, at = json.JSONDecoder().raw_decode(line, at)
            yield found
