"""A service in a process of its own, for tests of what is around it: traces, units, images and guides."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

GONIE = (sys.executable, "-m", "gonie")
SECONDS = 60.0
"""Time for a service to start or to stop. It is generous, because speed is not tested."""


class Answer(NamedTuple):
    """The status and the body of an answer."""

    status: int
    body: Any


class ServiceProcess:
    """A running service. ``url`` is its address."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self._log = log

    def log(self) -> str:
        """Return what the service has written."""
        return self._log.read_text("utf-8")

    def ask(self, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request, with a body as JSON if there is one."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            named.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(self.url + path, data, named)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=SECONDS) as answer:
                return Answer(answer.status, _read(answer.read()))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, _read(error.read()))

    def wait_until(self, ready: Any) -> None:
        """Wait until a condition holds."""
        end = time.monotonic() + SECONDS
        while not ready():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < end, self.log()
            time.sleep(0.05)

    def is_ready(self) -> bool:
        """Return whether the service answers requests."""
        try:
            return self.ask("/health/ready").status == 200
        except OSError:
            return False

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, wait for the end and return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(SECONDS)


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode()


@contextmanager
def running_service(
    command: Sequence[str | Path],
    folder: Path,
    *,
    port: int,
    environment: Mapping[str, str] | None = None,
) -> Iterator[ServiceProcess]:
    """Run a command that serves on a port, until the block ends. Its output goes to a file in ``folder``."""
    log = folder / f"service-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*map(str, command)],
            env={**os.environ, "GONIE_LANG": "en", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    service = ServiceProcess(process, f"http://127.0.0.1:{port}", log)
    try:
        service.wait_until(service.is_ready)
        yield service
    finally:
        try:
            service.stop()
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def free_port() -> int:
    """Return a port that was free just now, and that nobody takes before it is used.

    Each parallel process of the tests has a thousand ports of its own. They are below those that the system
    chooses by itself, for connections and for services on port 0.
    """
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            break
    return port


def _own_ports() -> Iterator[int]:
    first = 20_000 + 1000 * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 8)
    return (first + number % 1000 for number in count(os.getpid()))  # other runs of the tests begin elsewhere


_PORTS = _own_ports()
