"""The life of the service: its start, its end, swaps of bundles, and workers that fail."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from gonie.serve.keys import add_key
from support.running_service import FEATURES, LETTERS, TEXTS, RunningService, Stopped, ended, wait_for
from support.service_process import free_port

POISONED = {"PYTHONPATH": str(Path(__file__).parent.parent / "support" / "poisoned_worker")}
TEXT = "Anna Kim lives in Seoul ."


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(32) as pool:
        yield pool


def status_of(answer: Future[httpx.Response]) -> int:
    return answer.result().status_code


def answers(running: RunningService, path: str) -> bool:
    """Return whether the service answers already."""
    with suppress(httpx.TransportError):
        return running.get(path).status_code == 200
    return False


def refuses_connections(running: RunningService) -> bool:
    """Return whether the service listens no more. Until then, a connection may be accepted or cut."""
    try:
        with running.new_client() as client:
            client.get("/health/live")
    except httpx.ConnectError:
        return True
    except httpx.TransportError:
        return False
    return False


def loading_worker(running: RunningService) -> int:
    """Wait for the process of the worker. Until it runs its own program, stopping it stops its parent."""

    def find() -> int | None:
        for pid in running.processes()[1:]:
            with suppress(psutil.Error):
                if "gonie.serve.worker" in psutil.Process(pid).cmdline():
                    return pid
        return None

    pid: int = wait_for(find, told="the worker starts")
    return pid


def quiet(log: str) -> bool:
    """Return whether a log has no traceback and no message of a library."""
    assert "Traceback" not in log, log
    assert "never retrieved" not in log, log
    assert "was destroyed" not in log, log
    assert all(line[:2] == "20" for line in log.splitlines()), log
    return True


# --- start


def test_requests_before_the_models_are_loaded(threads: ThreadPoolExecutor) -> None:
    """Load balancers ask from the first second on. They need an answer, and it must be 503."""
    with RunningService(LETTERS, ready=False, port=free_port()) as running:
        worker = loading_worker(running)
        with Stopped(worker):
            wait_for(lambda: answers(running, "/health/live"), told="the service listens")
            asked = (running.get("/health/ready"), running.get("/v1/models"), running.tag())
            for answer in (*asked, running.post("/v1/batch", b"")):
                assert answer.status_code == 503
                assert answer.json()["type"] == "urn:gonie:not-ready"
                assert answer.headers["retry-after"] == "1"
            assert running.get("/openapi.json").status_code == 200
            assert running.info["ready"] is False
            assert running.out == "", "the address is printed when the service is ready"
        running.wait_until_ready()
        assert running.tag().status_code == 200
        assert running.stop() == 0
        assert quiet(running.log)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.long
def test_stop_before_the_models_are_loaded(number: int) -> None:
    """A service that is stopped while it starts has not failed."""
    with RunningService(LETTERS, ready=False, port=free_port()) as running:
        worker = loading_worker(running)
        with Stopped(worker):
            wait_for(lambda: answers(running, "/health/live"), told="the service listens")
            assert running.stop(number) == 0
        assert quiet(running.log)


@pytest.mark.long
def test_ctrl_c_in_a_terminal_while_workers_start() -> None:
    """A terminal sends the signal to all processes. Workers must not print tracebacks."""
    with RunningService(LETTERS, "--workers=2") as running:
        old = running.workers
        terminal = os.getpgid(running.process.pid)
        os.kill(old[0], signal.SIGKILL)
        wait_for(lambda: set(running.processes()[1:]) - set(old), told="a new worker starts")
        time.sleep(0.2)
        os.killpg(terminal, signal.SIGINT)
        assert running.wait() == 0
        assert quiet(running.log)


@pytest.mark.parametrize(
    ("models", "words"),
    [
        pytest.param(["none"], ["none"], marks=pytest.mark.long),
        ([LETTERS, LETTERS], ["named letters"]),
        ([], ["no models"]),
        (["a=" + str(LETTERS), "b=none"], ["none"]),
    ],
)
def test_models_that_cannot_be_loaded(models: list[str | Path], words: list[str]) -> None:
    with RunningService(*models, ready=False) as running:
        assert running.wait() == 2
        assert "Traceback" not in running.log
        assert running.out == ""
        for word in words:
            assert word in running.log


def test_an_address_in_use(service: RunningService) -> None:
    with RunningService(LETTERS, port=service.port, ready=False) as running:
        assert running.wait() == 2
        assert f"127.0.0.1:{service.port}" in running.log
        assert "--port" in running.log
        assert "Traceback" not in running.log


# --- end


@contextmanager
def in_flight(
    running: RunningService, threads: ThreadPoolExecutor, number: int
) -> Iterator[list[Future[httpx.Response]]]:
    """Stop the workers, send requests, and continue the workers at the end of the block."""
    with Stopped(*running.workers):
        sent = [threads.submit(running.tag) for _ in range(number)]
        wait_for(lambda: running.info["running"] + running.info["waiting"] == number)
        yield sent


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_accepted_requests_are_answered_before_the_end(threads: ThreadPoolExecutor, number: int) -> None:
    with RunningService(LETTERS) as running:
        with in_flight(running, threads, 20) as sent:
            running.processes()
            running.send_signal(number)
            wait_for(lambda: "stopping" in running.log)
            wait_for(lambda: refuses_connections(running), told="the service accepts nothing more")
            time.sleep(0.5)
            assert running.process.poll() is None, "requests wait"
        assert [status_of(each) for each in sent] == [200] * 20
        assert running.wait() == 0
        assert quiet(running.log)
        assert [line.split()[1] for line in running.log.splitlines()] == ["stopping", "stopped"]


@pytest.mark.long
def test_open_connections_may_end_their_requests() -> None:
    """A client that has begun to send when the service is stopped gets its answer."""
    with RunningService(LETTERS) as running, running.connect() as connection, running.connect() as idle:
        body = b'{"texts": ["Anna"]}'
        connection.sendall(b"POST /v1/tag HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % len(body))
        assert running.tag().status_code == 200
        running.processes()
        running.send_signal(signal.SIGTERM)
        wait_for(lambda: "stopping" in running.log)
        time.sleep(0.5)
        connection.sendall(body)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"connection: close" in answer
        assert idle.recv(10) == b""
        assert running.wait() == 0
        assert quiet(running.log)


def test_a_second_signal_ends_the_service_at_once(threads: ThreadPoolExecutor) -> None:
    with RunningService(LETTERS) as running:
        with in_flight(running, threads, 3) as sent:
            running.processes()
            running.send_signal(signal.SIGTERM)
            wait_for(lambda: "stopping" in running.log)
            time.sleep(0.4)
            running.send_signal(signal.SIGTERM)
            running.wait()
        for each in sent:
            with pytest.raises(httpx.TransportError):
                each.result()
        assert quiet(running.log)


@pytest.mark.long
def test_a_second_signal_ends_a_service_that_waits_for_its_workers(threads: ThreadPoolExecutor) -> None:
    """All clients are gone, and a worker does not answer."""
    with RunningService(LETTERS) as running:
        with Stopped(*running.workers):
            late = threads.submit(running.tag, headers={"request-timeout-ms": "100"})
            assert status_of(late) == 504
            running.client.close()
            running.processes()
            running.send_signal(signal.SIGTERM)
            wait_for(lambda: "stopping" in running.log)
            time.sleep(1.0)
            running.send_signal(signal.SIGTERM)
            running.wait()
        assert quiet(running.log)


@pytest.mark.long
def test_an_endless_stream_does_not_prevent_the_end(threads: ThreadPoolExecutor) -> None:
    with RunningService(LETTERS, "--timeout=1") as running:
        stop = threading.Event()

        def lines() -> Iterator[bytes]:
            while not stop.is_set():
                yield b'{"text": "Anna Kim lives in Seoul ."}\n' * 20

        def stream() -> None:
            with suppress(httpx.TransportError), running.new_client() as client:
                client.post("/v1/batch", content=lines())

        streams = [threads.submit(stream) for _ in range(3)]
        wait_for(lambda: running.metric("gonie_texts_total", model="letters") > 100)
        try:
            assert running.stop() == 0
        finally:
            stop.set()
        for each in streams:
            each.result()
        assert "still open" in running.log
        assert quiet(running.log)


def test_the_end_of_the_service_ends_its_workers() -> None:
    with RunningService(LETTERS, "--workers=2") as running:
        pids = running.workers
        assert len(pids) == 2
        running.send_signal(signal.SIGKILL)
        running.process.wait(60)
        wait_for(lambda: all(map(ended, pids)), told="the workers end by themselves")
        assert "Traceback" not in running.log


# --- swaps


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """Return a link to a bundle, as a deployment has."""
    found = tmp_path / "current"
    found.symlink_to(LETTERS)
    return found


def flip(link: Path, target: Path) -> None:
    """Let a link lead to another bundle, without a moment in which it is missing."""
    new = link.with_name("new")
    new.symlink_to(target)
    new.replace(link)


def wait_for_swaps(running: RunningService, number: int) -> None:
    """Wait for the end of a swap. New workers start only in the time that requests leave them."""
    wait_for(lambda: running.metric("gonie_swaps_total", result="done") == number, 600)


@pytest.mark.long
def test_swaps_lose_no_request(link: Path, threads: ThreadPoolExecutor) -> None:
    with RunningService(f"m={link}", "--workers=2") as running:
        stop = threading.Event()

        def ask() -> list[tuple[int, str]]:
            seen = []
            with running.new_client() as client:
                while not stop.is_set():
                    answer = client.post("/v1/tag", content=json.dumps({"texts": [TEXT]}).encode())
                    seen.append((answer.status_code, answer.json().get("bundle", answer.text)))
                    time.sleep(0.005)
            return seen

        asking = [threads.submit(ask) for _ in range(4)]
        try:
            before = running.info["models"]["m"]
            for number in range(1, 4):
                flip(link, FEATURES if number % 2 else LETTERS)
                running.send_signal(signal.SIGHUP)
                wait_for_swaps(running, number)
                assert (running.info["models"]["m"] == before) == (number % 2 == 0)
        finally:
            stop.set()
        seen = [answer for each in asking for answer in each.result()]
        assert {status for status, _ in seen} == {200}
        assert len({bundle for _, bundle in seen}) == 2
        wait_for(lambda: len(running.processes()) == 3, told="the earlier workers end")
        assert running.log.count("swapped changed=m") == 3
        assert running.stop() == 0
        assert quiet(running.log)


@pytest.mark.long
def test_ten_swaps_lose_no_request(link: Path, threads: ThreadPoolExecutor) -> None:
    with RunningService(f"m={link}", "--workers=2") as running:
        stop = threading.Event()

        def ask() -> set[int]:
            with running.new_client() as client:
                seen = set()
                while not stop.is_set():
                    answer = client.post("/v1/tag", content=json.dumps({"texts": [TEXT]}).encode())
                    seen.add(answer.status_code)
                    time.sleep(0.005)
            return seen

        asking = [threads.submit(ask) for _ in range(6)]
        try:
            for number in range(1, 11):
                flip(link, FEATURES if number % 2 else LETTERS)
                running.send_signal(signal.SIGHUP)
                wait_for_swaps(running, number)
        finally:
            stop.set()
        assert [each.result() for each in asking] == [{200}] * 6
        wait_for(lambda: len(running.processes()) == 3)
        assert running.stop() == 0
        assert quiet(running.log)


def test_a_damaged_or_missing_bundle_is_not_swapped_in(link: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(FEATURES, damaged)
    (damaged / "weights.safetensors").write_bytes(b"x")
    same_index = tmp_path / "same_index"
    shutil.copytree(LETTERS, same_index)
    (same_index / "model.onnx").write_bytes(b"x")
    not_json = tmp_path / "not_json"
    not_json.mkdir()
    (not_json / "bundle.json").write_text("{")
    empty = tmp_path / "empty"
    empty.mkdir()
    with RunningService(f"m={link}") as running:
        before, pids = running.info["models"], running.workers
        targets = (damaged, same_index, not_json, empty, tmp_path / "missing", TEXTS)
        for number, target in enumerate(targets, start=1):
            flip(link, target)
            running.send_signal(signal.SIGHUP)
            wait_for(lambda number=number: running.metric("gonie_swaps_total", result="failed") == number)  # type: ignore[misc]
            answer = running.post("/v1/tag", {"texts": [TEXT]})
            assert (answer.status_code, answer.json()["bundle"]) == (200, before["m"])
        assert (running.info["models"], running.workers) == (before, pids)
        assert running.log.count("swap failed, the earlier models stay") == len(targets)
        assert "m: the new bundle does another task" in running.log
        flip(link, LETTERS)
        running.send_signal(signal.SIGHUP)
        wait_for(lambda: "swapped changed=nothing" in running.log)
        assert running.stop() == 0
        assert quiet(running.log)


def test_keys_are_read_again_on_sighup(tmp_path: Path) -> None:
    """A key can be revoked, or added, while the service runs. A damaged file changes nothing."""
    keys = tmp_path / "keys.txt"
    first = {"authorization": f"Bearer {add_key(keys, 'first')}"}
    with RunningService(LETTERS, f"--keys={keys}", headers=first) as running:
        keys.write_text("damaged\n")
        running.send_signal(signal.SIGHUP)
        wait_for(lambda: "the earlier API keys stay" in running.log)
        assert running.tag().status_code == 200
        keys.unlink()
        second = {"authorization": f"Bearer {add_key(keys, 'second')}"}
        running.send_signal(signal.SIGHUP)
        wait_for(lambda: "read the API keys" in running.log)
        assert running.tag().status_code == 401
        assert running.tag(headers=second).status_code == 200
        assert running.stop() == 0


@pytest.mark.long
def test_watched_bundles_are_swapped(link: Path) -> None:
    with RunningService(f"m={link}", "--watch=0.1") as running:
        before = running.info["models"]["m"]
        flip(link, link.parent / "missing")
        time.sleep(0.5)
        assert running.post("/v1/tag", {"texts": [TEXT]}).status_code == 200
        flip(link, FEATURES)
        wait_for(lambda: running.info["models"]["m"] != before)
        assert running.stop() == 0
        assert quiet(running.log)


@pytest.mark.long
def test_a_swap_while_the_service_stops(link: Path) -> None:
    with RunningService(f"m={link}") as running:
        running.processes()
        flip(link, FEATURES)
        running.send_signal(signal.SIGHUP)
        wait_for(lambda: len(running.processes()) > 2, told="a new worker starts")
        assert running.stop() == 0
        assert quiet(running.log)


# --- workers that fail


@pytest.fixture(scope="module")
def poisoned() -> Iterator[RunningService]:
    """Run a service whose workers die of a text with POISON."""
    with RunningService(LETTERS, environment=POISONED) as running:
        yield running
        assert running.stop() == 0
        assert "Traceback" not in running.log
        assert "POISON" not in running.log


def test_a_killed_worker_costs_no_request(poisoned: RunningService, threads: ThreadPoolExecutor) -> None:
    failures = poisoned.metric("gonie_worker_failures_total")
    (pid,) = poisoned.workers
    with Stopped(pid):
        sent = [threads.submit(poisoned.tag) for _ in range(30)]
        wait_for(lambda: poisoned.info["running"] + poisoned.info["waiting"] == 30)
        os.kill(pid, signal.SIGKILL)
    assert [status_of(each) for each in sent] == [200] * 30
    assert poisoned.metric("gonie_worker_failures_total") == failures + 1
    assert f"worker ended pid={pid} status=-9" in poisoned.log
    assert ended(pid), "no zombie is left"
    assert poisoned.workers != [pid]


def test_a_request_that_kills_its_worker_is_refused(poisoned: RunningService) -> None:
    answer = poisoned.tag("POISON")
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:gonie:worker-failed"
    assert "retry-after" not in answer.headers, "a client that tries again would end more workers"
    assert poisoned.tag().status_code == 200


def test_a_request_that_kills_its_worker_takes_no_other_with_it(
    poisoned: RunningService, threads: ThreadPoolExecutor
) -> None:
    """Others that were sent to the worker with it are answered, even if many wait."""
    with Stopped(*poisoned.workers):
        others = [threads.submit(poisoned.tag, f"Anna {number}") for number in range(12)]
        deadly = threads.submit(poisoned.tag, "POISON")
        others += [threads.submit(poisoned.tag, f"Bert {number}") for number in range(16)]
        wait_for(lambda: poisoned.info["running"] == 29)
    assert status_of(deadly) == 503
    assert [status_of(each) for each in others] == [200] * 28


@pytest.mark.long
def test_a_stream_with_a_line_that_kills_its_worker(poisoned: RunningService) -> None:
    """Lines of other groups are answered. The group of the line is answered by a problem."""
    line = b'{"text": "' + b"Anna " * 200 + b'"}\n'
    lines = line * 30 + b'{"text": "POISON"}\n' + line * 30
    answers = [json.loads(each) for each in poisoned.post("/v1/batch", lines).text.splitlines()]
    failed = [each for each in answers if "error" in each]
    assert [each["error"]["type"] for each in failed] == ["urn:gonie:worker-failed"]
    assert len(answers) - 1 >= 40


@pytest.mark.long
def test_a_worker_that_hangs_is_replaced(threads: ThreadPoolExecutor) -> None:
    with RunningService(LETTERS, "--timeout=0.5") as running:
        (pid,) = running.workers
        os.kill(pid, signal.SIGSTOP)
        assert running.tag().status_code == 504
        wait_for(lambda: running.workers not in ([], [pid]), told="the worker is replaced")
        wait_for(lambda: running.tag().status_code == 200, told="an answer in half a second")
        assert "worker does not answer" in running.log
        assert ended(pid)
        assert running.stop() == 0


@pytest.mark.long
def test_no_worker_can_be_started(link: Path) -> None:
    """The bundle is gone when a worker dies: the service says so, and waits for it instead of ending."""
    bundle, aside = link.parent / "bundle", link.parent / "aside"
    shutil.copytree(LETTERS, bundle)
    with RunningService(f"m={bundle}") as running:
        bundle.rename(aside)
        os.kill(running.workers[0], signal.SIGKILL)
        wait_for(lambda: "worker did not start" in running.log)
        assert running.get("/health/ready").status_code == 503
        wait_for(lambda: running.log.count("worker did not start") >= 3)
        refused = running.post("/v1/tag", {"texts": [TEXT]})
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:gonie:not-ready")
        aside.rename(bundle)
        wait_for(lambda: running.get("/health/ready").status_code == 200)
        assert running.post("/v1/tag", {"texts": [TEXT]}).status_code == 200
        assert running.stop() == 0
        assert quiet(running.log)


@pytest.mark.long
def test_a_replaced_worker_serves_the_same_bundle(link: Path) -> None:
    """The link has been moved, but the service has not been told yet."""
    with RunningService(f"m={link}", "--workers=2") as running:
        before = running.info["models"]["m"]
        flip(link, FEATURES)
        lost = running.workers[0]
        os.kill(lost, signal.SIGKILL)
        wait_for(lambda: len(running.workers) == 2 and lost not in running.workers)
        answers = [running.post("/v1/tag", {"texts": [TEXT]}).json()["bundle"] for _ in range(20)]
        assert set(answers) == {before}
        running.send_signal(signal.SIGHUP)
        wait_for(lambda: running.info["models"]["m"] != before)
        assert "swapped changed=m" in running.log
        assert running.stop() == 0


@pytest.mark.long
def test_all_workers_serve_the_bundle_that_a_replaced_one_finds(link: Path) -> None:
    """The earlier bundle was overwritten, so that no new worker can serve it."""
    bundle = link.parent / "bundle"
    shutil.copytree(LETTERS, bundle)
    with RunningService(f"m={bundle}", "--workers=2") as running:
        before = running.info["models"]["m"]
        bundle.rename(link.parent / "aside")
        shutil.copytree(FEATURES, bundle)
        os.kill(running.workers[0], signal.SIGKILL)
        wait_for(lambda: running.info["models"]["m"] != before and len(running.workers) == 2)
        answers = [running.post("/v1/tag", {"texts": [TEXT]}).json()["bundle"] for _ in range(20)]
        assert set(answers) == {running.info["models"]["m"]}
        assert "has another bundle, which all workers must serve" in running.log
        assert running.stop() == 0


@pytest.mark.long
def test_a_closed_standard_output_does_not_stop_the_service() -> None:
    """`gonie serve … | head -1` reads only the address."""
    reader, writer = os.pipe()
    os.close(reader)
    with RunningService(LETTERS, ready=False, port=free_port(), out=writer) as running:
        os.close(writer)
        wait_for(lambda: answers(running, "/health/ready"), told="the service is ready")
        assert running.tag().status_code == 200
        assert running.stop() == 0
        assert quiet(running.log)
