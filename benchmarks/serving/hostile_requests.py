"""The hostile requests of serve_hostile.py, by kind."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

MEGABYTE = 1 << 20
MILLION = 1_000_000  # characters: less than the megabyte that a request may have
TAG = "/v1/tag"
JSON = "application/json"
GARBAGE = frozenset({0, 400, 404, 405, 408, 413, 414, 415, 422, 431, 501, 505})  # 0: closed without an answer
INVALID = frozenset({400, 422})


class Kind(NamedTuple):
    """A kind of request. ``make`` returns its bytes; ``statuses`` are the allowed ones (0: closed)."""

    make: Callable[[Random], bytes]
    statuses: frozenset[int] | set[int]
    heavy: bool = False  # only a few of these, one at a time
    answers: int = 1  # at most that many answers may come back
    broken: bool = False  # the framing is broken: the service may wait for more, or read a second request


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


def any_text(chance: Random) -> str:
    """Return 200 characters from all of Unicode."""
    codes = (chance.randrange(1, 0x110000 - 0x800) for _ in range(200))
    return "".join(chr(code if code < 0xD800 else code + 0x800) for code in codes)


GOOD = json.dumps({"texts": ["Angela Merkel met Samsung."]}).encode()
BIG = b'{"texts": ["' + b"a " * (25 * MEGABYTE) + b'"]}'  # 50 MB
BOMB = gzip.compress(bytes(50 * MEGABYTE), mtime=0)
SECOND = b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
ESCAPES = ("..", "%2e%2e", "..%2f", "%2e%2e%2f", "....//", "..\\", "%5c..", "%c0%ae%c0%ae", "..;")
ROOTS = ("/assets/", "/", "/docs/", "/v1/", "/assets/../assets/", "//", "/assets//")
WRONG_TYPES: tuple[Any, ...] = (None, 1, 1.5, True, "text", {}, [[]], [1], [None], [{}], [["a"]], [True])
BAD_NUMBERS = (
    "-1",
    "0",
    "1.5",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e400",
    "1e308",
    "9" * 10_000,
    "null",
    "true",
    '"3"',
    "[]",
)
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
METHODS = (
    "GET",
    "PUT",
    "DELETE",
    "PATCH",
    "TRACE",
    "CONNECT",
    "OPTIONS",
    "HEAD",
    "BREW",
    "post",
    "P",
    "X" * 5000,
)
MEDIA = (
    None,
    "text/plain",
    "text/html",
    "application/xml",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "image/png",
    "garbage",
    "application/json; charset=utf-16",
    ";;;",
    "a" * 5000,
)
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
    post(b'1;a="\n\r\nx\r\n0\r\n\r\n' + SECOND, "Transfer-Encoding: chunked", length=False),
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
        found[at : at + chance.randint(0, 2)] = chance.choice(
            [b'"', b"[", b"{", b",", b"\\", b"\\u", b"\xff", b"\0", b"1e", b"-"]
        )
    return post(bytes(found))


def traversal(chance: Random) -> bytes:
    """Return a request for a file outside of the page."""
    climb = "/".join([chance.choice(ESCAPES)] * chance.randint(1, 12))
    goal = chance.choice(
        ["etc/passwd", "etc/passwd%00.js", "%00", "proc/self/environ", "bundle.json", "pyproject.toml"]
    )
    return raw(f"GET {chance.choice(ROOTS)}{climb}/{goal} HTTP/1.1", "Host: 127.0.0.1")


def path(chance: Random) -> bytes:
    """Return a request for an odd path."""
    found = chance.choice(
        [
            "%00",
            "/%00",
            "/v1/tag%00",
            "/v1//tag",
            "/v1/tag/",
            "/" + "a" * 9000,
            "/%",
            "/%zz",
            "/?" + "a=b&" * 2000,
            "/v1/batch?model=%00",
            "/v1/batch?nbest=-1&model=ner",
            "*",
            "http://evil.example/v1/tag",
            "/\xff",
            "/v1/models/x",
            "/metrics/..",
        ]
    )
    return raw(f"{chance.choice(['GET', 'POST'])} {found} HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 0")


def batch(chance: Random) -> bytes:
    """Return NDJSON with broken lines."""
    lines = [
        b'{"text": "a"}',
        b"{",
        b"",
        b"\xff\xfe",
        b"[" * 10_000,
        b"null",
        b'{"text": 1}',
        b'{"text": "\\ud800"}',
        b"1e400",
        b'{"text": "a", "text": "b"}',
    ]
    body = b"\n".join(chance.choice(lines) for _ in range(chance.randint(0, 20)))
    return post(body, path="/v1/batch?model=ner", media="application/x-ndjson")


KINDS: dict[str, Kind] = {
    "deep-json": Kind(
        lambda r: post(r.choice([b"[", b'{"a":', b'{"texts": ' + b"["]) * 100_000), {400, 413, 422}
    ),
    "deep-closed": Kind(lambda r: post(b'{"texts": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"), INVALID),
    "damaged-json": Kind(damaged_json, {200, 400, 422}),
    "not-object": Kind(
        lambda r: post(
            r.choice([b"", b"1", b"null", b"[]", b'"a"', b"{}", b" ", b"nul", b"{}{}", b'{"texts": ["a"]} x'])
        ),
        INVALID,
    ),
    "surrogates": Kind(
        lambda r: post(
            b'{"texts": ["'
            + r.choice(
                [b"\\ud800", b"\\udc00 a", b"a\\ud83d", b"\xed\xa0\x80", b"\xed\xb0\x80 b", b"\\udc00\\ud800"]
            )
            + b'"]}'
        ),
        {200, 400, 422},
    ),
    "nul": Kind(
        lambda r: post(
            b'{"texts": ["a' + r.choice([b"\0", b"\\u0000", b"\\u0000" * 1000, b"\x1f", b"\x7f"]) + b'b"]}'
        ),
        {200, 400, 422},
    ),
    "unicode": Kind(lambda r: post(json.dumps({"texts": [any_text(r)]}).encode()), {200, 422}),
    "marks": Kind(
        lambda r: post(
            json.dumps(
                {
                    "texts": [
                        r.choice(
                            [
                                "e" + "\u0301" * 5000,
                                "\u202e" * 500,
                                "\ufeff" * 500,
                                "\u200b" * 500,
                                "👩‍👩‍👧‍👦" * 500,
                                "\ufdfa" * 500,
                            ]
                        )
                    ]
                }
            ).encode()
        ),
        {200, 422},
    ),
    "encodings": Kind(
        lambda r: post(
            r.choice(
                [
                    b"\xef\xbb\xbf" + GOOD,
                    GOOD.decode().encode("utf-16"),
                    GOOD.decode().encode("utf-16-le"),
                    GOOD.decode().encode("utf-32"),
                    '{"texts": ["é"]}'.encode("latin-1"),
                    b'{"texts": ["\xc0\xaf"]}',
                    b'{"texts": ["\xf8\x88\x80\x80\x80"]}',
                ]
            )
        ),
        {200, 400, 422},
    ),
    "nbest": Kind(lambda r: literal(r.choice(BAD_NUMBERS)), {200, 400, 422}),
    "huge-nbest": Kind(
        lambda r: request(nbest=r.choice([10**4, 10**6, 10**9, 2**31, 2**63, 2**64, 10**30])), {200, 422}
    ),
    "bias": Kind(
        lambda r: request(bias={"PER": r.choice([1e300, -1e300, 1e38, 3.5e38, 1e-320])}), {200, 422}
    ),
    "bias-literal": Kind(
        lambda r: post(
            b'{"texts": ["a"], "bias": {"PER": '
            + r.choice([b"NaN", b"Infinity", b"1e400", b"-1e400", b"9" * 10_000])
            + b"}}"
        ),
        {200, 400, 422},
    ),
    "fields": Kind(lambda r: request(**r.choice(BAD_FIELDS)), {404, 422}),
    "types": Kind(lambda r: request(texts=r.choice(WRONG_TYPES)), {422}),
    "duplicate-keys": Kind(lambda r: post(b'{"texts": ["a"], "texts": 1, "texts": ["b"]}'), {200, 400, 422}),
    "no-texts": Kind(lambda r: request(texts=[]), {200, 422}),
    "empty-texts": Kind(lambda r: request(texts=["", " ", "\n", "\t\r\n"]), {200, 422}),
    "many-texts": Kind(lambda r: request(texts=["a"] * 10_000), {200, 413, 422, 429}, heavy=True),
    "long-text": Kind(
        lambda r: request(texts=["Seoul is big. " * (MILLION // 14)]), {200, 413, 422, 429, 504}, heavy=True
    ),
    "long-sentence": Kind(
        lambda r: request(texts=["Seoul " * (MILLION // 6)]), {200, 413, 422, 429, 504}, heavy=True
    ),
    "long-word": Kind(lambda r: request(texts=["a" * MILLION]), {200, 413, 422, 429, 504}, heavy=True),
    "long-tokens": Kind(
        lambda r: request(texts=None, tokens=[["a" * 500_000], ["b"] * 49_000]),
        {200, 413, 422, 429, 504},
        heavy=True,
    ),
    "explain": Kind(
        lambda r: post(
            json.dumps(
                {
                    "texts": ["a " * r.choice([1, 50, 5000])],
                    "methods": r.choice([["x"], [], None, 1, ["erasure"] * 100]),
                    "spans": r.choice([["=", "a=PER"], "x", [1], ["a=" + "b" * 10_000]]),
                }
            ).encode(),
            path="/v1/explain",
        ),
        {200, 422, 429, 504},
    ),
    "tokenise": Kind(
        lambda r: post(json.dumps({"texts": r.choice(WRONG_TYPES)}).encode(), path="/v1/tokenise"), {422}
    ),
    "classify": Kind(
        lambda r: post(
            json.dumps({"texts": r.choice(WRONG_TYPES), "pairs": r.choice(WRONG_TYPES)}).encode(),
            path="/v1/classify",
        ),
        {404, 422},
    ),
    "batch": Kind(batch, {200, 400, 413, 415, 422}),
    "big-body": Kind(lambda r: post(BIG), {0, 413}, heavy=True),
    "big-no-length": Kind(lambda r: post(BIG, length=False), GARBAGE, heavy=True, broken=True),
    "big-chunked": Kind(lambda r: chunked(BIG), {0, 413}, heavy=True),
    "tiny-chunks": Kind(lambda r: chunked(GOOD * 2000, size=1), {0, 400, 413}, heavy=True, broken=True),
    "one-byte-chunks": Kind(lambda r: chunked(GOOD, size=1), {200}),
    "gzip-bomb": Kind(lambda r: post(BOMB, "Content-Encoding: gzip"), {400, 413, 415}, heavy=True),
    "gzip": Kind(lambda r: post(gzip.compress(GOOD, mtime=0), "Content-Encoding: gzip"), {200, 400, 415}),
    "big-batch-line": Kind(
        lambda r: post(BIG, path="/v1/batch?model=ner", media="application/x-ndjson"),
        {0, 200, 413},
        heavy=True,
    ),
    "expect": Kind(
        lambda r: post(GOOD, "Expect: " + r.choice(["100-continue", "x", "200-ok"])), {200, 400, 417}
    ),
    "media": Kind(lambda r: post(GOOD, media=r.choice(MEDIA)), {200, 400, 415, 422, 431}),
    "many-headers": Kind(
        lambda r: post(GOOD, *(f"X-{n}: {n}" for n in range(1000))), {0, 200, 400, 431}, broken=True
    ),
    "big-header": Kind(lambda r: post(GOOD, "X: " + "a" * MEGABYTE), {0, 400, 431}, broken=True),
    "bad-headers": Kind(
        lambda r: post(
            GOOD,
            r.choice(
                [
                    "X Y: 1",
                    ": 1",
                    "X",
                    "X\x00: 1",
                    "X: \x00",
                    "X: a\x01b",
                    "\x80: 1",
                    "X: a\rb",
                    "(x): 1",
                    "X: " + "\x80" * 100,
                ]
            ),
        ),
        GARBAGE | {200},
        broken=True,
    ),
    "host": Kind(
        lambda r: raw(
            f"POST {TAG} HTTP/1.1",
            *r.choice([[], ["Host: a", "Host: b"], ["Host: evil.example"], ["Host: a b"], ["Host:"]]),
            f"Content-Type: {JSON}",
            f"Content-Length: {len(GOOD)}",
            body=GOOD,
        ),
        GARBAGE | {200, 421},
        broken=True,
    ),
    "methods": Kind(
        lambda r: raw(f"{r.choice(METHODS)} {TAG} HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 0"),
        GARBAGE | {200, 204},
        broken=True,
    ),
    "versions": Kind(
        lambda r: r.choice(
            [
                b"GET /\r\n\r\n",
                b"GET / HTTP/0.9\r\n\r\n",
                b"GET / HTTP/9.9\r\n\r\n",
                b"GET / HTTP/1.0\r\n\r\n",
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                b"GET / HTTP/1.1 x\r\n\r\n",
                b"GET  /  HTTP/1.1\r\n\r\n",
                b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            ]
        ),
        GARBAGE | {200},
        broken=True,
    ),
    "garbage": Kind(
        lambda r: r.randbytes(r.choice([1, 10, 100, 10_000, 100_000])) + b"\r\n\r\n", GARBAGE, broken=True
    ),
    "tls": Kind(lambda r: bytes.fromhex("16030100c8010000c40303") + r.randbytes(189), GARBAGE, broken=True),
    "damaged": Kind(damaged, GARBAGE | {200}, answers=2, broken=True),
    "smuggling": Kind(lambda r: r.choice(SMUGGLED), GARBAGE | {200}, broken=True),
    "truncated": Kind(lambda r: post(GOOD)[: r.randrange(1, len(post(GOOD)))], GARBAGE, broken=True),
    "pipelined": Kind(lambda r: post(GOOD) * 50, {200, 429}, answers=50),
    "upgrade": Kind(
        lambda r: raw(
            "GET / HTTP/1.1",
            "Host: a",
            "Connection: Upgrade",
            "Upgrade: " + r.choice(["websocket", "h2c", "x"]),
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        ),
        GARBAGE | {200, 403, 426},
        broken=True,
    ),
    "traversal": Kind(traversal, {0, 400, 404, 414}, broken=True),
    "paths": Kind(path, GARBAGE | {200, 307, 308}, broken=True),
    "timeouts": Kind(
        lambda r: post(GOOD, "Request-Timeout-Ms: " + r.choice(TIMEOUTS)), {200, 400, 422, 429, 504}
    ),
    "good": Kind(lambda r: post(GOOD), {200, 429}),
}
