"""Sends 10,000 hostile requests to a `gonie serve`, while a good client must always be answered rightly.

    python benchmarks/serve_hostile.py BUNDLE [--data DATA] [--requests 10000] [--seed 1]
    python benchmarks/serve_hostile.py BUNDLE --requests 500     # a trial
    python benchmarks/serve_hostile.py BUNDLE --only deep-json traversal

KINDS below lists what is sent: bad JSON, wrong types and values, wrong encodings and media types, oversized
bodies and headers, broken framing, request smuggling, path traversal and plain garbage. The requests are the
same for the same seed. Each has a connection of its own, and 16 are on their way at a time.

Every answer must be well-formed HTTP with a status below 500, or 503 or 504, and come within 20 s. Broken HTTP may also
be answered by closing the connection. Most kinds list the statuses that docs/reference/service.md gives for
them. Smuggled requests must not be answered. Meanwhile another process, the canary, sends a good request
every 50 ms over one connection, opened again if it is closed, and compares the answer byte for byte.

The table has the statuses by kind (`closed`: no answer) and the slowest answer. The exit status is 1 if a bar is
missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import multiprocessing
import os
import random
import socket
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from serving.client import Answer, NotHttpError, RefusedError, connect, read_answer
from serving.corpus import body_of, expected_lines, is_right, read_sentences
from serving.processes import gonie_serve

DATA = Path(os.environ.get("GONIE_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
LIMIT = 20.0  # seconds for an answer
AT_ONCE = 16
MEGABYTE = 1 << 20
STALL = 2_000.0  # ms, for the canary
TAG = "/v1/tag"
JSON = "application/json"
GARBAGE = frozenset({0, 400, 404, 405, 408, 413, 414, 415, 422, 431, 501, 505})  # 0: closed without an answer
INVALID = frozenset({400, 422})

Random = random.Random


class Kind(NamedTuple):
    """A kind of request. ``make`` returns its bytes; ``statuses`` are the allowed ones (0: closed)."""

    make: Callable[[Random], bytes]
    statuses: frozenset[int] | set[int]
    heavy: bool = False  # only a few of these, one at a time
    answers: int = 1  # at most that many answers may come back


def post(body: bytes, *headers: str, path: str = TAG, media: str | None = JSON, length: bool = True) -> bytes:
    """Return a request."""
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
    lines += [f"Content-Type: {media}"] if media else []
    lines += [f"Content-Length: {len(body)}"] if length else []
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def chunked(body: bytes, *headers: str, size: int = 1 << 16) -> bytes:
    """Return a request with a chunked body."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return post(chunks + b"0\r\n\r\n", "Transfer-Encoding: chunked", *headers, length=False)


def raw(*lines: str, body: bytes = b"") -> bytes:
    """Return lines as they are, an empty line and a body."""
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def request(**fields: Any) -> bytes:
    """Return a tag request with other fields than usual."""
    return post(json.dumps({"texts": ["Angela Merkel met Samsung."]} | fields).encode())


def literal(text: str) -> bytes:
    """Return a tag request with a JSON literal as ``nbest``."""
    return post(f'{{"texts": ["a"], "nbest": {text}}}'.encode())


GOOD = json.dumps({"texts": ["Angela Merkel met Samsung."]}).encode()
BIG = b'{"texts": ["' + b"a " * (25 * MEGABYTE) + b'"]}'  # 50 MB
SECOND = b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
ESCAPES = ("..", "%2e%2e", "..%2f", "%2e%2e%2f", "....//", "..\\", "%5c..", "%c0%ae%c0%ae", "..;")
ROOTS = ("/assets/", "/", "/docs/", "/v1/", "/assets/../assets/", "//", "/assets//")
WRONG_TYPES: tuple[Any, ...] = (None, 1, 1.5, True, "text", {}, [[]], [1], [None], [{}], [["a"]], [True])
BAD_NUMBERS = ("-1", "0", "1.5", "NaN", "Infinity", "-Infinity", "1e400", "1e308", "9" * 10_000, "null", "true", '"3"', "[]")
BAD_FIELDS: tuple[dict[str, Any], ...] = (
    {"unknown": 1},
    {"decode": "greedy"},
    {"decode": 1},
    {"offsets": "bytes"},
    {"bias": {"PER": "a"}},
    {"bias": {"NONE": 1}},
    {"bias": [1]},
    {"model": 1},
    {"model": ""},
    {"model": "../../etc/passwd"},
    {"model": "x" * 100_000},
    {"tokens": [["a"]]},
    {"texts": None, "tokens": [[1]]},
    {"texts": None, "tokens": "a"},
    {"__class__": "x", "constructor": {}},
)
METHODS = ("GET", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "OPTIONS", "HEAD", "BREW", "post", "P", "X" * 5000)
MEDIA = (None, "text/plain", "text/html", "application/xml", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "image/png", "garbage", "application/json; charset=utf-16", ";;;", "a" * 5000)
TIMEOUTS = ("abc", "-1", "0", "1e9", "NaN", "9" * 5000, "", "1.5", "0x10", "1 2", "\x80", "1")
SMUGGLED = (
    post(b"0\r\n\r\n" + SECOND, "Transfer-Encoding: chunked"),
    post(b"0\r\n\r\n" + SECOND, "Transfer-Encoding: xchunked"),
    post(b"0\r\n\r\n" + SECOND, "Transfer-Encoding : chunked"),
    post(b"0\r\n\r\n" + SECOND, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
    post(b"0\r\n\r\n" + SECOND, "Transfer-Encoding:\x0bchunked"),
    post(b"0\r\n\r\n" + SECOND, "X: y\r\n Transfer-Encoding: chunked"),
    post(b"0\r\n\r\n" + SECOND, "Transfer-Encoding: identity, chunked, identity"),
    post(GOOD + SECOND, f"Content-Length: {len(GOOD)}"),
    post(GOOD + SECOND, "Content-Length: 0"),
    post(GOOD + SECOND, f"Content-Length: {len(GOOD)}, {len(GOOD)}", length=False),
    post(GOOD + SECOND, f"Content-Length: +{len(GOOD)}", length=False),
    post(GOOD + SECOND, f"Content-Length: 0x{len(GOOD):x}", length=False),
    post(GOOD + SECOND, f"Content-Length: -{len(GOOD)}", length=False),
    post(GOOD + SECOND, "Content-Length: " + "9" * 400, length=False),
    post(b"1;a=\"\n\r\nx\r\n0\r\n\r\n" + SECOND, "Transfer-Encoding: chunked", length=False),
    post(b"fffffffffffffffffff\r\nx\r\n0\r\n\r\n" + SECOND, "Transfer-Encoding: chunked", length=False),
    post(b"-1\r\nx\r\n0\r\n\r\n" + SECOND, "Transfer-Encoding: chunked", length=False),
    post(b"zz\r\nx\r\n0\r\n\r\n" + SECOND, "Transfer-Encoding: chunked", length=False),
    post(b"1\r\nxx\r\n0\r\n\r\n" + SECOND, "Transfer-Encoding: chunked", length=False),
)


def damaged(chance: Random) -> bytes:
    """Return a good request with some bytes changed, removed or doubled."""
    found = bytearray(post(GOOD))
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(found))
        found[at : at + chance.randint(0, 2)] = chance.randbytes(chance.randint(0, 2))
    return bytes(found)


def damaged_json(chance: Random) -> bytes:
    """Return a framed request whose JSON is changed at random."""
    found = bytearray(GOOD)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(found))
        found[at : at + chance.randint(0, 2)] = chance.choice([b'"', b"[", b"{", b",", b"\\", b"\\u", b"\xff", b"\0", b"1e", b"-"])
    return post(bytes(found))


def traversal(chance: Random) -> bytes:
    """Return a request for a file outside of the page."""
    climb = "/".join([chance.choice(ESCAPES)] * chance.randint(1, 12))
    goal = chance.choice(["etc/passwd", "etc/passwd%00.js", "%00", "proc/self/environ", "bundle.json", "pyproject.toml"])
    return raw(f"GET {chance.choice(ROOTS)}{climb}/{goal} HTTP/1.1", "Host: 127.0.0.1")


def path(chance: Random) -> bytes:
    """Return a request for an odd path."""
    found = chance.choice(
        ["%00", "/%00", "/v1/tag%00", "/v1//tag", "/v1/tag/", "/" + "a" * 9000, "/%", "/%zz", "/?" + "a=b&" * 2000,
         "/v1/batch?model=%00", "/v1/batch?nbest=-1&model=ner", "*", "http://evil.example/v1/tag", "/\xff", "/v1/models/x", "/metrics/.."]
    )  # fmt: skip
    return raw(f"{chance.choice(['GET', 'POST'])} {found} HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 0")


def batch(chance: Random) -> bytes:
    """Return NDJSON with broken lines."""
    lines = [b'{"text": "a"}', b"{", b"", b"\xff\xfe", b"[" * 10_000, b"null", b'{"text": 1}', b'{"text": "\\ud800"}', b"1e400", b'{"text": "a", "text": "b"}']
    body = b"\n".join(chance.choice(lines) for _ in range(chance.randint(0, 20)))
    return post(body, path="/v1/batch?model=ner", media="application/x-ndjson")


KINDS: dict[str, Kind] = {
    "deep-json": Kind(lambda r: post(r.choice([b"[", b'{"a":', b'{"texts": ' + b"["]) * 100_000), INVALID),
    "deep-closed": Kind(lambda r: post(b'{"texts": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"), INVALID),
    "damaged-json": Kind(damaged_json, {200, 400, 422}),
    "not-object": Kind(lambda r: post(r.choice([b"", b"1", b"null", b"[]", b'"a"', b"{}", b" ", b"nul", b"{}{}", b'{"texts": ["a"]} x'])), INVALID),
    "surrogates": Kind(lambda r: post(b'{"texts": ["' + r.choice([b"\\ud800", b"\\udc00 a", b"a\\ud83d", b"\xed\xa0\x80", b"\xed\xb0\x80 b", b"\\udc00\\ud800"]) + b'"]}'), {200, 400, 422}),
    "nul": Kind(lambda r: post(b'{"texts": ["a' + r.choice([b"\0", b"\\u0000", b"\\u0000" * 1000, b"\x1f", b"\x7f"]) + b'b"]}'), {200, 400, 422}),
    "unicode": Kind(lambda r: post(json.dumps({"texts": ["".join(chr(r.choice([*range(1, 0xD7FF), *range(0xE000, 0x10FFFF)])) for _ in range(200))]}).encode()), {200, 422}),
    "marks": Kind(lambda r: post(json.dumps({"texts": [r.choice(["e" + "\u0301" * 5000, "\u202e" * 500, "\ufeff" * 500, "\u200b" * 500, "👩‍👩‍👧‍👦" * 500, "\ufdfa" * 500])]}).encode()), {200, 422}),
    "encodings": Kind(lambda r: post(r.choice([b"\xef\xbb\xbf" + GOOD, GOOD.decode().encode("utf-16"), GOOD.decode().encode("utf-16-le"), GOOD.decode().encode("utf-32"), '{"texts": ["é"]}'.encode("latin-1"), b'{"texts": ["\xc0\xaf"]}', b'{"texts": ["\xf8\x88\x80\x80\x80"]}'])), {200, 400, 422}),
    "nbest": Kind(lambda r: literal(r.choice(BAD_NUMBERS)), {200, 400, 422}),
    "huge-nbest": Kind(lambda r: request(nbest=r.choice([10**4, 10**6, 10**9, 2**31, 2**63, 2**64, 10**30])), {200, 422}),
    "bias": Kind(lambda r: request(bias={"PER": r.choice([1e300, -1e300, 1e38, 3.5e38, 1e-320])}), {200, 422}),
    "bias-literal": Kind(lambda r: post(b'{"texts": ["a"], "bias": {"PER": ' + r.choice([b"NaN", b"Infinity", b"1e400", b"-1e400", b"9" * 10_000]) + b"}}"), {200, 400, 422}),
    "fields": Kind(lambda r: request(**r.choice(BAD_FIELDS)), {404, 422}),
    "types": Kind(lambda r: request(texts=r.choice(WRONG_TYPES)), {422}),
    "duplicate-keys": Kind(lambda r: post(b'{"texts": ["a"], "texts": 1, "texts": ["b"]}'), {200, 400, 422}),
    "no-texts": Kind(lambda r: request(texts=[]), {200, 422}),
    "empty-texts": Kind(lambda r: request(texts=["", " ", "\n", "\t\r\n"]), {200, 422}),
    "many-texts": Kind(lambda r: request(texts=["a"] * 10_000), {200, 413, 422, 429}, heavy=True),
    "long-text": Kind(lambda r: request(texts=["Seoul is big. " * (MEGABYTE // 14)]), {200, 413, 422, 429, 504}, heavy=True),
    "long-sentence": Kind(lambda r: request(texts=["Seoul " * (MEGABYTE // 6)]), {200, 413, 422, 429, 504}, heavy=True),
    "long-word": Kind(lambda r: request(texts=["a" * MEGABYTE]), {200, 413, 422, 429, 504}, heavy=True),
    "long-tokens": Kind(lambda r: request(texts=None, tokens=[["a" * MEGABYTE], ["b"] * 100_000]), {200, 413, 422, 429, 504}, heavy=True),
    "explain": Kind(lambda r: post(json.dumps({"texts": ["a " * r.choice([1, 50, 5000])], "methods": r.choice([["x"], [], None, 1, ["erasure"] * 100]), "spans": r.choice([["=", "a=PER"], "x", [1], ["a=" + "b" * 10_000]])}).encode(), path="/v1/explain"), {200, 422, 429, 504}),
    "tokenise": Kind(lambda r: post(json.dumps({"texts": r.choice(WRONG_TYPES)}).encode(), path="/v1/tokenise"), {422}),
    "classify": Kind(lambda r: post(json.dumps({"texts": r.choice(WRONG_TYPES), "pairs": r.choice(WRONG_TYPES)}).encode(), path="/v1/classify"), {404, 422}),
    "batch": Kind(batch, {200, 400, 413, 415, 422}),
    "big-body": Kind(lambda r: post(BIG), {0, 413}, heavy=True),
    "big-no-length": Kind(lambda r: post(BIG, length=False), GARBAGE, heavy=True),
    "big-chunked": Kind(lambda r: chunked(BIG), {0, 413}, heavy=True),
    "tiny-chunks": Kind(lambda r: chunked(GOOD * 2000, size=1), {0, 400, 413}, heavy=True),
    "one-byte-chunks": Kind(lambda r: chunked(GOOD, size=1), {200}),
    "gzip-bomb": Kind(lambda r: post(gzip.compress(bytes(50 * MEGABYTE)), "Content-Encoding: gzip"), {400, 413, 415}, heavy=True),
    "gzip": Kind(lambda r: post(gzip.compress(GOOD), "Content-Encoding: gzip"), {200, 400, 415}),
    "big-batch-line": Kind(lambda r: post(BIG, path="/v1/batch?model=ner", media="application/x-ndjson"), {0, 200, 413}, heavy=True),
    "expect": Kind(lambda r: post(GOOD, "Expect: " + r.choice(["100-continue", "x", "200-ok"])), {200, 400, 417}, answers=2),
    "media": Kind(lambda r: post(GOOD, media=r.choice(MEDIA)), {200, 400, 415, 422, 431}),
    "many-headers": Kind(lambda r: post(GOOD, *(f"X-{n}: {n}" for n in range(1000))), {0, 200, 400, 431}),
    "big-header": Kind(lambda r: post(GOOD, "X: " + "a" * MEGABYTE), {0, 400, 431}),
    "bad-headers": Kind(lambda r: post(GOOD, r.choice(["X Y: 1", ": 1", "X", "X\x00: 1", "X: \x00", "X: a\x01b", "\x80: 1", "X: a\rb", "(x): 1", "X: " + "\x80" * 100])), GARBAGE | {200}),
    "host": Kind(lambda r: raw(f"POST {TAG} HTTP/1.1", *r.choice([[], ["Host: a", "Host: b"], ["Host: evil.example"], ["Host: a b"], ["Host:"]]), f"Content-Type: {JSON}", f"Content-Length: {len(GOOD)}", body=GOOD), GARBAGE | {200, 421}),
    "methods": Kind(lambda r: raw(f"{r.choice(METHODS)} {TAG} HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 0"), GARBAGE | {200, 204}),
    "versions": Kind(lambda r: r.choice([b"GET /\r\n\r\n", b"GET / HTTP/0.9\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1 x\r\n\r\n", b"GET  /  HTTP/1.1\r\n\r\n", b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"]), GARBAGE | {200}),
    "garbage": Kind(lambda r: r.randbytes(r.choice([1, 10, 100, 10_000, 100_000])) + b"\r\n\r\n", GARBAGE),
    "tls": Kind(lambda r: bytes.fromhex("16030100c8010000c40303") + r.randbytes(189), GARBAGE),
    "damaged": Kind(damaged, GARBAGE | {200}, answers=2),
    "smuggling": Kind(lambda r: r.choice(SMUGGLED), GARBAGE | {200}),
    "truncated": Kind(lambda r: (lambda whole: whole[: r.randrange(1, len(whole))])(post(GOOD)), GARBAGE),
    "pipelined": Kind(lambda r: post(GOOD) * 50, {200, 429}, answers=50),
    "upgrade": Kind(lambda r: raw("GET / HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: " + r.choice(["websocket", "h2c", "x"]), "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"), GARBAGE | {200, 403, 426}),
    "traversal": Kind(traversal, {0, 400, 404, 414}),
    "paths": Kind(path, GARBAGE | {200, 307, 308}),
    "timeouts": Kind(lambda r: post(GOOD, "Request-Timeout-Ms: " + r.choice(TIMEOUTS)), {200, 400, 422, 429, 504}),
    "good": Kind(lambda r: post(GOOD), {200, 429}),
}  # fmt: skip


@dataclass
class Result:
    """What came back for the requests of one kind."""

    statuses: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)  # against the bars
    surprises: Counter[str] = field(default_factory=Counter)  # statuses that the contract does not give
    examples: dict[str, str] = field(default_factory=dict)


async def attack(port: int, kind: Kind, data: bytes) -> list[Answer]:
    """Send bytes, end the sending, and return all answers until the connection is closed."""
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
        while True:
            if not rest and not (rest := await receive()):
                return answers
            answers.append(await read_answer(receive, rest))
            rest = answers[-1].rest
            if len(answers) > kind.answers:
                return answers
    finally:
        sender.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sender
        sock.close()


async def _send(sock: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        await asyncio.get_running_loop().sock_sendall(sock, data)
        sock.shutdown(socket.SHUT_WR)


def judge(kind: Kind, answers: list[Answer]) -> str | None:
    """Return what is wrong with the answers, or None."""
    if len(answers) > kind.answers:
        return f"{len(answers)} answers to one request"
    for answer in answers:
        if answer.status >= 500 and answer.status not in (501, 503, 504, 505):
            return f"status {answer.status}: {answer.body[:200]!r}"
        if answer.headers.get("content-type", "").startswith("application/problem+json"):
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
    plan = heavy * several + [light[each % len(light)] for each in range(given.requests - several * len(heavy)) if light]
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
                    result.examples[shown] = f"sent {data[:200]!r}, got {answers[-1].body[:150] if answers else b''!r}"

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
    parser.add_argument("--only", nargs="+", choices=KINDS, default=[*KINDS], metavar="KIND", help="default: all")
    return parser.parse_args()


def main() -> None:
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
    worst = max(times, default=float("nan"))
    total = sum(result.statuses.total() for result in found.values())
    print(f"\n{total:,} requests in {took:.0f} s; RSS {before / 2**20:,.0f} MB before and {after / 2**20:,.0f} MB after\n")
    bars = [
        ("every answer is well-formed, below 500 and in time", f"{failed} not", failed == 0),
        ("every status is in the contract", f"{odd} not", odd == 0),
        ("the canary is always answered rightly", f"{len(failures)} of {len(times):,} not", not failures and bool(times)),
        (f"the canary never waits {STALL / 1e3:.0f} s", f"slowest {worst:,.0f} ms, median {sorted(times)[len(times) // 2] if times else 0:.1f} ms", worst < STALL),
        ("the service runs to the end", "yes" if alive else "no", alive),
    ]  # fmt: skip
    for text, figure, met in bars:
        print(f"{'yes' if met else 'NO ':<4} {text:<60} {figure}")
    sys.exit(not all(met for *_, met in bars))


if __name__ == "__main__":
    main()
