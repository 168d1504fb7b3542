from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from gonie.serve.keys import add_key
from support.running_service import LETTERS, TEXTS, RunningService, Stopped, wait_for

ORIGIN = "https://page.example"
SECRET = "Zanzibar"
"""A word of texts that must not be logged."""


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Run a service with keys, CORS and small limits."""
    keys = tmp_path_factory.mktemp("keys") / "keys.txt"
    add_key(keys, "other")
    key = add_key(keys, "laptop")
    limits = {"max-bytes": 2000, "max-texts": 3, "max-tokens": 20, "max-queue": 2, "timeout": 20}
    options = [f"--{name}={value}" for name, value in limits.items()]
    options += [f"--keys={keys}", f"--cors={ORIGIN}", "--log=json"]
    with RunningService(LETTERS, TEXTS, *options, headers={"authorization": f"Bearer {key}"}) as running:
        yield running
        assert running.stop() == 0
        events = [json.loads(line)["event"] for line in running.log.splitlines()]
        assert events == ["stopping", "stopped"], "refused requests leave nothing in the log"
        assert SECRET not in running.log
        assert key not in running.log


def refused(answer: httpx.Response, status: int, kind: str, *words: str) -> dict[str, Any]:
    """Check that an answer is this problem, and return it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert (found["type"], found["status"]) == (f"urn:gonie:{kind}", status)
    assert set(found) == {"type", "title", "status", "detail"}
    assert found["title"]
    for word in words:
        assert word in found["detail"]
    if status in (429, 503):
        assert int(answer.headers["retry-after"]) >= 1
    assert answer.headers["x-content-type-options"] == "nosniff"
    return found


# --- errors of the table in docs/reference/service.md

MANY = {"texts": ["a"] * 4, "model": "letters"}
ERRORS: dict[str, tuple[str, Any, int, str]] = {
    "not JSON": ("/v1/tag", b"{", 400, "invalid-json"),
    "empty": ("/v1/tag", b"", 400, "invalid-json"),
    "not UTF-8": ("/v1/tag", b'{"texts": ["\xff"]}', 400, "invalid-json"),
    "a lone surrogate": ("/v1/tag", b'{"texts": ["\\ud800"]}', 400, "invalid-json"),
    "too deep": ("/v1/tag", b'{"texts": ' + b"[" * 900 + b"]" * 900 + b"}", 400, "invalid-json"),
    "no object": ("/v1/tag", b"[1]", 422, "invalid-request"),
    "null": ("/v1/classify", b"null", 422, "invalid-request"),
    "unknown model": ("/v1/tag", {"texts": [], "model": SECRET}, 404, "unknown-model"),
    "another task": ("/v1/tag", {"texts": [], "model": "texts"}, 422, "invalid-request"),
    "several models": ("/v1/tokenise", {"texts": []}, 422, "invalid-request"),
    "no texts": ("/v1/tag", {}, 422, "invalid-request"),
    "texts and tokens": ("/v1/tag", {"texts": [], "tokens": []}, 422, "invalid-request"),
    "texts of a wrong type": ("/v1/tag", {"texts": SECRET}, 422, "invalid-request"),
    "a text of a wrong type": ("/v1/tag", {"texts": [1]}, 422, "invalid-request"),
    "unknown field": ("/v1/tag", {"texts": [], SECRET: 1}, 422, "invalid-request"),
    "an empty token": ("/v1/tag", {"tokens": [["a", ""]]}, 422, "invalid-request"),
    "unknown type": ("/v1/tag", {"texts": ["a"], "bias": {SECRET: 1.0}}, 422, "invalid-request"),
    "infinite bias": ("/v1/tag", b'{"texts": ["a"], "bias": {"PER": 1e999}}', 422, "invalid-request"),
    "a bias of NaN": ("/v1/tag", b'{"texts": ["a"], "bias": {"PER": NaN}}', 422, "invalid-request"),
    "nbest of 0": ("/v1/tag", {"texts": ["a"], "nbest": 0}, 422, "invalid-request"),
    "nbest of 101": ("/v1/tag", {"texts": ["a"], "nbest": 101}, 422, "invalid-request"),
    "nbest as a string": ("/v1/tag", {"texts": ["a"], "nbest": "3"}, 422, "invalid-request"),
    "nbest and bias": ("/v1/tag", {"texts": [], "nbest": 2, "bias": {"PER": 1}}, 422, "invalid-request"),
    "nbest and decode": ("/v1/tag", {"texts": [], "nbest": 2, "decode": "posterior"}, 422, "invalid-request"),
    "unknown decoding": ("/v1/tag", {"texts": [], "decode": "x"}, 422, "invalid-request"),
    "pairs for a text model": ("/v1/classify", {"pairs": [["a", "b"]]}, 422, "invalid-request"),
    "texts and pairs": ("/v1/classify", {"texts": [], "pairs": []}, 422, "invalid-request"),
    "three texts of a pair": ("/v1/classify", {"pairs": [["a", "b", "c"]]}, 422, "invalid-request"),
    "unknown method": ("/v1/explain", {"texts": ["a"], "methods": ["x"]}, 422, "invalid-request"),
    "attention of a tagger": (
        "/v1/explain",
        {"texts": ["a"], "model": "letters", "methods": ["attention"]},
        422,
        "invalid-request",
    ),
    "a label of a tagger": (
        "/v1/explain",
        {"texts": ["a"], "model": "letters", "label": "PER"},
        422,
        "invalid-request",
    ),
    "unknown label": (
        "/v1/explain",
        {"texts": ["a"], "model": "texts", "label": SECRET},
        422,
        "invalid-request",
    ),
    "spans of a classifier": (
        "/v1/explain",
        {"texts": ["a"], "model": "texts", "spans": ["a=PER"]},
        422,
        "invalid-request",
    ),
    "a span that is not there": (
        "/v1/explain",
        {"texts": ["a"], "model": "letters", "spans": [f"{SECRET}=PER"]},
        422,
        "invalid-request",
    ),
    "too many texts": ("/v1/tag", MANY, 422, "too-many-texts"),
    "too many explained texts": ("/v1/explain", MANY, 422, "too-many-texts"),
    "too many texts to tokenise": ("/v1/tokenise", MANY, 422, "too-many-texts"),
    "too many token lists": ("/v1/tag", {"tokens": [["a"]] * 4}, 422, "too-many-texts"),
    "too many tokens": ("/v1/tag", {"texts": ["a " * 21]}, 422, "too-many-tokens"),
    "too many tokens as lists": ("/v1/tag", {"tokens": [["a"] * 21]}, 422, "too-many-tokens"),
    "too many tokens to classify": ("/v1/classify", {"texts": ["a " * 21]}, 422, "too-many-tokens"),
    "too many bytes": ("/v1/tag", {"texts": ["a" * 2000]}, 413, "too-large"),
    "no such route": ("/v1/nothing", {}, 404, "not-found"),
    "a slash after a route": ("/v1/tag/", {"texts": []}, 404, "not-found"),
    "a route of another method": ("/v1/models", {}, 405, "method-not-allowed"),
    "a wrong query": ("/v1/tag?nbest=x", {"texts": []}, 422, "invalid-request"),
    "an unknown field of the query": ("/v1/tag?x=1", {"texts": []}, 422, "invalid-request"),
    "a field twice": ("/v1/tag?nbest=2", {"texts": [], "nbest": 2}, 422, "invalid-request"),
    "texts in the query": ("/v1/tag?texts=a", {}, 422, "invalid-request"),
    "unknown model of a stream": ("/v1/batch?model=x", b'{"text": "a"}', 404, "unknown-model"),
    "no model of a stream": ("/v1/batch", b'{"text": "a"}', 422, "invalid-request"),
    "a wrong query of a stream": ("/v1/batch?model=letters&nbest=0", b'{"text": ""}', 422, "invalid-request"),
    "a row in the query": ("/v1/batch?model=letters&row=3", b'{"text": ""}', 422, "invalid-request"),
    "nbest of a classifier": ("/v1/batch?model=texts&nbest=2", b'{"text": ""}', 422, "invalid-request"),
    "nbest and decode of a stream": (
        "/v1/batch?model=letters&nbest=2&decode=posterior",
        b'{"text": ""}',
        422,
        "invalid-request",
    ),
    "a wrong query of an empty stream": ("/v1/batch?offsets=x", b"", 422, "invalid-request"),
    "unknown model of an empty stream": ("/v1/batch?model=x", b"", 404, "unknown-model"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(strict: RunningService, name: str) -> None:
    """Clients decide by the status and the type what to do."""
    path, body, status, kind = ERRORS[name]
    refused(strict.post(path, body), status, kind)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_speak_of_the_request_not_of_the_command_line(strict: RunningService, name: str) -> None:
    """A caller knows neither the options of the command nor the folders of the server."""
    path, body, *_ = ERRORS[name]
    detail = strict.post(path, body).json()["detail"]
    assert "--" not in detail
    assert "/bundles/" not in detail


def test_error_of_a_field_in_the_query_and_in_the_body(strict: RunningService) -> None:
    path, body, status, kind = ERRORS["a field twice"]
    refused(strict.post(path, body), status, kind, "nbest", "query", "body")


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"content-type": "text/plain"}, 415, "media-type"),
        ({"content-type": "application/x-www-form-urlencoded"}, 415, "media-type"),
        ({"content-encoding": "gzip"}, 415, "media-type"),
        ({"request-timeout-ms": "soon"}, 422, "invalid-request"),
        ({"request-timeout-ms": "0"}, 422, "invalid-request"),
        ({"request-timeout-ms": "-5"}, 422, "invalid-request"),
        ({"request-timeout-ms": "1e3"}, 422, "invalid-request"),
    ],
)
def test_errors_of_headers(strict: RunningService, headers: dict[str, str], status: int, kind: str) -> None:
    refused(strict.tag(headers=headers), status, kind)


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_media_types_of_json(strict: RunningService, kind: str) -> None:
    assert strict.tag(headers={"content-type": kind}).status_code == 200


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/jsonl", "application/json"])
def test_media_types_of_lines(strict: RunningService, kind: str) -> None:
    answer = strict.post("/v1/batch?model=letters", b'{"text": "a"}', headers={"content-type": kind})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    refused(strict.post("/v1/batch", b"", headers={"content-type": "text/plain"}), 415, "media-type")


def test_a_body_beyond_the_limit_without_its_length(strict: RunningService) -> None:
    """A chunked body does not say its length, and may come as one piece."""
    for pieces in (1, 2, 30):
        body = (b'{"texts": ["' + b"a" * (6000 // pieces),) + (b"a" * (6000 // pieces),) * (pieces - 1)
        answer = strict.client.post("/v1/tag", content=iter(body))
        assert "content-length" not in answer.request.headers
        refused(answer, 413, "too-large", "2,000")


def test_limits_allow_what_they_say(strict: RunningService) -> None:
    assert strict.post("/v1/tag", {"texts": ["a"] * 3}).status_code == 200
    assert strict.post("/v1/tag", {"texts": ["a " * 20]}).status_code == 200
    body = b'{"texts": ["a"]}'
    assert strict.post("/v1/tag", body + b" " * (2000 - len(body))).status_code == 200
    assert strict.post("/v1/tag", body + b" " * (2001 - len(body))).status_code == 413
    assert strict.post("/v1/tag", {"texts": ["a" * 1900]}).status_code == 200, "one token, however long"


def test_fields_in_the_query(strict: RunningService) -> None:
    queried = strict.post("/v1/tag?nbest=2&model=letters", {"texts": ["Anna Kim"]})
    asked = strict.post("/v1/tag", {"texts": ["Anna Kim"], "nbest": 2, "model": "letters"})
    assert queried.content == asked.content
    assert strict.post("/v1/tag?offsets=utf16", {"texts": ["😀 Anna Kim"]}).json()["documents"][0]["spans"]


def test_the_only_tagger_needs_no_name(strict: RunningService) -> None:
    assert strict.post("/v1/tag", {"texts": []}).json()["model"] == "letters"
    assert strict.post("/v1/classify", {"texts": []}).json()["model"] == "texts"


def test_no_texts_have_no_documents(strict: RunningService) -> None:
    assert strict.post("/v1/tag", {"texts": []}).json()["documents"] == []
    assert strict.post("/v1/tag", {"tokens": []}).json()["documents"] == []
    assert strict.post("/v1/batch?model=letters", b"").content == b""
    assert strict.post("/v1/batch?model=letters", b"\n \n\n").content == b""


# --- keys


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer wrong",
        "Basic eDp5",
        "laptop",
        "bearer \xff",
    ],
)
def test_requests_without_a_valid_key_are_refused(strict: RunningService, header: str | None) -> None:
    headers = {} if header is None else {"authorization": header.encode("latin-1")}
    with httpx.Client(base_url=str(strict.client.base_url), headers=headers, trust_env=False) as client:
        for path in (
            "/v1/models",
            "/info",
            "/metrics",
            "/nothing",
            "/health",
            "/docs/",
        ):
            answer = client.get(path)
            refused(answer, 401, "key-required", "Bearer")
            assert answer.headers["www-authenticate"] == "Bearer"
        for path in ("/v1/tag", "/v1/classify", "/v1/explain", "/v1/tokenise", "/v1/batch"):
            refused(client.post(path, content=b"{"), 401, "key-required")
        for path in ("/", "/docs", "/openapi.json", "/health/live", "/health/ready"):
            answer = client.get(path)
            assert answer.status_code == 200, "a browser cannot send a key with a link"
            assert "letters" not in answer.text


def test_health_and_page_are_open(strict: RunningService) -> None:
    with httpx.Client(base_url=str(strict.client.base_url), trust_env=False) as client:
        for path in ("/health/live", "/health/ready", "/", "/assets/gonie.css"):
            assert client.get(path).status_code == 200, path


@pytest.mark.parametrize(
    "path", ["/assets/../info", "/health/../info", "/assets/%2e%2e/info", "/health//info"]
)
def test_open_paths_lead_nowhere_else(strict: RunningService, path: str) -> None:
    with strict.connect() as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.split()[1] in (b"401", b"404")


def test_the_scheme_of_a_key_may_have_any_case(strict: RunningService) -> None:
    key = strict.client.headers["authorization"].split()[1]
    assert strict.get("/info", headers={"authorization": f"bEARER   {key}"}).status_code == 200


# --- pages of other origins


def test_pages_of_the_allowed_origin_may_read_answers(strict: RunningService) -> None:
    with httpx.Client(base_url=str(strict.client.base_url), trust_env=False) as client:
        asked = client.options(
            "/v1/tag",
            headers={
                "origin": ORIGIN,
                "access-control-request-method": "POST",
                "access-control-request-headers": "authorization,content-type,request-timeout-ms",
            },
        )
        assert asked.status_code == 200
        assert asked.headers["access-control-allow-origin"] == ORIGIN
        assert "authorization" in asked.headers["access-control-allow-headers"].lower()
    for answer in (strict.tag(headers={"origin": ORIGIN}), strict.get("/info", headers={"origin": ORIGIN})):
        assert answer.headers["access-control-allow-origin"] == ORIGIN
    answer = strict.tag(headers={"origin": "https://other.example"})
    assert answer.headers.get("access-control-allow-origin") != "https://other.example"


def test_pages_of_other_origins_may_not_read_answers_by_default(service: RunningService) -> None:
    for answer in (service.tag(headers={"origin": ORIGIN}), service.get("/info", headers={"origin": ORIGIN})):
        assert answer.status_code == 200
        assert not any(name.startswith("access-control") for name in answer.headers)
    refused(service.client.options("/v1/tag", headers={"origin": ORIGIN}), 405, "method-not-allowed")


# --- the queue


def test_full_queue(strict: RunningService) -> None:
    """An explanation is with the stopped worker, two requests wait, and the next is refused at once."""
    with ThreadPoolExecutor(8) as threads:
        with Stopped(*strict.workers):
            first = threads.submit(strict.post, "/v1/explain", {"texts": ["Anna"], "model": "letters"})
            wait_for(lambda: strict.info["running"] == 1)
            others = [threads.submit(strict.tag) for _ in range(2)]
            wait_for(lambda: strict.info["waiting"] == 2)
            refused(strict.tag(), 429, "queue-full", "2")
            assert strict.get("/health/ready").status_code == 200
        assert [each.result().status_code for each in (first, *others)] == [200] * 3
    assert strict.info["waiting"] == strict.info["running"] == 0
    assert strict.tag().status_code == 200


def test_a_stream_waits_for_room_in_a_full_queue(strict: RunningService) -> None:
    lines = b"".join(b'{"text": "%s", "n": %d}\n' % (b"Anna " * 300, number) for number in range(60))
    with ThreadPoolExecutor(8) as threads:
        with Stopped(*strict.workers):
            stream = threads.submit(strict.post, "/v1/batch?model=letters", lines)
            wait_for(lambda: strict.info["waiting"] == 2)
            refused(strict.tag(), 429, "queue-full")
        answer = stream.result()
    assert [json.loads(line)["n"] for line in answer.text.splitlines()] == list(range(60))


def test_deadline_of_a_request(strict: RunningService) -> None:
    """Both the request that a worker has and the one that waits are answered in time."""
    with Stopped(*strict.workers):
        with ThreadPoolExecutor(2) as threads:
            for route in ("/v1/explain", "/v1/tag"):
                begin = time.monotonic()
                soon = {"request-timeout-ms": "150"}
                answer = threads.submit(strict.post, route, {"texts": ["Anna"]}, headers=soon).result()
                refused(answer, 504, "deadline", "150")
                assert time.monotonic() - begin >= 0.15
        info = strict.info
        assert (info["waiting"], info["running"]) == (0, 1), "the second has left the queue"
    wait_for(lambda: strict.info["running"] == 0)


def test_a_deadline_beyond_that_of_the_service_is_allowed(strict: RunningService) -> None:
    assert strict.tag(headers={"request-timeout-ms": "999999999"}).status_code == 200


def test_refused_requests_are_counted(strict: RunningService) -> None:
    before = strict.metric("gonie_requests_total", route="tag", status="413")
    refused(strict.post(*ERRORS["too many bytes"][:2]), 413, "too-large")
    assert strict.metric("gonie_requests_total", route="tag", status="413") == before + 1


def test_refused_streams_are_counted(strict: RunningService) -> None:
    before = strict.metric("gonie_requests_total", route="batch", status="415")
    strict.post("/v1/batch", b"", headers={"content-type": "text/plain"})
    assert strict.metric("gonie_requests_total", route="batch", status="415") == before + 1


# --- streams of lines


def test_a_stream_is_answered_while_it_is_sent(strict: RunningService) -> None:
    """The client sends a line only after it got the answer to the line before."""
    key = strict.client.headers["authorization"]
    with strict.connect() as connection:
        connection.sendall(
            b"POST /v1/batch?model=letters HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n"
            b"authorization: " + key.encode() + b"\r\n\r\n"
        )
        received = b""
        for number in range(3):
            line = b'{"text": "Anna", "n": %d}\n' % number
            connection.sendall(b"%x\r\n%b\r\n" % (len(line), line))
            while b'"n": %d' % number not in received or not received.endswith(b"\r\n"):
                received += connection.recv(4096)
        connection.sendall(b"0\r\n\r\n")
        while not received.endswith(b"0\r\n\r\n"):
            received += connection.recv(4096)


def test_a_long_line_of_a_stream_that_has_begun(strict: RunningService) -> None:
    def lines() -> Iterator[bytes]:
        yield b'{"text": "Anna"}\n'
        time.sleep(0.3)
        yield b'{"text": "' + b"a" * 70_000
        yield b'"}\n{"text": "Anna"}\n'

    answer = strict.client.post("/v1/batch?model=letters", content=lines())
    first, error, last = (json.loads(line) for line in answer.text.splitlines())
    assert (first["text"], error["row"], last["text"]) == ("Anna", 2, "Anna")


def test_clients_that_leave_a_stream(strict: RunningService) -> None:
    def never_ends() -> Iterator[bytes]:
        for _ in range(50):
            yield b'{"text": "Anna"}\n' * 50
        raise InterruptedError

    for path in ("/v1/batch?model=letters", "/v1/batch?model=none"):
        for _ in range(5):
            with pytest.raises(InterruptedError), strict.new_client() as client:
                client.post(path, content=never_ends())
    wait_for(lambda: strict.info["running"] + strict.info["waiting"] == 0)
    assert strict.tag().status_code == 200


# --- the address


def test_other_machines_cannot_connect_by_default(service: RunningService) -> None:
    """Only 127.0.0.1 is bound, none of the other addresses of this machine."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    local = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert [address for address in local if address.endswith(f":{service.port:04X}")] == [
        f"0100007F:{service.port:04X}"
    ]


def test_no_thread_or_file_is_left_by_requests(service: RunningService) -> None:
    """Open files of the service do not grow with requests."""

    def count() -> int:
        return len(list(Path(f"/proc/{service.process.pid}/fd").iterdir()))

    service.client.close()
    service._client = None
    assert service.tag().status_code == 200
    before = count()

    def ask() -> None:
        with service.new_client() as client:
            for _ in range(5):
                client.get("/info")
                client.post("/v1/tag", content=b"{")

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(b"POST /v1/batch HTTP/1.1\r\n")
    wait_for(lambda: count() <= before, told=f"{before} open files")
