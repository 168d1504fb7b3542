"""Traces of requests for OpenTelemetry, if the extra ``telemetry`` is installed and asked for.

Where spans go is set by the environment variables of OpenTelemetry, such as OTEL_EXPORTER_OTLP_ENDPOINT.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import time_ns

from gonie.errors import MissingExtraError


class Tracer:
    """Writes one span for each answered request, as a child of the caller's trace if there is one."""

    def __init__(self) -> None:
        try:
            from opentelemetry import trace
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                error.name or "opentelemetry", extra="telemetry", purpose="--telemetry"
            ) from error
        self._provider = TracerProvider(resource=Resource.create({"service.name": "gonie"}))
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("gonie.serve")
        self._propagator = TraceContextTextMapPropagator()
        self._kind = trace.SpanKind.SERVER

    def __call__(self, route: str, headers: Mapping[bytes, bytes], status: int, seconds: float) -> None:
        """Write the span of a request that has just been answered."""
        carrier = {
            name: headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in headers
        }
        end = time_ns()
        span = self._tracer.start_span(
            f"POST /v1/{route}",
            context=self._propagator.extract(carrier),
            kind=self._kind,
            start_time=end - int(seconds * 1e9),
            attributes={"http.request.method": "POST", "http.route": f"/v1/{route}"},
        )
        span.set_attribute("http.response.status_code", status)
        span.end(end_time=end)

    def close(self) -> None:
        """Send what is buffered."""
        self._provider.shutdown()
