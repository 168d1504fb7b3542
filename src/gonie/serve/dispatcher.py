"""The queue of requests and the worker processes that answer them.

A request is sent to the worker that has the fewest, unless all have enough. A worker answers together what
has arrived while it was busy. So nothing is delayed to fill a batch, and batches grow with the load. If a
worker dies, its requests return to the queue, and another with the same bundle takes its place. Another
bundle is served by new workers, which take over when all of them are warm.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any

from gonie.errors import BundleError, GonieError
from gonie.serve.limits import BATCH_BYTES, BATCH_REQUESTS
from gonie.serve.logs import EventLog
from gonie.serve.metrics import ServiceMetrics
from gonie.serve.problems import ProblemError, Reply, problem
from gonie.serve.ticket import Ticket
from gonie.serve.worker_process import WorkerProcess, WorkerSettings

ALONE = {"explain"}
"""Routes that run a model many times. Their requests share no batch, and nothing waits behind them."""
ROOM = 2 * BATCH_REQUESTS, 2 * BATCH_BYTES
"""Requests and bytes that a worker has at most: a batch that it computes, and the next."""
TRIES = 2
"""Workers that a request may cost before it is refused."""
PATIENCE = 5.0
"""Seconds beyond the deadline after which a worker that does not answer is killed."""
HOPELESS = 3
"""Failures of workers in a row after which requests are refused while none serves. One request causes two."""
BACK_OFF = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before a failed worker is replaced, by the number of failures in a row."""


class Dispatcher:
    """Answers requests with ``size`` worker processes."""

    def __init__(
        self, settings: WorkerSettings, *, size: int, metrics: ServiceMetrics, log: EventLog
    ) -> None:
        self._given = settings
        self._settings = _resolved(settings)
        self._size = size
        self._limits = settings.limits
        self._metrics = metrics
        self._log = log
        self._queue: dict[Ticket, None] = {}
        self._queued_bytes = 0
        self._woken = False
        self._closing = False
        self._failures = 0
        self._swapping = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._workers: list[WorkerProcess] = [WorkerProcess(self._settings, self) for _ in range(size)]
        self._all: set[WorkerProcess] = set(self._workers)
        self._serving: list[WorkerProcess] = []
        self._models: list[dict[str, Any]] = []

    @property
    def models(self) -> list[dict[str, Any]]:
        """The descriptions of the served models; empty until they are warm."""
        return self._models

    @property
    def ready(self) -> bool:
        """Whether a worker serves."""
        return bool(self._serving)

    @property
    def accepting(self) -> bool:
        """Whether a worker serves, or is about to replace the only one, for which requests may wait."""
        return self.ready or (bool(self._models) and self._failures < HOPELESS)

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """Requests that workers have."""
        return sum(len(worker.tickets) for worker in self._all)

    @property
    def processes(self) -> list[int]:
        """The process numbers of the workers that serve."""
        return [worker.process.pid for worker in self._serving]

    async def start(self) -> None:
        """Wait until all workers are warm. Raise the error of one that cannot load the models."""
        await _attach(self._workers)
        self._take_over(self._workers)
        self._spawn(self._watch())

    # --- requests

    def submit(self, ticket: Ticket) -> None:
        """Queue a request. Raise a problem if the queue is full."""
        size = len(ticket.body)
        if len(self._queue) >= self._limits.queue or (
            self._queue and self._queued_bytes + size > self._limits.queue_bytes
        ):
            raise ProblemError("queue-full", f"{len(self._queue):,} requests are waiting. Try again later")
        self._queue[ticket] = None
        self._queued_bytes += size
        self._wake()

    def withdraw(self, ticket: Ticket) -> None:
        """Remove a request from the queue, if it is still there."""
        if ticket in self._queue:
            self._remove(ticket)

    def _remove(self, ticket: Ticket) -> None:
        del self._queue[ticket]
        self._queued_bytes -= len(ticket.body)

    def _wake(self) -> None:
        """Send requests after all that have arrived together are queued."""
        if not self._woken:
            self._woken = True
            asyncio.get_running_loop().call_soon(self._send_waiting)

    def _send_waiting(self) -> None:
        """Send the queue to the workers, so that each has as many requests as the others."""
        self._woken = False
        for worker in sorted(self._serving, key=lambda worker: len(worker.tickets)):
            if not self._queue:
                return
            if not self._is_open(worker):
                continue
            open_workers = [len(other.tickets) for other in self._serving if self._is_open(other)]
            level = ceil((len(self._queue) + sum(open_workers)) / len(open_workers))
            tickets = self._take(min(level, ROOM[0]) - len(worker.tickets), ROOM[1] - worker.bytes)
            if tickets:
                self._send(worker, tickets)

    def _is_open(self, worker: WorkerProcess) -> bool:
        """Return whether a worker may get the next request. One that goes alone needs an idle worker."""
        return not worker.tickets or not (_alone(worker.tickets[0]) or _alone(next(iter(self._queue))))

    def _send(self, worker: WorkerProcess, tickets: list[Ticket]) -> None:
        now = monotonic()
        for ticket in tickets:
            ticket.sent = now
        worker.send(tickets)

    def _take(self, most: int, most_bytes: int) -> list[Ticket]:
        """Remove the next requests from the queue: one that goes alone, or others up to these limits."""
        taken: list[Ticket] = []
        size = 0
        for ticket in self._queue:
            size += len(ticket.body)
            if _alone(ticket):
                taken = taken or [ticket]
                break
            if len(taken) >= most or size > most_bytes:
                break
            taken.append(ticket)
        for ticket in taken:
            self._remove(ticket)
        return taken

    def answered(
        self,
        worker: WorkerProcess,
        tickets: Sequence[Ticket],
        header: Mapping[str, Any],
        bodies: Sequence[bytes],
    ) -> None:
        """Pass on the answers of a worker, after it has got its next requests."""
        self._failures = 0
        if self._queue:
            self._send_waiting()
        seconds = header["seconds"]
        begin = monotonic() - sum(seconds.values())
        read: dict[str, list[int]] = {}
        for ticket, (status, kind, _, model, texts, tokens), body in zip(
            tickets, header["answers"], bodies, strict=True
        ):
            ticket.answer(Reply(status, body, kind.encode()))
            self._metrics.queued(max(0.0, begin - ticket.arrived))
            if model:
                sums = read.setdefault(model, [0, 0])
                sums[0] += texts
                sums[1] += tokens
        for model, (texts, tokens) in read.items():
            self._metrics.read(model, texts, tokens)
        self._metrics.batch(len(tickets), sum(tokens for _, tokens in read.values()), seconds)
        if worker.retired and not worker.tickets:
            worker.close()

    def ended(self, worker: WorkerProcess) -> None:
        """Return the requests of a worker that ended to the queue, and replace it."""
        lost = list(worker.tickets)
        worker.tickets.clear()
        again: dict[Ticket, None] = {}
        for ticket in lost:
            ticket.tries += 1
            if ticket.reply.done():
                continue
            if ticket.tries < TRIES:
                again[ticket] = None
                self._queued_bytes += len(ticket.body)
            else:
                detail = "the process that computed the answer ended, twice. Send other texts, or report it"
                ticket.answer(problem("worker-failed", detail))
        self._queue = again | self._queue
        self._all.discard(worker)
        if worker in self._serving:
            self._serving.remove(worker)
            if not self._closing:
                self._metrics.worker_ended()
                self._failures += 1
                self._spawn(self._replace())
        self._spawn(self._reap(worker, len(lost)))
        if self._queue:
            self._wake()

    async def _reap(self, worker: WorkerProcess, lost: int) -> None:
        await worker.ended()
        if not worker.retired and not self._closing:
            status = worker.process.returncode
            self._log("worker ended", pid=worker.process.pid, status=status, requests=lost)

    # --- workers

    async def _replace(self) -> None:
        """Start a worker for one that ended. After several failures, wait before the next."""
        await asyncio.sleep(BACK_OFF[min(self._failures - 1, len(BACK_OFF) - 1)])
        async with self._swapping:
            if self._closing or len(self._serving) >= self._size:
                return
            try:
                (worker,) = await self._started(1, self._settings)
            except GonieError as error:
                self._log("worker did not start", error=str(error))
                self._replace_later()
                return
            if _bundles(worker.models) == _bundles(self._models):
                self._serving.append(worker)
                self._log("worker started", pid=worker.process.pid)
                self._wake()
                return
            worker.retire()
        self._log("the folder of a model has another bundle, which all workers must serve")
        if not await self.swap():
            self._replace_later()

    def _replace_later(self) -> None:
        self._failures += 1
        self._spawn(self._replace())

    async def swap(self) -> bool:
        """Load the models again in new workers, and let these take over once they are warm.

        If that fails, or a model would do another task, the earlier models stay. Return whether it worked.
        """
        async with self._swapping:
            if self._closing:
                return True
            begin = monotonic()
            settings = _resolved(self._given)
            try:
                workers = await self._started(self._size, replace(settings, background=True))
                try:
                    _check_tasks(self._models, workers[0].models)
                except GonieError:
                    for worker in workers:
                        worker.retire()
                    raise
            except GonieError as error:
                self._metrics.swapped("failed")
                self._log("swap failed, the earlier models stay", error=str(error))
                return False
            before = _bundles(self._models)
            self._settings = settings
            self._take_over(workers)
            self._metrics.swapped("done")
            changed = [name for name, bundle in _bundles(self._models).items() if before[name] != bundle]
            self._log("swapped", changed=",".join(changed) or "nothing", seconds=monotonic() - begin)
            return True

    @property
    def served_bundles(self) -> dict[str, str]:
        """The digest of each model's bundle, by name."""
        return _bundles(self._models)

    def found_bundles(self) -> dict[str, str]:
        """Return the digest of the bundle that each model's folder has now, by name."""
        return {name: bundle_digest(folder) for name, folder in self._given.models}

    async def _started(self, number: int, settings: WorkerSettings) -> list[WorkerProcess]:
        """Start workers and wait until they are warm."""
        workers = [WorkerProcess(settings, self) for _ in range(number)]
        self._all.update(workers)
        await _attach(workers)
        if self._closing:
            for worker in workers:
                worker.retire()
            raise GonieError("the service is stopping")
        return workers

    def _take_over(self, workers: list[WorkerProcess]) -> None:
        """Serve with these workers, and retire the others."""
        earlier, self._serving, self._models = self._serving, list(workers), workers[0].models
        for worker in earlier:
            worker.retire()
        self._wake()

    async def _watch(self) -> None:
        """Kill workers that do not answer, so that they are replaced."""
        while not self._closing:
            await asyncio.sleep(1.0)
            late = monotonic() - self._limits.seconds - PATIENCE
            for worker in self._all:
                if worker.tickets and worker.tickets[0].sent < late:
                    self._log("worker does not answer", pid=worker.process.pid)
                    worker.process.kill()

    async def close(self) -> None:
        """Wait for all answers, then end the workers."""
        while self._queue or any(self._unanswered()):
            await asyncio.sleep(0.01)
        self._closing = True
        ending = list(self._all)
        for worker in ending:
            worker.retire()
        await asyncio.gather(*(worker.ended() for worker in ending))

    def _unanswered(self) -> Iterator[Ticket]:
        """Yield the requests of workers whose clients wait."""
        for worker in self._all:
            yield from (ticket for ticket in worker.tickets if not ticket.reply.done())

    def kill(self) -> None:
        """End all workers at once."""
        self._closing = True
        for worker in self._all:
            worker.process.kill()
            worker.process.wait()

    def _spawn(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _alone(ticket: Ticket) -> bool:
    """Return whether a request shares a worker with no other: it may take long, or has cost a worker before.

    A request that is sent after it, or before it, could be lost with it.
    """
    return bool(ticket.tries) or ticket.route in ALONE or len(ticket.body) > BATCH_BYTES


async def _attach(workers: Sequence[WorkerProcess]) -> None:
    """Wait until workers are warm. If one fails, end all."""
    try:
        await asyncio.gather(*(worker.attach() for worker in workers))
    except BaseException:
        for worker in workers:
            worker.retired = True
            worker.close()
        raise


def _resolved(settings: WorkerSettings) -> WorkerSettings:
    """Return the settings with the folders that links lead to now.

    A link is moved before the service is told. Workers that start meanwhile must serve the earlier bundle.
    """
    return replace(settings, models=[(name, os.path.realpath(folder)) for name, folder in settings.models])


def _bundles(models: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the digest of each model's bundle, by name."""
    return {model["name"]: model["bundle"] for model in models}


def _check_tasks(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> None:
    """Refuse models that do another task than those of the same name, whose clients would fail."""
    for old, new in zip(before, after, strict=True):
        if (old["task"], old["texts"]) != (new["task"], new["texts"]):
            raise BundleError(
                f"{old['name']}: the new bundle does another task ({new['task']}, {new['texts']} texts at a "
                f"time; before {old['task']}, {old['texts']}). Serve it under another name"
            )


def bundle_digest(folder: str) -> str:
    """Return the digest of the bundle of a model, or raise an error if there is none."""
    try:
        return sha256((find_index(Path(folder))).read_bytes()).hexdigest()
    except OSError as error:
        raise BundleError(f"{folder}: {error.strerror}") from error


def find_index(folder: Path) -> Path:
    """Return the index of the bundle in a folder, or in the run folder ``folder``."""
    own = folder / "bundle.json"
    return own if own.exists() else folder / "bundle" / "bundle.json"
