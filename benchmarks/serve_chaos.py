"""Disturbs a `gonie serve` under load, and compares every answer with the expected one.

    python benchmarks/serve_chaos.py BUNDLE OTHER [--data DATA] [--minutes 15] [--swaps 100]
    python benchmarks/serve_chaos.py BUNDLE OTHER --minutes 0.5 --swaps 5 --seconds 5    # a trial
    python benchmarks/serve_chaos.py BUNDLE OTHER --only swap

BUNDLE and OTHER are two taggers that differ. The requests are the sentences of UNER English EWT test, one per
request. The expected answers are the lines of `gonie tag --output jsonl`, and the document of an answer must
have the same bytes. The load has Poisson times at 80 % of the rate that the same client reaches in a closed
loop. Each scenario starts its own service with two workers:

    swap    flips a symbolic link between the bundles and sends SIGHUP, 100 times. Every answer must be right
            for the bundle hash that it names, and each swap must show in the answers within 30 s.
    kill    SIGKILL to a worker every second.
    hangup  1,000 clients that send a request, or half of one, and close the connection at once.
    loris   100 clients that send a header or a body byte by byte, or never read their answers.
    memory  load for --minutes. RSS of the process tree every second, and a line fitted to the second half.
    drain   SIGTERM. A request that the service has read must be answered. A connection that was closed
            before it read the request (`unread`, see serving/client.py) or was refused is counted apart.

429 is not an error under load; everything else but a right answer is, except 503 `draining` in `drain`.
Starting workers takes both cores of a small machine, so that `swap` and `kill` see many 429 there. The exit
status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import uvloop

from serving.checked_load import CheckedLoad, Expected, capacity
from serving.client import RefusedError, connect
from serving.corpus import read_sentences
from serving.processes import Service, exit_on_sigterm, gonie_serve

DATA = Path(os.environ.get("GONIE_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
WORKER = "gonie.serve.worker"
WORKERS = 2
SHARE = 0.8
SEEN_IN = 30.0  # seconds
EXIT_IN = 15.0  # seconds
STALL = 5_000.0  # ms, where the service has all its workers
DEADLINE = 30_000.0  # ms, the default of `gonie serve`
TAKEN_OVER = 1000  # answers in a row that show that a swap is complete
BUSY = ("swap", "kill", "drain")  # scenarios in which workers start or end
LARGE = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"  # a request with a large answer
DRAINED = ("refused", "unread", "status 503")  # outcomes that are no errors once the service ends


@dataclass(frozen=True)
class Bar:
    """What must hold, and the figure that was measured."""

    text: str
    figure: str
    met: bool


@dataclass(frozen=True)
class Scene:
    """A service under load."""

    service: Service
    load: CheckedLoad
    link: Path
    bundles: dict[str, Path]  # by digest
    given: argparse.Namespace


def unharmed(name: str, load: CheckedLoad) -> list[Bar]:
    """Return the bars of the load."""
    bad = load.bad(*(DRAINED if name == "drain" else ()))
    total = load.counts.total() - load.counts["refused"]
    good = load.counts["ok"] / total
    most = DEADLINE if name in BUSY else STALL
    slowest = load.latency(100)
    return [
        Bar("every answer is right, or a refusal (429)", f"{bad} of {total:,} not", bad == 0),
        Bar("at least 10 % of the requests are answered", f"{good:.1%}", good >= 0.1),
        Bar(f"no answer takes more than {most / 1e3:.0f} s", f"{slowest:,.0f} ms", slowest <= most),
    ]


async def swap(scene: Scene) -> list[Bar]:
    """Change the bundle again and again."""
    digests, seen, times = [*scene.bundles], 0, []
    for number in range(1, scene.given.swaps + 1):
        wanted = digests[number % 2]
        flip(scene.link, scene.bundles[wanted])
        began = time.monotonic()
        scene.service.process.send_signal(signal.SIGHUP)
        while time.monotonic() < began + SEEN_IN and not taken_over(scene, wanted):
            await asyncio.sleep(0.005)
        if taken_over(scene, wanted):
            seen += 1
            times.append(time.monotonic() - began)
    slowest = f"median {np.median(times):.2f} s, slowest {max(times):.2f} s" if times else ""
    figure = f"{seen} of {scene.given.swaps} {slowest}"
    return [Bar("all swaps show in the answers", figure, seen == scene.given.swaps)]


def taken_over(scene: Scene, bundle: str) -> bool:
    """Return whether only this bundle answers: the last answers of the earlier one have arrived."""
    return scene.load.latest == bundle and scene.load.streak >= TAKEN_OVER


async def kill(scene: Scene) -> list[Bar]:
    """Kill a worker every second."""
    killed = 0
    for number in range(int(scene.given.seconds)):
        workers = scene.service.workers(WORKER)
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(workers[number % len(workers)], signal.SIGKILL)
                killed += 1
        await asyncio.sleep(1)
    end = time.monotonic() + 30
    while time.monotonic() < end and len(scene.service.workers(WORKER)) < WORKERS:
        await asyncio.sleep(0.1)
    alive = len(scene.service.workers(WORKER))
    return [
        Bar("workers were killed", f"{killed}", killed > 0),
        Bar("all workers run again", f"{alive}", alive == WORKERS),
    ]


async def hangup(scene: Scene) -> list[Bar]:
    """Send 1,000 requests, whole or half, and close the connection."""
    loop = asyncio.get_running_loop()
    requests = scene.load.expected.requests

    async def one(number: int) -> None:
        with contextlib.suppress(RefusedError, OSError):
            sock = await connect(scene.service.port)
            request = requests[number % len(requests)]
            await loop.sock_sendall(sock, request[: len(request) // 2] if number % 2 else request)
            if number % 4 > 1:  # RST instead of FIN
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if number % 8 > 3:
                await asyncio.sleep(0.002)
            sock.close()

    for first in range(0, 1000, 50):
        await asyncio.gather(*(one(first + each) for each in range(50)))
        await asyncio.sleep(0.05)
    await asyncio.sleep(2)
    return []


async def loris(scene: Scene) -> list[Bar]:
    """Hold 100 connections open as slowly as possible."""
    loop = asyncio.get_running_loop()
    request = scene.load.expected.requests[0]
    head = request.index(b"\r\n\r\n") + 4
    end = time.monotonic() + max(3.0, scene.given.seconds)
    closed = 0

    async def one(number: int) -> None:
        nonlocal closed
        sock = await connect(scene.service.port)
        try:
            if number % 3 == 2:  # never reads; one asks for more than the buffers hold
                await loop.sock_sendall(sock, LARGE * (200 if number == 2 else 1))
                while time.monotonic() < end:
                    await loop.sock_sendall(sock, LARGE)
                    await asyncio.sleep(3)
                return
            slow = request if number % 3 else request[:head]
            await loop.sock_sendall(sock, slow[: head if number % 3 else 0])
            for byte in slow[head if number % 3 else 0 :] + b" " * 1000:
                if time.monotonic() > end:
                    return
                await loop.sock_sendall(sock, bytes([byte]))
                await asyncio.sleep(0.3)
        except OSError:
            closed += 1
        finally:
            sock.close()

    await asyncio.gather(*map(one, range(100)))
    print(f"  loris: the service closed {closed} of 100 slow connections in {scene.given.seconds:.0f} s")
    return []


async def memory(scene: Scene) -> list[Bar]:
    """Keep up the load, and watch the memory."""
    end = time.monotonic() + 60 * scene.given.minutes
    samples = []
    while time.monotonic() < end:
        samples.append((time.monotonic(), scene.service.memory().rss / 2**20))
        await asyncio.sleep(1)
    times, sizes = np.array(samples[len(samples) // 2 :]).T
    slope = float(np.polyfit(times - times[0], sizes, 1)[0])
    growth = 100 * slope * (times[-1] - times[0]) / sizes.mean()
    figure = f"{growth:+.2f} % ({60 * slope:+.3f} MB/min at {sizes.mean():,.0f} MB)"
    return [Bar("RSS grows by at most 2 % in the second half", figure, growth <= 2)]


async def drain(scene: Scene) -> list[Bar]:
    """End the service while requests are on their way."""
    await asyncio.sleep(2)
    began = time.monotonic()
    scene.service.process.terminate()
    while scene.service.process.poll() is None and time.monotonic() < began + 2 * EXIT_IN:
        await asyncio.sleep(0.01)
    took, status = time.monotonic() - began, scene.service.process.poll()
    left = [pid for pid in scene.service.session() if pid != scene.service.process.pid]
    return [
        Bar("exit status 0", f"{status}", status == 0),
        Bar(f"exits within {EXIT_IN:.0f} s", f"{took:.2f} s", took <= EXIT_IN),
        Bar("leaves no process behind", f"{len(left)}", not left),
    ]


SCENARIOS: dict[str, Callable[[Scene], Awaitable[list[Bar]]]] = {
    "swap": swap,
    "kill": kill,
    "hangup": hangup,
    "loris": loris,
    "memory": memory,
    "drain": drain,
}


def flip(link: Path, target: Path) -> None:
    """Point a symbolic link to another folder, atomically."""
    fresh = link.with_name(link.name + ".new")
    fresh.symlink_to(target)
    fresh.replace(link)


def digest_of(path: Path) -> tuple[str, Path]:
    """Return the hash of a bundle, and its folder."""
    folder = path / "bundle" if (path / "bundle").is_dir() else path
    return hashlib.sha256((folder / "bundle.json").read_bytes()).hexdigest(), folder.resolve()


async def play(
    name: str, given: argparse.Namespace, expected: Expected, bundles: dict[str, Path]
) -> list[Bar]:
    """Run a scenario on a service of its own."""
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "current"
        link.symlink_to(next(iter(bundles.values())))
        with gonie_serve({"ner": link}, WORKERS) as service:
            await capacity(service.port, expected, seconds=given.warm)
            rate = SHARE * await capacity(service.port, expected, seconds=given.warm)
            load = CheckedLoad(service.port, expected, rate)
            spent, began = time.process_time(), time.monotonic()
            disturbance = asyncio.create_task(SCENARIOS[name](Scene(service, load, link, bundles, given)))
            await load.run(disturbance)
            share = (time.process_time() - spent) / (time.monotonic() - began)
            counts = ", ".join(f"{count:,} {outcome}" for outcome, count in load.counts.most_common())
            print(f"{name}: {rate:,.0f} requests/s, the client takes {share:.2f} cores; {counts}")
            print(
                f"  p50 {load.latency(50):.1f}, p99 {load.latency(99):.1f}, "
                f"slowest {load.latency(100):.1f} ms"
            )
            for example in load.examples:
                print(f"  first {example}")
            print(end="", flush=True)
            return [*await disturbance, *unharmed(name, load)]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path, help="an English tagger: a run folder or a bundle")
    parser.add_argument("other", type=Path, help="another one")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora")
    parser.add_argument("--minutes", type=float, default=15, help="of the memory scenario (default: 15)")
    parser.add_argument("--swaps", type=int, default=100, help="default: 100")
    parser.add_argument("--seconds", type=float, default=30, help="of kill and loris (default: 30)")
    parser.add_argument("--warm", type=float, default=3, help="seconds of the closed loops before the load")
    parser.add_argument("--only", nargs="+", choices=SCENARIOS, default=[*SCENARIOS], help="default: all")
    return parser.parse_args()


def main() -> None:
    exit_on_sigterm()
    given = parse()
    bundles = dict(map(digest_of, (given.bundle, given.other)))
    if len(bundles) < 2:
        sys.exit(f"{given.bundle} and {given.other} are the same bundle")
    expected = Expected(read_sentences(given.data), bundles)
    found = []
    for name in given.only:
        found += [(name, bar) for bar in uvloop.run(play(name, given, expected, bundles))]
    print()
    for name, bar in found:
        print(f"{'yes' if bar.met else 'NO ':<4} {name + ': ' + bar.text:<60} {bar.figure}")
    sys.exit(not all(bar.met for _, bar in found))


if __name__ == "__main__":
    main()
