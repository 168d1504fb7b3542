"""Compares `gonie serve` with other ways to put the same bundle behind HTTP, one sentence per request.

    python benchmarks/serve.py BUNDLE [--data DATA] [--workers 1 2] [--rounds 5] [--seconds 10]
    python benchmarks/serve.py BUNDLE --rounds 1 --seconds 2 --warm 1    # a quick trial
    python benchmarks/serve.py --check-generator                         # is the load generator right?

It needs wrk (apt install wrk). LitServe and BentoML take part if they are installed:
pip install litserve==0.2.19 bentoml==1.4.39.

The requests are the sentences of UNER English EWT test: POST /v1/tag {"texts": ["…"]}. The sides:

    gonie     `gonie serve --workers N`: one process that speaks HTTP, and N with the model
    plain     FastAPI without batching: a `def` endpoint; uvicorn with uvloop and httptools, N + 1 processes
    litserve  LitServe with dynamic batching: one process for HTTP, N with the model
    bentoml   BentoML with adaptive batching, N + 1 processes
    echo      FastAPI that returns the texts, one process: what HTTP alone costs

A side starts, and 200 of its answers are compared with `gonie tag --output jsonl` (gonie byte for byte, the
others as JSON). It gets some seconds of load to fill the caches, is measured and stopped. The sides take
turns.

Saturation: a closed loop with 16, 64 and 256 connections in a first round, which is not counted. Each side
keeps the number that is best for it, and the medians of the following rounds are printed: answers per second,
CPU time per request of the side and of the generator, and memory of the process tree (RSS, and PSS, which
counts shared pages once). The CPU time says what limits: a side that has C cores answers at most C / CPU time
requests per second. It also holds on a busy machine, where the rates do not.

Open loop: Poisson arrivals at 50, 80 and 120 % of gonie's saturation, for gonie and echo. Latency counts from
the time at which a request was due, not from when it was sent (serving/open_loop.py). `late` is the share of
requests that the generator sent more than 2 ms late. If it is not near 0, other processes disturb the
measurement, or --connections is too small. `answered` counts answers with status 200 per second, from one
second after the first arrival to the last arrival. The generator of the open loop takes several times the CPU
time of wrk, on the same cores. So the throughput at 120 % is compared with the peak that gonie reaches under
this generator (`full`): as many connections as at saturation, and always a request that is due.

The last table has the bars. The exit status is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

from serving.corpus import body_of, expected_lines, is_right, read_sentences
from serving.load import Open, open_loop, saturate, write_requests
from serving.processes import Service, StartError, exit_on_sigterm, free_port, gonie_serve

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("GONIE_DATA", HERE.parents[1] / "shared/data"))
CONNECTIONS = (16, 64, 256)
SHARES = (0.5, 0.8, 1.2)  # of gonie's capacity
FULL = 1.5  # with a limited number of connections: the peak under the generator of the open loop
DEADLINE = 30_000  # ms, the default of `gonie serve`
AT_ONCE = 100  # ms in which a refusal must come

Figures = dict[str, float]


def gonie(bundle: Path, workers: int) -> Service:
    return gonie_serve({"ner": bundle}, workers)


def plain(bundle: Path, workers: int) -> Service:
    return _uvicorn("serving.plain:app", workers + 1, {"GONIE_BUNDLE": str(bundle)})


def litserve(bundle: Path, workers: int) -> Service:
    port = free_port()
    command = [sys.executable, HERE / "serving/lit.py", port, workers]
    return Service(command, port, environment={"GONIE_BUNDLE": str(bundle)})


def bentoml(bundle: Path, workers: int) -> Service:
    port = free_port()
    command = [sys.executable, "-m", "bentoml", "serve", "serving.bento:Tag", "--working-dir", HERE]
    own = {"GONIE_BUNDLE": str(bundle), "WORKERS": str(workers + 1)}
    return Service([*command, "--host", "127.0.0.1", "--port", port], port, environment=own, ready="/readyz")


def echo(bundle: Path, workers: int) -> Service:
    return _uvicorn("serving.echo:app", 1, {})


def _uvicorn(app: str, processes: int, environment: dict[str, str]) -> Service:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", app, "--port", port, "--workers", processes]
    command += ["--loop", "uvloop", "--http", "httptools", "--timeout-keep-alive", 75]
    return Service([*command, "--no-access-log", "--log-level", "warning"], port, environment=environment)


SIDES: dict[str, Callable[[Path, int], Service]] = {
    "gonie": gonie,
    "plain": plain,
    "litserve": litserve,
    "bentoml": bentoml,
    "echo": echo,
}


class Comparison:
    """The sides with one number of workers, on the same sentences."""

    def __init__(self, given: argparse.Namespace, workers: int, texts: list[str], lines: list[bytes]) -> None:
        self._given, self._workers = given, workers
        self._texts, self._lines = texts, lines
        self.failed: dict[str, str] = {}
        self.wrong: dict[str, int] = {}
        self._requests = Path(given.folder) / "requests"
        write_requests(map(body_of, texts), self._requests)

    def saturation(self) -> dict[str, Figures]:
        """Return the medians of all sides that run."""
        found: dict[str, list[Figures]] = {name: [] for name in self._given.sides if name != "echo"}
        best: dict[str, int] = {}
        for number in range(self._given.rounds + 1):
            for name in [name for name in found if name not in self.failed]:
                try:
                    with self._warm(name) as service:
                        counts = [best[name]] if name in best else CONNECTIONS
                        rounds = [self._saturate(service, count) for count in counts]
                except StartError as error:
                    self.failed[name] = str(error)
                    print(f"{name} does not run here: {error}", flush=True)
                    continue
                best[name] = int(max(rounds, key=lambda own: own["rate"])["connections"])
                if number:
                    found[name] += rounds
                shown = ", ".join(f"{own['rate']:,.0f}/s with {own['connections']:.0f}" for own in rounds)
                print(f"round {number}  {name:<10} {shown}", flush=True)
        return {name: medians(rounds) for name, rounds in found.items() if rounds}

    def open(self, capacity: float, connections: int) -> dict[tuple[str, float], Figures]:
        """Return the medians of gonie and echo at each share of the capacity."""
        found: dict[tuple[str, float], list[Figures]] = {}
        for number in range(1, self._given.rounds + 1):
            for name in ("gonie", "echo"):
                with self._warm(name) as service:
                    for share in SHARES if name == "echo" else (FULL, *SHARES):
                        count = connections if share == FULL else self._given.connections
                        own = self._at(service, share * capacity, seed=number, connections=count)
                        found.setdefault((name, share), []).append(own)
                        print(
                            f"round {number}  {name:<10} {own['offered']:,.0f}/s offered, "
                            f"{own['answered']:,.0f}/s answered, p99 {own['p99']:.1f} ms",
                            flush=True,
                        )
        return {key: medians(rounds) for key, rounds in found.items()}

    def _warm(self, name: str) -> Service:
        """Start a side, check its answers, and fill its caches."""
        service = SIDES[name](self._given.bundle, self._workers)
        if name != "echo":
            self.wrong[name] = self.wrong.get(name, 0) + self._wrong(service.port, exactly=name == "gonie")
        saturate(service.port, self._requests, connections=16, seconds=self._given.warm)
        return service

    def _wrong(self, port: int, *, exactly: bool) -> int:
        """Return how many of 200 answers differ from the expected lines."""
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        wrong = 0
        step = max(1, len(self._texts) // 200)
        for text, line in list(zip(self._texts, self._lines, strict=True))[::step]:
            connection.request("POST", "/v1/tag", body_of(text), {"Content-Type": "application/json"})
            body = connection.getresponse().read()
            wrong += not (is_right(body, line) if exactly else document_of(body) == json.loads(line))
        connection.close()
        return wrong

    def _saturate(self, service: Service, connections: int) -> Figures:
        seconds = self._given.seconds
        before = service.cpu()
        found = saturate(service.port, self._requests, connections=connections, seconds=seconds)
        spent = service.cpu() - before
        memory = service.memory()
        return {
            "connections": connections,
            "rate": found.rate,
            "bad": found.refused + found.lost,
            "cpu": 1e3 * spent / max(1.0, found.rate * seconds),
            "generator": 1e3 * found.cpu,
            "cores": spent / seconds,
            "rss": memory.rss / 2**20,
            "pss": memory.pss / 2**20,
            "processes": len(service.tree()),
        }

    def _at(self, service: Service, rate: float, seed: int, connections: int) -> Figures:
        """Return the figures of an open loop."""
        seconds = 2 * self._given.seconds
        before = service.cpu()
        found = open_loop(
            service.port, self._requests, rate=rate, connections=connections, seconds=seconds, seed=seed
        )
        return open_figures(found) | {"cpu": 1e3 * (service.cpu() - before) / len(found.arrivals)}


def document_of(body: bytes) -> object:
    """Return the only document of an answer. BentoML's answer is a list."""
    found = json.loads(body)
    documents = found["documents"] if isinstance(found, dict) else found
    return documents[0] if len(documents) == 1 else documents


def open_figures(found: Open) -> Figures:
    return {
        "offered": found.offered,
        "answered": found.answered,
        "p50": found.latency(50),
        "p99": found.latency(99),
        "p99.9": found.latency(99.9),
        "slowest": found.latency(100),
        "refused": 100 * found.share(429),
        "p99 of 429": found.latency(99, 429),
        "errors": 100 * found.errors,
        "late": 100 * found.late,
        "generator": 1e3 * found.cpu,
    }


def medians(rounds: list[Figures]) -> Figures:
    return {key: median(own[key] for own in rounds) for key in rounds[0]}


@dataclass(frozen=True)
class Bar:
    """What must hold, and the figure that was measured."""

    text: str
    figure: str
    met: bool


def bars(
    workers: int, alone: dict[str, Figures], paced: dict[tuple[str, float], Figures], wrong: dict[str, int]
) -> list[Bar]:
    """Return the bars of one number of workers."""
    peak = alone["gonie"]["rate"]
    found = [Bar("answers equal to `gonie tag`", f"{wrong['gonie']} wrong", not wrong["gonie"])]
    for name in [name for name in alone if name != "gonie"]:
        ratio = peak / alone[name]["rate"]
        needed = 2 if name == "plain" else 1
        figure = f"{ratio:.2f} x (CPU time per request {alone[name]['cpu'] / alone['gonie']['cpu']:.2f} x)"
        found.append(Bar(f"at least {needed} x {name} at saturation", figure, ratio >= needed))
    if paced:
        own, other = paced["gonie", 0.8], paced["echo", 0.8]
        ratio = own["p99"] / other["p99"]
        figure = f"{ratio:.2f} x ({own['p99']:.1f} and {other['p99']:.1f} ms)"
        found.append(Bar("p99 at 80 % at most 3 x echo", figure, ratio <= 3))
        over = paced["gonie", 1.2]
        full = paced["gonie", FULL]["answered"]
        kept = 100 * over["answered"] / full
        figure = f"{kept:.1f} % ({over['answered']:,.0f} and {full:,.0f}/s; wrk: {peak:,.0f}/s)"
        found.append(Bar("at 120 %, answers at least 95 % of the peak", figure, kept >= 95))
        slowest = over["slowest"]
        found.append(Bar("at 120 %, all within the deadline", f"{slowest:,.0f} ms", slowest <= DEADLINE))
        found.append(Bar("at 120 %, no other errors", f"{over['errors']:.2f} %", over["errors"] == 0))
        late = over["p99 of 429"]
        figure = f"{over['refused']:.1f} % refused, p99 {late:.1f} ms"
        met = over["refused"] == 0 or late <= AT_ONCE
        found.append(Bar(f"at 120 %, refusals within {AT_ONCE} ms", figure, met))
    return [Bar(f"N = {workers}: {bar.text}", bar.figure, bar.met) for bar in found]


SATURATION = {
    "rate": ("answers/s", ",.0f"),
    "connections": ("connections", ".0f"),
    "bad": ("failed", ".0f"),
    "processes": ("processes", ".0f"),
    "cores": ("cores", ".2f"),
    "cpu": ("CPU ms", ".3f"),
    "generator": ("wrk CPU ms", ".3f"),
    "rss": ("RSS MB", ",.0f"),
    "pss": ("PSS MB", ",.0f"),
}
OPEN = {
    "offered": ("offered/s", ",.0f"),
    "answered": ("answered/s", ",.0f"),
    "p50": ("p50 ms", ".2f"),
    "p99": ("p99 ms", ".2f"),
    "p99.9": ("p99.9 ms", ".2f"),
    "slowest": ("max ms", ",.0f"),
    "refused": ("429 %", ".1f"),
    "p99 of 429": ("429 p99 ms", ".1f"),
    "errors": ("errors %", ".2f"),
    "late": ("late %", ".2f"),
    "cpu": ("CPU ms", ".3f"),
    "generator": ("wrk CPU ms", ".3f"),
}


def show(title: str, rows: dict[str, Figures], columns: dict[str, tuple[str, str]]) -> None:
    print(f"\n{title:<22}" + "".join(f"{head:>13}" for head, _ in columns.values()))
    for name, own in rows.items():
        print(f"{name:<22}" + "".join(f"{own[key]:>13{form}}" for key, (_, form) in columns.items()))


def describe_machine() -> str:
    """Return the processor, the load, the date and the versions."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    found = [f"{len(names)} x {names[0]}", f"load {os.getloadavg()[0]:.2f}", time.strftime("%Y-%m-%d %H:%M")]
    found.append(f"Python {platform.python_version()}")
    for package in ("gonie", "fastapi", "uvicorn", "uvloop", "httptools", "litserve", "bentoml"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    wrk = subprocess.run(["wrk", "-v"], check=False, capture_output=True, text=True).stdout.split()
    return ", ".join([*found, " ".join(wrk[:2])])


def check_generator(given: argparse.Namespace) -> None:
    """Compare the generator with endpoints whose rate and delay are known."""
    requests = Path(given.folder) / "requests"
    write_requests([body_of("What is this Miramar?")] * 100, requests)
    rows = {}
    for delay, rate in ((0.0, 500), (0.0, 2000), (0.02, 500), (0.02, 1000)):
        with _uvicorn("serving.echo:app", 1, {"ECHO_DELAY": str(delay)}) as service:
            found = open_loop(
                service.port, requests, rate=rate, connections=256, seconds=given.seconds, seed=1
            )
        rows[f"{rate}/s, delay {1e3 * delay:.0f} ms"] = open_figures(found) | {"cpu": 0.0}
    show("generator", rows, OPEN)
    print("\nThe rates must agree within the noise of a Poisson process, and p50 be little above the delay.")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path, nargs="?", help="an English tagger: a run folder or a bundle")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="values of N (default: 1 2)")
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds (default: 5)")
    parser.add_argument(
        "--seconds", type=int, default=10, help="of one closed loop, half of an open loop (default: 10)"
    )
    parser.add_argument("--warm", type=int, default=5, help="seconds of load before a measurement")
    parser.add_argument("--connections", type=int, default=1024, help="of the open loop (default: 1024)")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=[*SIDES], help="default: all")
    parser.add_argument("--check-generator", action="store_true", help="check only the load generator")
    parser.add_argument("--out", type=Path, help="also write the figures to this JSON file")
    given = parser.parse_args()
    if not given.bundle and not given.check_generator:
        parser.error("BUNDLE is required")
    return given


def main() -> None:
    exit_on_sigterm()
    given = parse()
    print(describe_machine(), flush=True)
    with tempfile.TemporaryDirectory() as given.folder:
        if given.check_generator:
            check_generator(given)
            return
        texts = read_sentences(given.data)
        lines = expected_lines(given.bundle, texts)
        found: list[Bar] = []
        figures = {}
        for workers in given.workers:
            print(f"\nN = {workers}", flush=True)
            comparison = Comparison(given, workers, texts, lines)
            alone = comparison.saturation()
            paced = {}
            if {"gonie", "echo"} <= {*given.sides} and "gonie" in alone:
                peak = alone["gonie"]
                paced = comparison.open(peak["rate"], int(peak["connections"]))
            show(f"N = {workers}, saturation", alone, SATURATION)
            rows = {
                f"{name} {'full' if share == FULL else f'at {share:.0%}'}": own
                for (name, share), own in paced.items()
            }
            show(f"N = {workers}, open loop", rows, OPEN)
            for name, why in comparison.failed.items():
                print(f"{name} does not run here: {why.splitlines()[0]}")
            for name, wrong in comparison.wrong.items():
                print(f"{name}: {wrong} wrong answers")
            figures[workers] = {"saturation": alone, "open": rows}
            if "gonie" in alone:
                found += bars(workers, alone, paced, comparison.wrong)
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1))
    print()
    for bar in found:
        print(f"{'yes' if bar.met else 'NO ':<4} {bar.text:<60} {bar.figure}")
    sys.exit(not all(bar.met for bar in found))


if __name__ == "__main__":
    main()
