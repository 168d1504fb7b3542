"""Tests the traces of the service with a collector that reads OTLP over HTTP."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support.service_process import GONIE, ServiceProcess, free_port, running_service

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra telemetry is not installed")

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TEXTS = {"texts": ["Anna Kim lives in Seoul ."]}
SERVER = 2
"""The number of the kind of a span that answers a request (SPAN_KIND_SERVER)."""


class Collector(ThreadingHTTPServer):
    """Accepts traces, and keeps their spans and the attributes of their resource."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Collect)
        self.spans: list[Any] = []
        self.resource: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Collect(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path == "/v1/traces":
            for each in ExportTraceServiceRequest.FromString(body).resource_spans:
                for pair in each.resource.attributes:
                    self.server.resource[pair.key] = pair.value.string_value
                for scope in each.scope_spans:
                    self.server.spans.extend(scope.spans)
        self.send_response(200 if self.path == "/v1/traces" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with Collector() as found:
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def asked(collector: Collector, toy_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Collector:
    """Send requests with and without a trace, and stop the service, which sends all spans."""
    port, folder = free_port(), tmp_path_factory.mktemp("telemetry")
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    command = [*GONIE, "serve", f"ner={toy_run}", "--port", str(port), "--telemetry"]
    with running_service(command, folder, port=port, environment=settings) as service:
        ask_all(service)
        assert service.stop() == 0
        assert "Traceback" not in service.log()
    return collector


def ask_all(service: ServiceProcess) -> None:
    state = f"00-{TRACE}-{PARENT}-01"
    assert service.ask("/v1/tag", TEXTS, traceparent=state, tracestate="vendor=7").status == 200
    assert service.ask("/v1/tag", TEXTS).status == 200
    assert service.ask("/v1/tag", TEXTS, traceparent="not a trace").status == 200
    assert service.ask("/v1/tag", {"texts": 3}, traceparent=state).status == 422
    assert service.ask("/v1/batch", {"text": "Anna lives in Oslo ."}, traceparent=state).status == 200
    assert service.ask("/v1/tokenise", TEXTS, traceparent=f"00-{TRACE}-{PARENT}-00").status == 200
    assert service.ask("/health/live").status == 200


def attributes(span: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in span.attributes}


def test_each_request_has_one_span(asked: Collector) -> None:
    """Health checks have none, nor have requests of a trace that its caller does not sample."""
    found = [(span.name, attributes(span)["http.response.status_code"]) for span in asked.spans]
    assert sorted(found) == [
        ("POST /v1/batch", 200),
        ("POST /v1/tag", 200),
        ("POST /v1/tag", 200),
        ("POST /v1/tag", 200),
        ("POST /v1/tag", 422),
    ]
    assert asked.resource["service.name"] == "gonie"


def test_spans_are_children_of_the_callers_span(asked: Collector) -> None:
    ours = [span for span in asked.spans if span.trace_id.hex() == TRACE]
    others = [span for span in asked.spans if span.trace_id.hex() != TRACE]
    assert [span.parent_span_id.hex() for span in ours] == [PARENT] * 3
    assert [span.parent_span_id for span in others] == [b""] * 2
    assert len({span.trace_id for span in others}) == 2
    assert [span.trace_state for span in asked.spans].count("vendor=7") == 1


def test_spans_have_times_and_attributes_but_no_texts(asked: Collector) -> None:
    for span in asked.spans:
        assert span.kind == SERVER
        assert 0 < span.end_time_unix_nano - span.start_time_unix_nano < 60e9
        known = attributes(span)
        assert known["http.request.method"] == "POST"
        assert known["http.route"] == span.name.partition(" ")[2]
        assert "Anna" not in str(span)


def test_a_collector_that_is_gone_costs_no_request(toy_run: Path, tmp_path: Path) -> None:
    port = free_port()
    settings = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
    }
    command = [*GONIE, "serve", f"ner={toy_run}", "--port", str(port), "--telemetry"]
    with running_service(command, tmp_path, port=port, environment=settings) as service:
        assert service.ask("/v1/tag", TEXTS).status == 200
        assert service.stop() == 0
