"""Load at a constant rate from one process, with every answer compared with the expected one."""

from __future__ import annotations

import asyncio
import random
import re
import socket
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from serving.client import Answer, LostError, RefusedError, UnreadError, connect, exchange, is_closed
from serving.corpus import body_of, expected_lines, is_right

BUNDLE = re.compile(rb'"bundle": ?"([0-9a-f]{64})"')
PATIENCE = 60.0  # seconds until a request without an answer is given up


class Expected:
    """The right answers of one or more bundles to the same texts."""

    def __init__(self, texts: list[str], bundles: Mapping[str, Path]) -> None:
        head = b"POST /v1/tag HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        bodies = map(body_of, texts)
        self.requests = [head + b"Content-Length: %d\r\n\r\n" % len(body) + body for body in bodies]
        self._lines = {digest: expected_lines(path, texts) for digest, path in bundles.items()}

    def bundle_of(self, answer: Answer, index: int) -> str | None:
        """Return the digest in the envelope of an answer, or None if the answer is wrong for this bundle."""
        found = BUNDLE.findall(answer.body)
        digest = found[-1].decode() if found else ""
        lines = self._lines.get(digest)
        return digest if lines and is_right(answer.body, lines[index]) else None


class CheckedLoad:
    """Sends requests at Poisson times over as many connections as are needed, at most ``most``.

    ``counts`` has the number of requests by outcome: ``ok``, ``wrong``, ``status 503``, ``lost`` (read by the
    server and not answered), ``unread`` (the server closed the connection before it read the request),
    ``refused`` (no connection), ``no answer`` (in 60 s), ``not sent`` (all connections were busy).
    """

    def __init__(
        self, port: int, expected: Expected, rate: float, *, most: int = 1024, seed: int = 1
    ) -> None:
        self._port, self.expected, self._rate, self._most = port, expected, rate, most
        self._random = random.Random(seed)
        self._idle: list[socket.socket] = []
        self._busy: set[asyncio.Task[None]] = set()
        self.counts: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()  # right answers by bundle
        self.latest: str | None = None  # bundle of the latest right answer
        self.streak = 0  # right answers in a row from that bundle
        self.latencies: list[float] = []
        self.examples: list[str] = []

    async def run(self, until: Any) -> None:
        """Send requests until the task or the future ``until`` is done, then wait for the answers."""
        due = time.perf_counter()
        number = self._random.randrange(len(self.expected.requests))
        while not until.done():
            due += self._random.expovariate(self._rate)
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            number = (number + 1) % len(self.expected.requests)
            if len(self._busy) >= self._most:
                self.counts["not sent"] += 1
                await asyncio.sleep(0)
                continue
            task = asyncio.create_task(self._send(number, due))
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)
        while self._busy:
            await asyncio.wait(self._busy)
        for sock in self._idle:
            sock.close()
        self._idle.clear()

    async def _send(self, number: int, due: float) -> None:
        sock = None
        try:
            sock = await self._connection()
            answer = await asyncio.wait_for(exchange(sock, self.expected.requests[number]), PATIENCE)
            self.latencies.append(time.perf_counter() - due)
            self._count(answer, number)
            if answer.closes or answer.rest:
                sock.close()
            else:
                self._idle.append(sock)
        except (LostError, RefusedError, UnreadError, TimeoutError) as error:
            names = {
                LostError: "lost",
                RefusedError: "refused",
                UnreadError: "unread",
                TimeoutError: "no answer",
            }
            self._note(names[type(error)], str(error))
            if sock:
                sock.close()

    async def _connection(self) -> socket.socket:
        while self._idle:
            sock = self._idle.pop()
            if not is_closed(sock):
                return sock
            sock.close()
        return await connect(self._port)

    def _count(self, answer: Answer, number: int) -> None:
        if answer.status != 200:
            self._note(f"status {answer.status}", answer.body[:300].decode("utf-8", "replace"))
            return
        digest = self.expected.bundle_of(answer, number)
        if digest is None:
            self._note("wrong", answer.body[:300].decode("utf-8", "replace"))
            return
        self.counts["ok"] += 1
        self.seen[digest] += 1
        self.streak = self.streak + 1 if digest == self.latest else 1
        self.latest = digest

    def _note(self, outcome: str, example: str) -> None:
        if not self.counts[outcome]:
            self.examples.append(f"{outcome}: {example}")
        self.counts[outcome] += 1

    def bad(self, *allowed: str) -> int:
        """Return the number of requests with another outcome than a right answer, a 429 and those allowed."""
        fine = {"ok", "status 429", "not sent", *allowed}
        return sum(count for outcome, count in self.counts.items() if outcome not in fine)

    def latency(self, percent: float) -> float:
        """Return a percentile of the latency in ms, from the time at which a request was due."""
        return 1e3 * float(np.percentile(self.latencies, percent)) if self.latencies else float("nan")


async def capacity(port: int, expected: Expected, *, connections: int = 64, seconds: float = 3) -> float:
    """Return the answers per second that this client gets in a closed loop."""
    end = time.perf_counter() + seconds
    count = 0

    async def loop(number: int) -> None:
        nonlocal count
        sock = await connect(port)
        while time.perf_counter() < end:
            number = (number + 1) % len(expected.requests)
            await exchange(sock, expected.requests[number])
            count += 1
        sock.close()

    step = len(expected.requests) // connections
    await asyncio.gather(*(loop(step * each) for each in range(connections)))
    return count / seconds
