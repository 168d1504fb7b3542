"""Sends 10,000 hostile requests to a `gonie serve`, while a good client must always be answered rightly.

    python benchmarks/serve_hostile.py BUNDLE [--data DATA] [--requests 10000] [--seed 1]
    python benchmarks/serve_hostile.py BUNDLE --requests 500     # a trial
    python benchmarks/serve_hostile.py BUNDLE --only deep-json traversal

serving/hostile_requests.py has what is sent: bad JSON, wrong types and values, wrong encodings and media
types, oversized bodies and headers, broken framing, request smuggling, path traversal and plain garbage. The
requests are the same for the same seed. Each has a connection of its own, and 16 are on their way at a time.

Every answer must be well-formed HTTP with a status below 500, or 503 or 504, and come within 20 s. Broken
HTTP may also be answered by 501 or 505, or by closing the connection. Each kind lists the statuses that
docs/reference/service.md gives for it. Smuggled requests must not be answered. Meanwhile another process, the
canary, sends a good request every 50 ms over one connection, and compares the answer byte for byte.

The table has the statuses by kind (`closed`: no answer) and the slowest answer. The exit status is 1 if a bar
is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import socket
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from statistics import median

import uvloop

from serving.client import Answer, NotHttpError, RefusedError, connect, read_answer
from serving.corpus import body_of, expected_lines, is_right, read_sentences
from serving.hostile_requests import JSON, KINDS, TAG, Kind
from serving.processes import exit_on_sigterm, gonie_serve

DATA = Path(os.environ.get("GONIE_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
LIMIT = 20.0  # seconds for an answer
AT_ONCE = 16
QUIET = 2.0  # seconds without an answer until the client ends its side of a broken request
STALL = 2_000.0  # ms, for the canary


@dataclass
class Result:
    """What came back for the requests of one kind."""

    statuses: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)  # against the bars
    surprises: Counter[str] = field(default_factory=Counter)  # statuses that the contract does not give
    examples: dict[str, str] = field(default_factory=dict)


async def attack(port: int, kind: Kind, data: bytes) -> list[Answer]:
    """Send bytes and return the answers.

    If the framing is broken, further answers may follow, and the service may wait for more bytes. Then the
    client ends its side of the connection after some time.
    """
    loop = asyncio.get_running_loop()
    sock = await connect(port)
    sender = asyncio.create_task(_send(sock, data))
    answers: list[Answer] = []
    rest = b""

    async def receive() -> bytes:
        try:
            return await loop.sock_recv(sock, 1 << 16)
        except ConnectionError:
            return b""

    try:
        while len(answers) < kind.answers or kind.broken:
            if kind.broken and not rest:
                try:
                    rest = await asyncio.wait_for(receive(), QUIET)
                except TimeoutError:
                    await sender
                    with contextlib.suppress(OSError):
                        sock.shutdown(socket.SHUT_WR)
            if not rest and not (rest := await receive()):
                break
            answer = await read_answer(receive, rest, bodiless=data.startswith(b"HEAD "))
            rest = answer.rest
            if answer.status >= 200:
                answers.append(answer)
            if len(answers) > kind.answers:
                break
        return answers
    finally:
        sender.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sender
        sock.close()


async def _send(sock: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        await asyncio.get_running_loop().sock_sendall(sock, data)


def judge(kind: Kind, answers: list[Answer]) -> str | None:
    """Return what is wrong with the answers, or None."""
    if len(answers) > kind.answers:
        return f"{len(answers)} answers to one request"
    for answer in answers:
        if answer.status >= 500 and answer.status not in (501, 503, 504, 505):
            return f"status {answer.status}: {answer.body[:200]!r}"
        if answer.body and answer.headers.get("content-type", "").startswith("application/problem+json"):
            try:
                problem = json.loads(answer.body)
            except ValueError:
                return f"the problem is not JSON: {answer.body[:200]!r}"
            if problem.get("status") != answer.status or not problem.get("type"):
                return f"a problem without its status and type: {answer.body[:200]!r}"
    return None


async def storm(port: int, given: argparse.Namespace) -> dict[str, Result]:
    """Send all requests."""
    chance = Random(given.seed)
    light = [name for name in given.only if not KINDS[name].heavy]
    heavy = [name for name in given.only if KINDS[name].heavy]
    several = max(1, given.requests // 1000)
    plan = heavy * several + [
        light[each % len(light)] for each in range(given.requests - several * len(heavy)) if light
    ]
    chance.shuffle(plan)
    found: dict[str, Result] = defaultdict(Result)
    slots, one = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(1)

    async def play(name: str, data: bytes) -> None:
        kind, result = KINDS[name], found[name]
        async with one if kind.heavy else contextlib.nullcontext():
            began = time.monotonic()
            answers: list[Answer] = []
            try:
                answers = await asyncio.wait_for(attack(port, kind, data), LIMIT)
                wrong = judge(kind, answers)
            except (NotHttpError, RefusedError) as error:
                wrong = str(error)
            except TimeoutError:
                wrong = f"open after {LIMIT:.0f} s"
            result.slowest = max(result.slowest, time.monotonic() - began)
            status = answers[-1].status if answers else 0
            shown = str(status) if status else "closed"
            result.statuses[shown] += 1
            if wrong:
                result.failures.append(f"{wrong}; sent {data[:150]!r}")
            elif status not in kind.statuses:
                result.surprises[shown] += 1
                if shown not in result.examples:
                    result.examples[shown] = (
                        f"sent {data[:200]!r}, got {answers[-1].body[:150] if answers else b''!r}"
                    )

    tasks: set[asyncio.Task[None]] = set()
    for name in plan:
        await slots.acquire()
        task = asyncio.create_task(play(name, KINDS[name].make(chance)))
        tasks.add(task)
        task.add_done_callback(lambda done: (tasks.discard(done), slots.release(), done.result()))
    while tasks:
        await asyncio.wait(tasks)
    return found


def canary(port: int, texts: list[str], lines: list[bytes], pipe: Connection) -> None:
    """Send a good request every 50 ms until a message comes; then send back the latencies and failures."""
    connection = HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    times: list[float] = []
    failures: list[str] = []
    due, number, retried = time.perf_counter(), 0, False
    while not pipe.poll():
        try:
            connection.request("POST", TAG, body_of(texts[number]), {"Content-Type": JSON})
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, HTTPException) as error:
            connection.close()
            if retried:
                failures.append(repr(error))
            retried = not retried
            continue
        retried = False
        if answer.status != 200 or not is_right(body, lines[number]):
            failures.append(f"status {answer.status}: {body[:200]!r}")
        times.append(1e3 * (time.perf_counter() - due))
        number = (number + 1) % len(texts)
        due = max(due + 0.05, time.perf_counter() - 1)
        time.sleep(max(0.0, due - time.perf_counter()))
    pipe.send((times, failures))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path, help="an English tagger: a run folder or a bundle")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora")
    parser.add_argument("--requests", type=int, default=10_000, help="default: 10000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", nargs="+", choices=KINDS, default=[*KINDS], metavar="KIND", help="default: all"
    )
    return parser.parse_args()


def main() -> None:
    exit_on_sigterm()
    given = parse()
    texts = read_sentences(given.data)[:500]
    lines = expected_lines(given.bundle, texts)
    context = multiprocessing.get_context("spawn")
    with gonie_serve({"ner": given.bundle}, 2) as service:
        ours, theirs = context.Pipe()
        watcher = context.Process(target=canary, args=(service.port, texts, lines, theirs))
        watcher.start()
        time.sleep(1)
        before = service.memory().rss
        began = time.monotonic()
        found = uvloop.run(storm(service.port, given))
        took = time.monotonic() - began
        time.sleep(1)
        ours.send("stop")
        times, failures = ours.recv() if ours.poll(2 * LIMIT) else ([], ["the canary hangs"])
        watcher.join(5)
        watcher.kill()
        alive = service.process.poll() is None
        after = service.memory().rss
    print(f"{'kind':<18}{'requests':>9}{'slowest s':>11}  statuses")
    for name, result in sorted(found.items()):
        statuses = ", ".join(f"{status} x {count}" for status, count in sorted(result.statuses.items()))
        odd = f"   not in the contract: {', '.join(result.surprises)}" if result.surprises else ""
        print(f"{name:<18}{result.statuses.total():>9}{result.slowest:>11.2f}  {statuses}{odd}")
    for name, result in sorted(found.items()):
        for example in [*result.failures[:3], *result.examples.values()]:
            print(f"\n{name}: {example}")
    for failure in failures[:5]:
        print(f"\ncanary: {failure}")
    failed = sum(len(result.failures) for result in found.values())
    odd = sum(result.surprises.total() for result in found.values())
    worst, usual = max(times, default=float("nan")), median(times or [float("nan")])
    total = sum(result.statuses.total() for result in found.values())
    print(
        f"\n{total:,} requests in {took:.0f} s; "
        f"RSS {before / 2**20:,.0f} MB before and {after / 2**20:,.0f} MB after\n"
    )
    bars = [
        ("every answer is well-formed, below 500 and in time", f"{failed} not", failed == 0),
        ("every status is in the contract", f"{odd} not", odd == 0),
        (
            "the canary is always answered rightly",
            f"{len(failures)} of {len(times):,} not",
            not failures and bool(times),
        ),
        (
            f"the canary never waits {STALL / 1e3:.0f} s",
            f"slowest {worst:,.0f} ms, median {usual:.1f} ms",
            worst < STALL,
        ),
        ("the service runs to the end", "yes" if alive else "no", alive),
    ]
    for text, figure, met in bars:
        print(f"{'yes' if met else 'NO ':<4} {text:<60} {figure}")
    sys.exit(not all(met for *_, met in bars))


if __name__ == "__main__":
    main()
