"""Starts a service as a process tree, and reads its CPU time and memory from /proc."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple, Self

ROOT = Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")


class Memory(NamedTuple):
    """Bytes of a process tree. ``pss`` counts a page that n processes share as 1/n in each."""

    rss: int
    pss: int


class StartError(Exception):
    """The service ended, or was not ready in time. The text is the end of its output."""


class Service:
    """A running service: a main process and its descendants, which listen on ``port`` of 127.0.0.1."""

    def __init__(
        self,
        command: Sequence[object],
        port: int,
        *,
        environment: Mapping[str, str] | None = None,
        ready: str = "/health/ready",
        patience: float = 60,
    ) -> None:
        self.port = port
        self.log = Path(f"/tmp/gonie-bench-{os.getpid()}-{port}.log")
        paths = [str(ROOT / "src"), str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH")]
        own = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "BENTOML_DO_NOT_TRACK": "True"}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*map(str, command)],
                env=os.environ | own | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait(ready, patience)

    def _wait(self, ready: str, patience: float) -> None:
        end = time.monotonic() + patience
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError, HTTPException):
                connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", ready)
                if connection.getresponse().status == 200:
                    connection.close()
                    return
            time.sleep(0.1)
        ended = self.process.returncode
        why = f"not ready in {patience:.0f} s" if ended is None else f"exit status {ended}"
        self.stop()
        raise StartError(f"{why}\n{self.tail()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.log.unlink(missing_ok=True)

    def stop(self) -> None:
        """End all processes: SIGTERM to the main process, after 10 seconds SIGKILL to the whole session."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def tail(self, lines: int = 15) -> str:
        """Return the end of the output of the service."""
        return "\n".join(self.log.read_text("utf-8", "replace").splitlines()[-lines:])

    def tree(self) -> list[int]:
        """Return the main process and its descendants."""
        return descendants(self.process.pid)

    def session(self) -> list[int]:
        """Return all processes of the session, also those whose parent has ended."""
        return [pid for pid, fields in _stats() if int(fields[3]) == self.process.pid]

    def cpu(self) -> float:
        """Return the CPU seconds that the living processes have used."""
        return sum(map(_cpu, self.tree()))

    def memory(self) -> Memory:
        """Return the memory of all processes."""
        found = [*map(_memory, self.tree())]
        return Memory(sum(each.rss for each in found), sum(each.pss for each in found))

    def workers(self, mark: str) -> list[int]:
        """Return the processes, other than the main one, whose command line contains ``mark``."""
        return [pid for pid in self.tree()[1:] if mark in _command(pid)]


def exit_on_sigterm() -> None:
    """End with an exception on SIGTERM, so that the services that this process started are stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def gonie_serve(models: Mapping[str, Path], workers: int, *options: object, **named: float) -> Service:
    """Start `gonie serve`."""
    port = free_port()
    given = [f"{name}={path}" for name, path in models.items()]
    command = [sys.executable, "-m", "gonie", "serve", *given, "--port", port, "--workers", workers, *options]
    return Service(command, port, **named)  # type: ignore[arg-type]


def descendants(root: int) -> list[int]:
    """Return a process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for pid, fields in _stats():
        children.setdefault(int(fields[1]), []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _stats() -> Iterator[tuple[int, list[str]]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                yield int(folder.name), _stat(int(folder.name))


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name: state, parent, group, session, …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _cpu(pid: int) -> float:
    try:
        fields = _stat(pid)
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK


def _memory(pid: int) -> Memory:
    sizes = {"Rss": 0, "Pss": 0}
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, _, rest = line.partition(":")
            if name in sizes:
                sizes[name] = 1024 * int(rest.split()[0])
    return Memory(sizes["Rss"], sizes["Pss"])


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
