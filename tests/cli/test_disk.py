"""Tests full and read-only disks, and closed terminals and pipes, with real mounts and processes.

When a file cannot be saved, the user gets a message and exit status 2, and existing files stay unchanged.
"""

from __future__ import annotations

import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gonie import load
from gonie.tasks.recipe import load_recipe
from gonie.training.run import resume_run, start_run

Command = Callable[..., Any]
"""Calls the command line and returns the ``Outcome`` of conftest.py."""

KIB = 1024


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Disk:
    """A small in-memory file system, mounted on a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._mount("-t", "tmpfs", "-o", "size=4m", "gonie-test")

    def resize(self, size: int) -> None:
        self._mount("-o", f"remount,size={size}")

    def protect(self) -> None:
        self._mount("-o", "remount,ro")

    def fill(self) -> Path:
        """Fill all remaining space."""
        filler = self.folder / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * 4096):
                pass
        assert not os.statvfs(self.folder).f_bfree
        return filler

    def remove(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def _mount(self, *options: str) -> None:
        subprocess.run(["mount", *options, str(self.folder)], check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    try:
        mounted = Disk(tmp_path / "disk")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"this user may not mount a file system: {error}")
    yield mounted
    mounted.remove()


# --- full ------------------------------------------------------------------------------------------------


def test_training_resumes_after_a_full_disk(gonie: Command, toy: Path, toy_run: Path, disk: Disk) -> None:
    """The resumed run equals an uninterrupted one, no matter which file filled the disk."""
    train = ["train", toy / "toy.toml", "--out", disk.folder / "run"]
    stages = []
    for size in (4 * KIB, 12 * KIB, 24 * KIB, 48 * KIB, 96 * KIB, 160 * KIB, 200 * KIB):
        disk.resize(size)
        begun = (disk.folder / "run/recipe.toml").exists()
        ended = gonie(*train, *(["--resume"] if begun else []))
        if ended.code == 0:
            break
        assert ended.refused("cannot write", "the disk is full")
        stages.append(sorted(contents(disk.folder)))
        assert not [name for stage in stages for name in stage if ".tmp" in name or ".new" in name]
    assert len({tuple(stage) for stage in stages}) > 2, "it should have failed at several files"
    disk.resize(4096 * KIB)
    assert gonie(*train, "--resume").code == 0
    for name in ("best.safetensors", "last.safetensors", "bundle/model.onnx"):
        assert (disk.folder / "run" / name).read_bytes() == (toy_run / name).read_bytes()


def test_a_complete_run_survives_a_full_disk(gonie: Command, toy: Path, toy_run: Path, disk: Disk) -> None:
    """A new export fails, and the existing model still works."""
    shutil.copytree(toy_run, disk.folder / "run")
    disk.fill()
    before = contents(disk.folder)
    ended = gonie("train", toy / "toy.toml", "--out", disk.folder / "run", "--resume")
    assert ended.refused("cannot write", "the disk is full")
    assert contents(disk.folder) == before
    assert gonie("tag", disk.folder / "run", "Anna lives in Seoul .").code == 0


@pytest.mark.parametrize("name", ["scores.json", "report.html", "converted.jsonl", "converted.conll.gz"])
def test_existing_results_survive_a_full_disk(
    gonie: Command, toy: Path, toy_run: Path, disk: Disk, name: str
) -> None:
    """The existing file stays unchanged and no temporary file is left."""
    out = disk.folder / name
    out.write_text("precious")
    test = toy / "test.conll"
    command = {
        "scores.json": ["evaluate", toy_run, toy / "test.conll", "--json", out],
        "report.html": ["evaluate", toy_run, toy / "test.conll", "--html", out],
        "converted.jsonl": ["data", "convert", test, "--to", "jsonl", "--out", out],
        "converted.conll.gz": ["data", "convert", test, "--to", "conll", "--out", out],
    }[name]
    disk.fill()
    assert gonie(*command).refused(str(out), "the disk is full", "unchanged")
    assert out.read_text() == "precious"
    assert sorted(os.listdir(disk.folder)) == sorted([name, "filler"])


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Limit the file size of this process, like ``ulimit -f``."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("toy_run")  # compiles the loops first, so that no cache file is written here
@pytest.mark.parametrize("size", [0, 20_000])
def test_training_resumes_after_a_limit_on_file_sizes(
    gonie: Command, toy: Path, tmp_path: Path, size: int
) -> None:
    """Like a full disk, but without a mount: ``ulimit -f`` stops a write half-way."""
    out = tmp_path / "run"
    train = ["train", toy / "toy.toml", "--out", out, "--set", "train.epochs=1"]
    with largest_file(size):
        limited = gonie(*train)
    assert limited.refused("File too large")
    begun = (out / "recipe.toml").exists()
    assert begun == (size > 0)
    assert gonie(*train, *(["--resume"] if begun else [])).code == 0
    assert load(out)("Anna").tokens


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "command", ["tag", "evaluate", "stats", pytest.param("train", marks=pytest.mark.long)]
)
def test_a_full_standard_output_is_an_error(toy: Path, toy_run: Path, tmp_path: Path, command: str) -> None:
    """``gonie tag … > file`` on a full disk must not look like success."""
    test = toy / "test.conll"
    arguments = {
        "tag": ["tag", toy_run, "Anna"],
        "evaluate": ["evaluate", toy_run, test],
        "stats": ["data", "stats", test],
        "train": ["train", toy / "toy.toml", "--out", tmp_path / "run", "--set", "train.epochs=1"],
    }[command]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "gonie", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


# --- read-only -------------------------------------------------------------------------------------------


def test_a_read_only_folder_can_be_used_but_not_written(
    gonie: Command, toy: Path, toy_run: Path, disk: Disk
) -> None:
    """Each command that writes names the folder, and commands that only read still work."""
    shutil.copytree(toy_run, disk.folder / "run")
    (disk.folder / "empty").mkdir()
    disk.protect()
    before = contents(disk.folder)
    train = ["train", toy / "toy.toml", "--set", "train.epochs=1", "--out"]
    assert gonie(*train, disk.folder / "new").refused(str(disk.folder), "read-only")
    assert gonie(*train, disk.folder / "empty").refused(str(disk.folder), "read-only")
    assert gonie("train", toy / "toy.toml", "--out", disk.folder / "run", "--resume").refused("read-only")
    out = disk.folder / "out"
    evaluate = ["evaluate", disk.folder / "run", toy / "test.conll"]
    assert gonie(*evaluate, "--json", out).refused(str(out), "read-only")
    assert gonie(*evaluate, "--html", out).refused(str(out), "read-only")
    assert gonie("data", "convert", toy / "test.conll", "--to", "tsv", "--out", out).refused("read-only")
    assert gonie(*train, disk.folder / "new", "--set", f"data.cache={disk.folder}/cache").refused()
    assert gonie(*train, disk.folder.parent / "run", "--set", f"data.cache={disk.folder}/cache").refused(
        "cache"
    )
    assert gonie(*evaluate).code == 0
    assert contents(disk.folder) == before


# --- terminals and pipes ---------------------------------------------------------------------------------


def on_a_terminal(command: list[str | Path]) -> tuple[int, str]:
    """Run a command in a new pseudo-terminal; return its exit status and everything it printed."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm"}
    line = [sys.executable, "-m", "gonie", *map(str, command)]
    process = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    chunks = []
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # the child has closed its side
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(ours)
    return process.wait(), b"".join(chunks).decode("utf-8", "replace")


@pytest.mark.long
def test_an_error_in_the_live_display_restores_the_cursor(toy: Path, disk: Disk) -> None:
    """An error during the live display shows the cursor again, and its message is readable."""
    disk.resize(24 * KIB)
    code, screen = on_a_terminal(["train", toy / "toy.toml", "--out", disk.folder / "run"])
    assert code == 2
    assert "the disk is full" in screen
    assert screen.rfind("\x1b[?25h") > screen.rfind("\x1b[?25l") >= 0


def test_a_closed_pipe_is_silent_and_files_are_still_written(
    toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    """``gonie data stats … | head -1`` prints no error, and the requested files are written."""
    scores, errors, page = (tmp_path / f"a.{suffix}" for suffix in ("json", "tsv", "html"))
    for command in (
        ["data", "stats", toy / "train.conll"],
        ["evaluate", toy_run, toy / "test.conll", "--json", scores, "--errors", errors],
        ["explain", toy_run, "George sleeps", "--method", "erasure", "--html", page],
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "gonie", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        complaint = process.stderr.read()
        process.stderr.close()
        assert process.wait() in (128 + signal.SIGPIPE, 1)
        assert complaint == b""
    for written in (scores, errors, page):
        assert written.stat().st_size


def test_a_resume_on_a_full_disk_leaves_the_run_intact(toy: Path, disk: Disk, silence: Any) -> None:
    """If a checkpoint cannot be replaced, the last good one stays."""

    class StopError(Exception):
        pass

    def stop(step: Any) -> None:
        if step.epoch == 2:
            raise StopError

    settings = load_recipe(toy / "toy.toml", ["train.epochs=3"])
    silence.step = stop
    with pytest.raises(StopError):
        start_run(settings, disk.folder / "run", silence)
    before = contents(disk.folder / "run")
    filler = disk.fill()
    del silence.step
    with pytest.raises(Exception, match="the disk is full"):
        resume_run(disk.folder / "run", silence)
    assert contents(disk.folder / "run") == before
    filler.unlink()
    assert resume_run(disk.folder / "run", silence)
    assert load(disk.folder / "run")("Anna").tokens


@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by the shell")
@pytest.mark.parametrize("stream", ["<&-", ">&-", "2>&-"])
def test_commands_work_with_a_closed_standard_stream(
    toy: Path, toy_run: Path, tmp_path: Path, stream: str
) -> None:
    """Some schedulers close standard streams; no opened file may be mistaken for one."""
    convert = f"data convert {toy}/test.conll --to tsv --out {tmp_path}/out.tsv"
    tag = f"tag {toy_run}" if stream == "<&-" else f"tag {toy_run} --file {toy}/test.conll"
    for command in (tag, convert):
        line = f"{sys.executable} -m gonie {command} {stream}"
        ended = subprocess.run(
            ["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True
        )
        assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "out.tsv").read_text("utf-8").count("\n") == 20
