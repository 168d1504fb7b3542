"""Tests the files in deploy/: the systemd unit and the container image.

The unit's commands run for real, without systemd. The image is built with buildah, in a chroot, on a base
that is made here, because registries may be out of reach.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.service_process import GONIE, free_port, running_service

pytest.importorskip("fastapi", reason="the extra serve is not installed")

DEPLOY = Path(__file__).parents[1] / "deploy"
UNIT, IMAGE = DEPLOY / "gonie.service", DEPLOY / "Containerfile"
TEXTS = {"texts": ["Anna Kim lives in Seoul ."]}


# --- systemd ---------------------------------------------------------------------------------------------


def settings() -> dict[str, list[str]]:
    """Return the values of each key of the unit."""
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text("utf-8").splitlines():
        if re.match(r"\w+=", line):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze: apt-get install systemd")
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text("utf-8").replace("/opt/gonie/bin/gonie", sys.executable), "utf-8")
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_unit_gives_the_service_time_to_stop() -> None:
    found = settings()
    command = shlex.split(found["ExecStart"][0])
    seconds = float(command[command.index("--timeout") + 1])
    assert float(found["TimeoutStopSec"][0]) >= seconds + 10  # a worker is killed 5 seconds after a deadline
    assert found["KillMode"] == ["mixed"]


def test_the_service_needs_no_more_open_files_than_the_unit_allows() -> None:
    from gonie.serve.limits import ConnectionLimits

    assert int(settings()["LimitNOFILE"][0]) > ConnectionLimits().connections + 100


def test_the_commands_of_the_unit_start_reload_and_stop(toy_run: Path, tmp_path: Path) -> None:
    """Also under the limit on executable memory that the unit sets, where the kernel has it."""
    found, port = settings(), free_port()
    program, *arguments = shlex.split(found["ExecStart"][0])
    model = tmp_path / "ner"
    shutil.copytree(toy_run / "bundle", model)
    assert Path(program).name == "gonie"
    replaced = {"ner=/srv/gonie/ner": f"ner={model}", "8000": str(port)}
    command = [*WITHOUT_NEW_CODE, *GONIE, *(replaced.pop(word, word) for word in arguments)]
    assert not replaced
    with running_service(command, tmp_path, port=port) as service:
        before = service.ask("/v1/tag", TEXTS).body
        swap(model)
        reload = shlex.split(found["ExecReload"][0].replace("$MAINPID", str(service.process.pid)))
        subprocess.run(reload, check=True)
        service.wait_until(lambda: '"event": "swapped"' in service.log())
        after = service.ask("/v1/tag", TEXTS).body
        assert before["documents"] == after["documents"]
        assert before["bundle"] != after["bundle"]
        assert service.stop(signal.SIGTERM) == 0
    events = [json.loads(line)["event"] for line in service.log().splitlines() if line.startswith("{")]
    assert events == ["swapped", "stopping", "stopped"]


WITHOUT_NEW_CODE = (
    sys.executable,
    "-c",
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(65, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])",
)
"""Runs a command with PR_SET_MDWE, which is what MemoryDenyWriteExecute=yes does on new kernels."""


def swap(model: Path) -> None:
    """Put another bundle with the same answers in place of a bundle."""
    index = model / "bundle.json"
    index.write_text(json.dumps(json.loads(index.read_text("utf-8")), indent=3), "utf-8")


# --- the image -------------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Containerfile and their arguments."""
    lines = [line for line in IMAGE.read_text("utf-8").splitlines() if not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in whole.splitlines() if line.strip()]


def last(name: str) -> str:
    return [value for key, value in instructions() if key == name][-1]


def test_the_containerfile_follows_the_usual_rules() -> None:
    names = [name for name, _ in instructions()]
    assert names[:2] == ["ARG", "FROM"]
    assert names.count("FROM") == 2
    assert set(names) <= {
        *("ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"),
        "ENTRYPOINT",
    }
    final = names[len(names) - names[::-1].index("FROM") :]
    assert "RUN" not in final  # nothing is built in the image that is shipped
    assert final.index("USER") < final.index("ENTRYPOINT")
    user, group = map(int, last("USER").split(":"))  # numbers, so that Kubernetes sees that it is not root
    assert user > 0
    assert group > 0
    assert ":latest" not in IMAGE.read_text("utf-8")
    assert "--no-cache-dir" in last("RUN")


def test_the_containerfile_starts_gonie_without_a_shell() -> None:
    """So that SIGTERM arrives."""
    entry = json.loads(last("ENTRYPOINT"))
    assert entry[:2] == ["gonie", "serve"]
    check = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    port = entry[entry.index("--port") + 1]
    assert last("EXPOSE") == port
    assert f"http://127.0.0.1:{port}/health/ready" in check[-1]


def test_the_containerfile_copies_only_what_the_build_context_has() -> None:
    ignored = (DEPLOY.parent / ".dockerignore").read_text("utf-8").splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = [
        value.split()[:-1] for name, value in instructions() if name == "COPY" and "--from" not in value
    ]
    assert {name for names in copied for name in names} == kept
    assert all((DEPLOY.parent / name).exists() for name in kept)


class Buildah:
    """Runs buildah with a storage of its own."""

    def __init__(self, folder: Path) -> None:
        self._options = [
            *("--root", str(folder / "root"), "--runroot", str(folder / "run"), "--storage-driver", "vfs"),
        ]

    def command(self, *arguments: str) -> list[str]:
        return ["buildah", *self._options, *arguments]

    def __call__(self, *arguments: str) -> str:
        ended = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False)
        assert ended.returncode == 0, f"{arguments}\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
        return ended.stdout.strip()


BASE = ("python3", "python3-venv", "python3-pip", "python-is-python3", "ca-certificates")
CERTIFICATES = "/etc/ssl/certs"


def folders_of_pip() -> list[str]:
    """Return the folders that pip needs here: certificates, and packages if it is set up to use folders."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    found = re.findall(r"(?:file://)?(?<![\w.])(/[^\s'\"]+)", listed.stdout)
    folders = [
        CERTIFICATES,
        *(path.removesuffix("/simple") for path in found),
    ]  # an index is beside its packages
    return [path for path in dict.fromkeys(folders) if Path(path).is_dir()]


@pytest.fixture(scope="module")
def buildah(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Buildah]:
    """Build the image on a Debian with Python, which stands for the official image of Python."""
    for program in ("buildah", "debootstrap"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}: apt-get install buildah debootstrap")
    if os.getuid() != 0:
        pytest.skip("building an image in a chroot needs root")
    folder = tmp_path_factory.mktemp("image")
    build, system = Buildah(folder / "storage"), folder / "system"
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={','.join(BASE)}", "bookworm", str(system)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        pytest.skip(f"debootstrap cannot make a base image: {made.stdout[-300:]}")
    base = build("from", "scratch")
    for special in ("dev", "proc", "sys"):  # devices must not be read as files
        assert not os.path.ismount(system / special)
        shutil.rmtree(system / special)
        (system / special).mkdir()
    build("add", "--quiet", base, str(system), "/")
    build("config", "--env", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", base)
    build("commit", "--quiet", "--rm", base, "localhost/python:test")
    mounts = [f"--volume={path}:{path}:ro" for path in folders_of_pip()]
    build(
        *("bud", "--isolation", "chroot", "--format", "docker", "--network", "host", *mounts),
        *("--build-arg", "PYTHON=localhost/python:test", "--tag", "gonie", "--file", str(IMAGE)),
        str(DEPLOY.parent),
    )
    yield build
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.long
def test_the_image_serves_is_healthy_and_stops(buildah: Buildah, toy_run: Path, tmp_path: Path) -> None:
    config = json.loads(buildah("inspect", "--type", "image", "gonie"))["Docker"]["config"]
    container, port = buildah("from", "gonie"), free_port()
    shutil.copytree(toy_run / "bundle", tmp_path / "models" / "ner")
    for path in (tmp_path, *tmp_path.parents):
        if path.is_relative_to("/tmp") and path != Path("/tmp"):
            path.chmod(0o755)  # the image has another user
    volume = f"--volume={tmp_path / 'models'}:/models:ro"

    def inside(command: Sequence[str]) -> list[str]:
        options = ("run", "--isolation", "chroot", "--network", "host", volume, container, "--")
        return buildah.command(*options, *command)

    command = inside([*config["Entrypoint"], "ner=/models/ner", "--port", str(port)])
    with running_service(command, tmp_path, port=port) as service:
        (document,) = service.ask("/v1/tag", TEXTS).body["documents"]
        assert document["spans"]
        check = [word.replace("8000", str(port)) for word in config["Healthcheck"]["Test"][1:]]
        assert subprocess.run(inside(check), check=False).returncode == 0
        main = service.ask("/info").body["process"]
        assert f"Uid:\t{config['User'].partition(':')[0]}" in Path(f"/proc/{main}/status").read_text("utf-8")
        os.kill(main, signal.SIGTERM)  # what a container engine sends to the first process
        assert service.process.wait(60) == 0
    assert '"event": "stopped"' in service.log()
    assert "telemetry" not in service.log()
    without = "import importlib.util, sys; sys.exit(any(map(importlib.util.find_spec, ('torch', 'pip'))))"
    assert subprocess.run(inside(["/opt/gonie/bin/python", "-c", without]), check=False).returncode == 0
