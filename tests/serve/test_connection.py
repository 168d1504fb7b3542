from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.running_service import LETTERS, RunningService, Stopped, wait_for

SECONDS = 1.0
"""The limit of slow requests, slow readers and idle connections, for clients that do nothing more."""
PATIENT = 4.0
"""The limit for clients that go on, which may take a while on a busy machine."""
LIMITS = {
    "connections": 40,
    "headers": 20,
    "header_bytes": 4096,
    "limits": {"bytes": 200_000, "tokens": 100_000},
}
SCRIPT = Path(__file__).parent.parent / "support" / "serve_with_limits.py"
BODY = json.dumps({"texts": ["Anna Kim lives in Seoul ."]}).encode()
HEAD = b"POST /v1/tag HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
REQUEST = HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY


@contextmanager
def service_with_limits(seconds: float) -> Iterator[RunningService]:
    """Run a service that closes connections after this time, and check what it has logged."""
    limits = {**LIMITS, **dict.fromkeys(("request_seconds", "read_seconds", "idle_seconds"), seconds)}
    with RunningService(json.dumps(limits), LETTERS, module=[str(SCRIPT)]) as running:
        yield running
        log = [json.loads(line) for line in running.log.splitlines()]
        assert not log, "clients, however bad, leave nothing in the log"
        assert running.stop() == 0
        assert all(json.loads(line)["event"] in ("stopping", "stopped") for line in running.log.splitlines())


@pytest.fixture(scope="module")
def limited_service() -> Iterator[RunningService]:
    with service_with_limits(SECONDS) as running:
        yield running


@pytest.fixture(scope="module")
def patient_service() -> Iterator[RunningService]:
    with service_with_limits(PATIENT) as running:
        yield running


@pytest.fixture
def limited(limited_service: RunningService) -> Iterator[RunningService]:
    """Return a service that closes slow connections soon."""
    yield limited_service
    check_alive(limited_service)


@pytest.fixture
def patient(patient_service: RunningService) -> Iterator[RunningService]:
    """Return a service that gives connections more time."""
    yield patient_service
    check_alive(patient_service)


def check_alive(service: RunningService) -> None:
    """Check that the service answers and has lost all connections of a test."""
    service.client.close()
    service._client = None
    wait_for(lambda: service.metric("gonie_open_connections") <= 1, told="connections are closed")
    assert service.tag().status_code == 200


def read_all(connection: socket.socket) -> bytes:
    """Return everything until the service closes the connection."""
    found = b""
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    return found


def read_answer(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Return the status, the headers and the body of one answer."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = connection.recv(1)
        assert piece, f"the connection was closed: {head!r}"
        head += piece
    status, *fields = head.decode().rstrip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}
    size, body = int(headers.get("content-length", 0)), b""
    while len(body) < size:
        piece = connection.recv(size - len(body))
        assert piece, "the connection was closed"
        body += piece
    return int(status.split()[1]), headers, body


def problem_of(answer: bytes) -> dict[str, object]:
    """Return the problem in an answer, and check that it is the only one and the connection ends."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head
    found: dict[str, object] = json.loads(body)
    assert head.startswith(b"HTTP/1.1 %d " % found["status"])
    return found


# --- slow clients


def test_a_header_that_arrives_byte_by_byte_is_refused(limited: RunningService) -> None:
    with limited.connect() as connection:
        begin = time.monotonic()
        for byte in HEAD:
            try:
                connection.send(bytes([byte]))
            except (BrokenPipeError, ConnectionResetError):
                break
            if time.monotonic() - begin > 5 * SECONDS:
                break
            time.sleep(0.05)
        assert problem_of(read_all(connection))["type"] == "urn:gonie:slow-request"


def test_a_body_that_does_not_arrive_is_refused(limited: RunningService) -> None:
    with limited.connect() as connection:
        connection.sendall(REQUEST[:-10])
        found = problem_of(read_all(connection))
        assert (found["status"], found["type"]) == (408, "urn:gonie:slow-request")


def test_a_body_that_trickles_in_is_refused(limited: RunningService) -> None:
    """The limit counts from the first byte, or one byte per second would hold a connection for hours."""
    with limited.connect() as connection:
        connection.sendall(HEAD + b"content-length: 100000\r\n\r\n")
        begin = time.monotonic()
        try:
            while time.monotonic() - begin < 5 * SECONDS:
                connection.send(b" ")
                time.sleep(0.05)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert b"408" in read_all(connection)[:20]


def test_a_connection_without_a_request_is_closed(limited: RunningService) -> None:
    with limited.connect() as connection:
        assert read_all(connection) == b""


def test_an_idle_connection_is_closed(limited: RunningService) -> None:
    with limited.connect() as connection:
        connection.sendall(REQUEST)
        assert read_answer(connection)[0] == 200
        assert read_all(connection) == b""


def test_a_line_end_after_a_request_does_not_keep_the_connection_forever(patient: RunningService) -> None:
    """Old clients send a line end after a body; the parser skips it, and no request begins."""
    with patient.connect() as connection:
        connection.sendall(REQUEST)
        assert read_answer(connection)[0] == 200
        connection.sendall(b"\r\n")
        assert read_all(connection) == b""


def test_a_slow_second_request_is_refused(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(REQUEST)
        assert read_answer(connection)[0] == 200
        connection.sendall(HEAD)
        assert problem_of(read_all(connection))["type"] == "urn:gonie:slow-request"


def test_a_stream_may_take_longer_than_a_request(patient: RunningService) -> None:
    """A stream has the time between two pieces."""
    with patient.connect() as connection:
        connection.sendall(
            b"POST /v1/batch HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        line = b'{"text": "Anna"}\n'
        for _ in range(10):
            connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))
            time.sleep(PATIENT / 8)
        connection.sendall(b"0\r\n\r\n")
        assert read_all(connection).count(b'"tokens"') == 10


def test_a_stream_that_stops_is_closed(limited: RunningService) -> None:
    with limited.connect() as connection:
        connection.sendall(b"POST /v1/batch HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        line = b'{"text": "Anna"}\n'
        connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))
        answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 200")
        assert not answer.endswith(b"0\r\n\r\n"), "a cut answer must not look complete"


def large_request(texts: int) -> bytes:
    body = json.dumps({"texts": ["Anna " * 20] * texts, "nbest": 20}).encode()
    return HEAD + b"content-length: %d\r\n\r\n" % len(body) + body


def test_a_client_that_never_reads_is_cut(limited: RunningService) -> None:
    before = limited.metric("gonie_connections_cut_total", reason="slow reader")
    with limited.connect(buffer=4096) as connection:
        connection.sendall(large_request(300))
        wait_for(
            lambda: limited.metric("gonie_connections_cut_total", reason="slow reader") > before,
            told="the connection is cut",
        )


def test_a_client_that_reads_slowly_gets_the_whole_answer(patient: RunningService) -> None:
    """The limit is for a client that reads nothing. A slow network must not lose a large answer."""
    with patient.connect(buffer=4096) as connection:
        connection.sendall(large_request(300))
        status, size, read = 0, 0, 0
        head = connection.recv(4096)
        status = int(head.split()[1])
        size = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        read = len(head.partition(b"\r\n\r\n")[2])
        begin = time.monotonic()
        while read < size:
            piece = connection.recv(1 << 15)
            assert piece, f"cut after {read} of {size} bytes and {time.monotonic() - begin:.1f} seconds"
            read += len(piece)
            if time.monotonic() - begin < 1.5 * PATIENT:
                time.sleep(0.02)
        assert time.monotonic() - begin > PATIENT
        assert (status, read) == (200, size)


# --- large and invalid headers


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(b"".join(b"x-%d: 1\r\n" % number for number in range(30)), id="many"),
        pytest.param(b"x: " + b"a" * 5000 + b"\r\n", id="long"),
        pytest.param(b"x: " + b"a" * (1 << 20) + b"\r\n", id="a megabyte"),
    ],
)
def test_too_large_headers_are_refused(patient: RunningService, fields: bytes) -> None:
    with patient.connect() as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(b"GET /health/live HTTP/1.1\r\nhost: a\r\n" + fields + b"\r\n")
        answer = read_all(connection)
        if answer or len(fields) < 10_000:  # unread input resets a connection, with its answer
            assert problem_of(answer)["type"] == "urn:gonie:headers-too-large"


def test_endless_headers_are_refused(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert flood(connection, (b"x-a: " + b"a" * 1000 + b"\r\n") * 20) < 20_000_000


def test_endless_trailers_are_refused(patient: RunningService) -> None:
    """Trailers of a chunked body are headers too, and must not fill the memory."""
    with patient.connect() as connection:
        connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n")
        assert flood(connection, (b"x: " + b"a" * 1000 + b"\r\n") * 20) < 20_000_000


def test_one_endless_trailer_is_refused(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nx: ")
        assert flood(connection, b"a" * 20_000) < 20_000_000


def test_endless_line_ends_are_refused(patient: RunningService) -> None:
    """The parser skips them before a request."""
    with patient.connect() as connection:
        assert flood(connection, b"\r\n" * 10_000) < 20_000_000


def flood(connection: socket.socket, data: bytes) -> int:
    """Send data until the service closes the connection. Return the number of bytes."""
    sent = 0
    with suppress(BrokenPipeError, ConnectionResetError):
        while sent < 20_000_000:
            connection.sendall(data)
            sent += len(data)
    return sent


def test_a_long_address_is_refused(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(b"GET /" + b"a" * 5000)
        assert problem_of(read_all(connection))["status"] == 431


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x00\xff\xfe garbage \r\n\r\n", id="binary"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2"),
        pytest.param(b"FOO / HTTP/1.1\r\nhost: a\r\n\r\n", id="method"),
        pytest.param(b"GET / HTTP/9.9\r\nhost: a\r\n\r\n", id="version"),
        pytest.param(b"GET /\x01 HTTP/1.1\r\nhost: a\r\n\r\n", id="path"),
        pytest.param(HEAD + b"content-length: -1\r\n\r\n", id="negative length"),
        pytest.param(HEAD + b"content-length: x\r\n\r\n", id="length"),
        pytest.param(HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab", id="two lengths"),
        pytest.param(
            HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", id="smuggling"
        ),
        pytest.param(HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n", id="chunk size"),
        pytest.param(b"GET //[ HTTP/1.1\r\nhost: a\r\n\r\n", id="address"),
        pytest.param(b"GET http://[::1 HTTP/1.1\r\nhost: a\r\n\r\n", id="host"),
        pytest.param(b"CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n", id="connect"),
        pytest.param(b"OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n", id="asterisk"),
    ],
)
def test_what_is_not_a_request_is_refused(patient: RunningService, data: bytes) -> None:
    with patient.connect() as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = read_all(connection)
        assert not answer or answer.split()[1][:1] == b"4", answer[:200]


def test_garbage_is_answered_as_a_problem(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(b"garbage\r\n\r\n")
        assert problem_of(read_all(connection))["status"] == 400


# --- valid but rare HTTP


def test_requests_on_one_connection(patient: RunningService) -> None:
    with patient.connect() as connection:
        for _ in range(3):
            connection.sendall(REQUEST)
            status, headers, body = read_answer(connection)
            assert (status, "connection" in headers) == (200, False)
            assert json.loads(body)["model"] == "letters"


def test_pipelined_requests_are_answered_in_order(patient: RunningService) -> None:
    with patient.connect() as connection:
        texts = [f"Anna {number}" for number in range(20)]
        bodies = [json.dumps({"texts": [text]}).encode() for text in texts]
        connection.sendall(
            b"".join(HEAD + b"content-length: %d\r\n\r\n" % len(body) + body for body in bodies)
        )
        answers = [json.loads(read_answer(connection)[2]) for _ in texts]
        assert [answer["documents"][0]["text"] for answer in answers] == texts


def test_a_large_body_does_not_count_as_header_of_the_next_request(patient: RunningService) -> None:
    body = json.dumps({"texts": ["Anna " * 5000]}).encode()
    with patient.connect() as connection:
        first = HEAD + b"content-length: %d\r\n\r\n" % len(body) + body
        connection.sendall(first + REQUEST[:20])
        time.sleep(0.1)
        connection.sendall(REQUEST[20:])
        assert [read_answer(connection)[0] for _ in range(2)] == [200, 200]


def test_connection_close(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(REQUEST.replace(b"host: test\r\n", b"host: test\r\nconnection: close\r\n"))
        assert b"connection: close" in read_all(connection)


def test_http_1_0(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(REQUEST.replace(b"HTTP/1.1", b"HTTP/1.0"))
        answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"documents" in answer


def test_head_has_no_body(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(b"HEAD /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        answer = read_all(connection)
        assert answer.partition(b"\r\n\r\n")[2] == b""


def test_expect_100_continue(patient: RunningService) -> None:
    """curl waits for this answer before it sends a large body."""
    with patient.connect() as connection:
        head, body = REQUEST.split(b"\r\n\r\n")
        connection.sendall(head + b"\r\nexpect: 100-continue\r\n\r\n")
        assert read_answer(connection)[0] == 100
        connection.sendall(body)
        assert read_answer(connection)[0] == 200


def test_a_too_large_body_is_refused_before_it_is_sent(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(HEAD + b"expect: 100-continue\r\ncontent-length: 1000000\r\n\r\n")
        assert read_answer(connection)[0] == 413


def test_a_request_that_offers_http_2_is_answered_with_its_body(patient: RunningService) -> None:
    """Java's client and `curl --http2` offer an upgrade with their first request."""
    with patient.connect() as connection:
        offer = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAo\r\n"
        head, body = REQUEST.split(b"\r\n\r\n")
        connection.sendall(head + b"\r\n" + offer + b"\r\n" + body)
        status, _, answer = read_answer(connection)
        assert status == 200, answer
        assert json.loads(answer)["documents"][0]["text"] == "Anna Kim lives in Seoul ."


def test_websockets_are_refused(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(
            b"GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade, close\r\nupgrade: websocket\r\n"
            b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
        )
        assert b"101" not in read_all(connection)[:20]


def test_body_in_chunks(patient: RunningService) -> None:
    with patient.connect() as connection:
        connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        for byte in BODY:
            connection.sendall(b"1\r\n%c\r\n" % byte)
        connection.sendall(b"0\r\n\r\n")
        assert read_answer(connection)[0] == 200


# --- clients that leave


def test_a_client_that_leaves_frees_its_place_in_the_queue(patient: RunningService) -> None:
    info = patient.info
    before = patient.metric("gonie_clients_gone_total")
    with Stopped(*info["workers"]):
        first = patient.connect()  # goes to the worker, and nothing is sent behind it
        first.sendall(REQUEST.replace(b"/v1/tag", b"/v1/explain"))
        wait_for(lambda: patient.info["running"] == 1)
        second = patient.connect()
        second.sendall(REQUEST)
        wait_for(lambda: patient.info["waiting"] == 1)
        second.close()
        wait_for(lambda: patient.info["waiting"] == 0)
        first.close()
        wait_for(lambda: patient.metric("gonie_clients_gone_total") == before + 2)
    wait_for(lambda: patient.info["running"] == 0)


def test_clients_that_leave_at_any_time(patient: RunningService) -> None:
    stream = (
        b"POST /v1/batch HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n11\r\n"
        + b'{"text": "Anna"}\n\r\n'
    )
    wrong = stream.replace(b"/v1/batch", b"/v1/batch?nbest=x")
    for request in (REQUEST, stream, wrong):
        for size in range(0, len(request) + 1, 9):
            with patient.connect() as connection:
                connection.sendall(request[:size])


def test_connections_beyond_the_limit_are_refused(patient: RunningService) -> None:
    patient.client.close()
    patient._client = None
    wait_for(lambda: patient.metric("gonie_open_connections") <= 1)
    opened = [patient.connect() for _ in range(LIMITS["connections"] + 5)]  # type: ignore[operator]
    try:
        answers = [read_all(each) for each in opened]
    finally:
        for each in opened:
            each.close()
    refused = [answer for answer in answers if answer]
    assert len(refused) >= 5
    for answer in refused:
        assert problem_of(answer)["status"] == 429
        assert b"retry-after: 1" in answer
