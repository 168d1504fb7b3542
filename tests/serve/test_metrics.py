from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from gonie.serve.metrics import ServiceMetrics
from support.running_service import RunningService


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return the values of all samples by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counts_and_times() -> None:
    metrics = ServiceMetrics()
    metrics.answered("tag", 200, 0.003)
    metrics.answered("tag", 200, 0.004)
    metrics.answered("tag", 422, 0.001)
    metrics.queued(0.1)
    metrics.batch(2, 30, {"tokenise": 0.1, "run": 0.2, "decode": 0.3})
    metrics.read("ner", 2, 30)
    metrics.refused("queue-full")
    metrics.gone()
    metrics.cut("idle")
    metrics.worker_ended()
    metrics.swapped("failed")
    metrics.watch({"queue_requests": ("Requests in the queue.", lambda: 7)})
    found = samples(metrics.text().decode())
    assert found["gonie_requests_total", (("route", "tag"), ("status", "200"))] == 2
    assert found["gonie_requests_total", (("route", "tag"), ("status", "422"))] == 1
    assert found["gonie_request_seconds_count", (("route", "tag"),)] == 3
    assert found["gonie_queue_seconds_count", ()] == 1
    assert found["gonie_run_seconds_sum", ()] == 0.2
    assert found["gonie_batch_requests_sum", ()] == 2
    assert found["gonie_tokens_total", (("model", "ner"),)] == 30
    assert found["gonie_refused_total", (("reason", "queue-full"),)] == 1
    assert found["gonie_clients_gone_total", ()] == 1
    assert found["gonie_connections_cut_total", (("reason", "idle"),)] == 1
    assert found["gonie_worker_failures_total", ()] == 1
    assert found["gonie_swaps_total", (("result", "failed"),)] == 1
    assert found["gonie_queue_requests", ()] == 7


def test_two_services_in_one_process() -> None:
    first, second = ServiceMetrics(), ServiceMetrics()
    first.gone()
    assert samples(second.text().decode())["gonie_clients_gone_total", ()] == 0


def test_metrics_of_a_running_service(service: RunningService) -> None:
    before = samples(service.get("/metrics").text)
    service.post("/v1/tag", {"texts": ["Anna lives .", "Bert"], "model": "letters"})
    service.post("/v1/tag", {"texts": 1})
    answer = service.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    after = samples(answer.text)

    def grown(name: str, **labels: str) -> float:
        key = name, tuple(sorted(labels.items()))
        return after[key] - before.get(key, 0)

    assert grown("gonie_requests_total", route="tag", status="200") == 1
    assert grown("gonie_requests_total", route="tag", status="422") == 1
    assert grown("gonie_texts_total", model="letters") == 2
    assert grown("gonie_tokens_total", model="letters") == 4
    assert after["gonie_workers", ()] == 1
    assert after["process_resident_memory_bytes", ()] > 0
