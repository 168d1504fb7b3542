"""Puts load on an HTTP service: a closed loop with wrk, or an open loop at a rate (``open_loop``)."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from serving.open_loop import ARRIVAL

SCRIPT = Path(__file__).with_name("load.lua")
OPEN_LOOP = Path(__file__).with_name("open_loop.py")


@dataclass(frozen=True)
class Saturation:
    """The figures of a closed loop."""

    rate: float  # answers per second with a status below 400
    refused: int  # answers with another status
    lost: int  # connections that broke
    cpu: float  # CPU seconds of the generator per request
    p50: float  # ms, from the sending of a request


@dataclass(frozen=True)
class Open:
    """The figures of an open loop. Latencies are in ms, from the scheduled time of a request."""

    arrivals: np.ndarray[Any, Any]
    seconds: float
    broken: int  # connections that broke before an answer; the request was sent again
    cpu: float  # CPU seconds of the generator per request

    @property
    def offered(self) -> float:
        """Requests per second of the schedule."""
        return len(self.arrivals) / self.seconds

    @property
    def answered(self) -> float:
        """Answers per second with status 200, from one second after the first arrival to the last one."""
        begin, end = self.arrivals["scheduled"].min() + 1, self.arrivals["scheduled"].max()
        times = self.arrivals["answered"][self.arrivals["status"] == 200]
        return float(((begin <= times) & (times <= end)).sum() / (end - begin))

    @property
    def late(self) -> float:
        """Share of the requests that the generator sent more than 2 ms late, as all connections were busy."""
        sent = self.arrivals[self.arrivals["sent"] > 0]
        return 1 - float((sent["sent"] - sent["scheduled"] <= 0.002).sum()) / len(self.arrivals)

    def share(self, status: int) -> float:
        """Return the share of requests with a status. 0 means that no answer came."""
        return float((self.arrivals["status"] == status).mean())

    @property
    def errors(self) -> float:
        """Share of requests with neither status 200 nor 429."""
        return float(np.isin(self.arrivals["status"], (200, 429), invert=True).mean())

    def latency(self, percent: float, status: int = 200) -> float:
        """Return a percentile of the latency of the answers with a status, or NaN if there is none."""
        own = self.arrivals[self.arrivals["status"] == status]
        times = 1e3 * (own["answered"] - own["scheduled"])
        return float(np.percentile(times, percent)) if len(own) else math.nan


def write_requests(bodies: Iterable[bytes], path: Path, target: str = "/v1/tag") -> None:
    """Write the requests of all bodies in the format that ``load.lua`` reads."""
    with path.open("wb") as file:
        for body in bodies:
            head = f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            request = head.encode() + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            file.write(b"%d\n%b" % (len(request), request))


def saturate(port: int, requests: Path, *, connections: int, seconds: int) -> Saturation:
    """Run a closed loop."""
    program = shutil.which("wrk") or sys.exit("wrk not found: apt install wrk")
    options = ("-t", 1, "-c", connections, "-d", seconds, "--timeout", "60s", "-s", SCRIPT)
    command = [program, *map(str, options), f"http://127.0.0.1:{port}/"]
    output, cpu = _run(command, {"LOAD_REQUESTS": str(requests)})
    found = json.loads(output)
    good = found["requests"] - found["refused"]
    return Saturation(
        good / found["seconds"],
        found["refused"],
        found["lost"],
        cpu / max(1, found["requests"]),
        found["p50"],
    )


def open_loop(port: int, requests: Path, *, rate: float, connections: int, seconds: int, seed: int) -> Open:
    """Run an open loop: Poisson arrivals on as many connections as are needed, at most ``connections``."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "arrivals"
        arguments = (port, requests, rate, seconds, connections, seed, out)
        output, cpu = _run([sys.executable, str(OPEN_LOOP), *map(str, arguments)])
        arrivals = np.fromfile(out, ARRIVAL)
        return Open(arrivals, seconds, int(output), cpu / len(arrivals))


def _run(command: list[str], environment: Mapping[str, str] | None = None) -> tuple[str, float]:
    """Run a generator, and return the last line that it prints and its CPU seconds."""
    process = subprocess.Popen(
        command, env=os.environ | dict(environment or {}), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} failed with status {process.returncode}:\n{output}")
    return output.splitlines()[-1], usage.ru_utime + usage.ru_stime
