"""The metrics of the service for Prometheus. One process sees every request, so they need not be added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
TOKENS = (16, 64, 256, 1024, 4096, 16384, 65536)


class ServiceMetrics:
    """Counts requests, and measures where their time goes.

    A registry of its own keeps two services in one process apart.
    """

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        self._requests = Counter(
            "gonie_requests_total", "Requests by route and status.", ["route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "gonie_request_seconds",
            "From the header of a request to its answer.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._steps = {
            step: Histogram(f"gonie_{step}_seconds", text, buckets=SECONDS, registry=registry)
            for step, text in {
                "queue": "Time of a request in the queue.",
                "tokenise": "Time of a batch in the tokenizer.",
                "run": "Time of a batch in the network.",
                "decode": "Time of a batch for checks, features, decoding and JSON.",
            }.items()
        }
        self._batch_requests = Histogram(
            "gonie_batch_requests", "Requests answered together.", buckets=SIZES, registry=registry
        )
        self._batch_tokens = Histogram(
            "gonie_batch_tokens", "Tokens answered together.", buckets=TOKENS, registry=registry
        )
        self._texts = Counter("gonie_texts_total", "Answered texts.", ["model"], registry=registry)
        self._tokens = Counter("gonie_tokens_total", "Answered tokens.", ["model"], registry=registry)
        self._refused = Counter(
            "gonie_refused_total", "Requests refused, by reason.", ["reason"], registry=registry
        )
        self._gone = Counter(
            "gonie_clients_gone_total", "Requests whose client left before the answer.", registry=registry
        )
        self._cut = Counter(
            "gonie_connections_cut_total", "Connections closed by a limit.", ["reason"], registry=registry
        )
        self._ended = Counter("gonie_worker_failures_total", "Workers that ended.", registry=registry)
        self._swaps = Counter("gonie_swaps_total", "Swaps of bundles.", ["result"], registry=registry)
        self._children: dict[tuple[str, str], tuple[Counter, Histogram]] = {}

    def watch(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        """Add gauges that are read when the metrics are: a description and a function for each name."""
        for name, (text, read) in gauges.items():
            Gauge(f"gonie_{name}", text, registry=self._registry).set_function(read)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        key = (route, str(status))
        known = self._children.get(key)
        if known is None:
            known = self._children[key] = self._requests.labels(*key), self._seconds.labels(route)
        known[0].inc()
        known[1].observe(seconds)

    def queued(self, seconds: float) -> None:
        """Measure the wait of a request for a worker."""
        self._steps["queue"].observe(seconds)

    def batch(self, requests: int, tokens: int, seconds: Mapping[str, float]) -> None:
        """Measure a batch."""
        self._batch_requests.observe(requests)
        self._batch_tokens.observe(tokens)
        for step, value in seconds.items():
            self._steps[step].observe(value)

    def read(self, model: str, texts: int, tokens: int) -> None:
        """Count what a model has read."""
        self._texts.labels(model).inc(texts)
        self._tokens.labels(model).inc(tokens)

    def refused(self, reason: str) -> None:
        """Count a refusal."""
        self._refused.labels(reason).inc()

    def gone(self) -> None:
        """Count a client that left."""
        self._gone.inc()

    def cut(self, reason: str) -> None:
        """Count a connection that was closed by a limit."""
        self._cut.labels(reason).inc()

    def worker_ended(self) -> None:
        """Count a worker that ended unexpectedly."""
        self._ended.inc()

    def swapped(self, result: str) -> None:
        """Count a swap of bundles, ``done`` or ``failed``."""
        self._swaps.labels(result).inc()

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
