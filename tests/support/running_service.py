"""Runs the real `gonie serve` in a process, for tests."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import psutil

import gonie

BUNDLES = Path(__file__).parent.parent / "bundles" / "4"
LETTERS, FEATURES, TEXTS = BUNDLES / "letters", BUNDLES / "features", BUNDLES / "texts"
LONG = 60.0
"""Seconds after which something that should happen soon counts as hung. The machine may be very busy."""
_DIE_TOGETHER = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Runs the service so that it is killed if the tests are, however they end."""
_ADDRESS = re.compile(r"http://\S+:(\d+)")


def wait_for(what: Callable[[], Any], seconds: float = LONG, *, told: str = "") -> Any:
    """Return the first true result of a function. Fail if there is none in time."""
    last = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < last, f"not within {seconds} seconds: {told or what}"
        time.sleep(0.02)
    return found


def ended(pid: int) -> bool:
    """Return whether a process has ended and left nothing to reap."""
    return not psutil.pid_exists(pid)


class RunningService:
    """A service in its own process. Leaving the context kills all of its processes."""

    def __init__(
        self,
        *arguments: str | Path,
        module: Sequence[str] = ("-m", "gonie", "serve"),
        environment: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        ready: bool = True,
        port: int = 0,
        out: int | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gonie-service-")
        self._out, self._err = (Path(self._folder.name) / name for name in ("out", "err"))
        own = str(Path(gonie.__file__).parent.parent)
        path = os.pathsep.join(filter(None, [(environment or {}).get("PYTHONPATH"), own]))
        given = {**os.environ, "GONIE_LANG": "en", **(environment or {}), "PYTHONPATH": path}
        with self._out.open("wb") as out_file, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _DIE_TOGETHER, *module, *map(str, arguments), "--port", str(port)],
                stdin=subprocess.DEVNULL,
                stdout=out_file if out is None else out,
                stderr=err,
                env=given,
                start_new_session=True,
            )
        self.port = port
        self._known: dict[int, psutil.Process] = {}
        self._client: httpx.Client | None = None
        self._headers = dict(headers or {})
        if ready:
            try:
                self.wait_until_ready()
            except BaseException:
                self.close()
                raise

    def wait_until_ready(self) -> None:
        """Read the address from the first line of standard output, and wait until the service is ready."""

        def address() -> re.Match[str] | None:
            assert self.process.poll() is None, f"exit {self.process.returncode}\n{self.log}"
            return _ADDRESS.search(self.out.partition("\n")[0]) if "\n" in self.out else None

        self.port = int(wait_for(address, told="the service starts")[1])
        assert self.get("/health/ready").status_code == 200

    # --- requests

    @property
    def client(self) -> httpx.Client:
        """A client of the service."""
        if self._client is None:
            self._client = self.new_client()
        return self._client

    def new_client(self) -> httpx.Client:
        """Return another client, for another thread."""
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}", headers=self._headers, timeout=LONG, trust_env=False
        )

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Send a GET request."""
        return self.client.get(path, **options)

    def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        """Send a POST request: bytes as they are, anything else as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", **options.pop("headers", {})}
        return self.client.post(path, content=content, headers=headers, **options)

    def tag(self, text: str = "Anna Kim lives in Seoul .", **options: Any) -> httpx.Response:
        """Tag one text with the model ``letters``."""
        return self.post("/v1/tag", {"texts": [text], "model": "letters"}, **options)

    def connect(self, *, buffer: int | None = None) -> socket.socket:
        """Return a plain connection, with a receive buffer of ``buffer`` bytes."""
        connection = socket.socket()
        if buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(LONG)
        connection.connect(("127.0.0.1", self.port))
        return connection

    def metric(self, name: str, **labels: str) -> float:
        """Return the value of a metric, 0 if it is missing."""
        shown = ",".join(f'{key}="{value}"' for key, value in labels.items())
        wanted = f"{name}{{{shown}}} " if shown else f"{name} "
        lines = self.get("/metrics").text.splitlines()
        return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(wanted)), 0.0)

    # --- processes

    @property
    def info(self) -> dict[str, Any]:
        """The facts of ``/info``."""
        facts: dict[str, Any] = self.get("/info").json()
        return facts

    @property
    def workers(self) -> list[int]:
        """The process numbers of the workers that serve."""
        return list(self.info["workers"])

    def processes(self) -> list[int]:
        """Return the numbers of the service's process and of all its children, ready or not."""
        try:
            front = psutil.Process(self.process.pid)
            found = [front, *front.children(recursive=True)]
        except psutil.NoSuchProcess:
            found = []
        self._known |= {each.pid: each for each in found}
        return [each.pid for each in found]

    @property
    def out(self) -> str:
        """What was written to standard output."""
        return self._out.read_text("utf-8")

    @property
    def log(self) -> str:
        """What was written to standard error."""
        return self._err.read_text("utf-8")

    def send_signal(self, number: int) -> None:
        """Send a signal to the service, not to its workers."""
        self.process.send_signal(number)

    def wait(self, seconds: float = LONG) -> int:
        """Wait until the service has ended, with all its processes, and return its exit status."""
        self.processes()
        status = self.process.wait(seconds)
        wait_for(lambda: all(map(ended, self._known)), told="all processes end")
        return status

    def stop(self, number: int = signal.SIGTERM, seconds: float = LONG) -> int:
        """Stop the service by a signal and return its exit status."""
        self.processes()
        self.send_signal(number)
        return self.wait(seconds)

    def close(self) -> None:
        """Kill all processes."""
        if self._client is not None:
            self._client.close()
        self.processes()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LONG)
        for each in self._known.values():
            try:
                if each.is_running():  # compares the time of its start, so that no other process is hit
                    each.kill()
            except psutil.NoSuchProcess:
                pass
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(f"the log of the service:\n{self.log[-4000:]}")
        self.close()


class Stopped:
    """Stops processes for the time of a block, so that they answer nothing."""

    def __init__(self, *pids: int) -> None:
        self._pids = pids

    def __enter__(self) -> None:
        for pid in self._pids:
            os.kill(pid, signal.SIGSTOP)

    def __exit__(self, *_: object) -> None:
        for pid in self._pids:
            with suppress(ProcessLookupError):  # a process may have ended meanwhile
                os.kill(pid, signal.SIGCONT)
